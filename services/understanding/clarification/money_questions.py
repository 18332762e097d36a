"""Questions that want a yes, a no or one sum: is it enough, is it due by then, is that the one, what is left, how much.

"Is it due this week", "is there enough in checking for that", 「年金口座で足りるかしら」.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Final

from schemas.consent import ORDERS
from schemas.ids import AccountId, BillId, RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Route, Slot, Slots, Topic, Understood
from schemas.span import SUMS, DateValue, Span
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.said import Said

_ENOUGH: Final = RuleId("intents.enough@1")
_DUE: Final = RuleId("intents.due_of_it@1")
_OTHERS: Final = RuleId("intents.others_due@1")
_FIRST: Final = RuleId("intents.first_due@1")
_DECLINES: Final = RuleId("intents.declines@1")
_LIMIT: Final = RuleId("intents.limit_asked@1")
_THERE: Final = RuleId("intents.of_there@1")
_BEFORE: Final = RuleId("intents.paid_last@1")
_LOOKED_UP: Final = frozenset({None, Intent.QNA, Intent.BALANCE_INQUIRY, Intent.BILL_INQUIRY, Intent.INFORM})
_TOLD: Final = _LOOKED_UP | {Intent.DENY, Intent.CANCEL, Intent.CORRECT, Intent.REPEAT, Intent.CONFIRM}
"""What such a question may have been read as."""


@dataclass(frozen=True)
class _Asked:
    """A question, with a letter for each account, bill, sum and day in it."""

    said: Said
    found: Understood

    @cached_property
    def things(self) -> list[tuple[int, int, str, str | Span]]:
        """Where each is named: code points, its letter, its id or span; of two in one place the longer."""
        units, nouns, at = self.said.units, self.said.hearing.nouns, 0
        named: list[tuple[int, int, str, str | Span]] = []
        while at < len(units.words):
            end, symbols = nouns.trie.longest(units.words, at)
            owned = [nouns.nouns[each] for each in symbols if nouns.nouns[each].id is not None]
            kinds = {"account": "A", "bill": "B"}
            told = [(units.starts[at], units.ends[end - 1], kinds[n.kind], str(n.id)) for n in owned if n.kind in kinds]
            named += told[:1]
            at = max(end, at + 1)
        one, rules = self.said.rules.words.one, self.said.rules
        spans = [s for s in self.said.heard.spans if s.kind in SUMS or isinstance(s.value, DateValue)]
        spans = [s for s in spans if rules.units(s.surface).words != one]  # "in one go"
        named += [(s.start, s.end, "D" if isinstance(s.value, DateValue) else "M", s) for s in spans]
        return sorted(named, key=lambda each: (each[0], -each[1]))

    @cached_property
    def text(self) -> str:
        """The words in lower case, with the letters in their places."""
        told, at, text = "", 0, self.said.text
        for start, end, letter, _ in self.things:
            if start >= at:
                told, at = told + text[at:start].lower() + letter, end
        return told + text[at:].lower()

    def of(self, letter: str) -> list[tuple[Evidence, str | Span]]:
        """The things of a kind, each with its place."""
        return [(self.said.heard.evidence(s, e, _ENOUGH), thing) for s, e, kind, thing in self.things if kind == letter]

    @cached_property
    def bills(self) -> Slot[BillId] | None:
        """The bills that are named."""
        told = [(where, BillId(str(each))) for where, each in self.of("B")]
        ids = tuple(dict.fromkeys(each for _, each in told))
        return Slot(ids[0], told[0][0], ids[1:]) if ids else None

    def means(self, intent: Intent, rule: RuleId, slots: Slots, *about: Topic) -> Understood:
        """What is asked about these."""
        if about:
            topic = Slot(str(about[0]), self.said.heard.whole(rule), tuple(map(str, about[1:])))
            slots = replace(slots, topic=topic)
        return Understood(intent, slots, (), Route.FAST, 1.0, rule, payees=self.found.payees)


def asked_of_money(said: Said, found: Understood) -> Understood | None:
    """The question; None where it is none of these, or holds a word that nobody has read."""
    if said.context.code or found.consent is not None:
        return None
    asked = _Asked(said, found)
    waits = said.context.terms.awaited in ORDERS
    readers = (_that_much, _enough) if waits else (_enough, _left, *(_IDLE if said.context.idle else ()))
    allowed = _TOLD if waits else _LOOKED_UP | MONEY_MOVING | {Intent.DENY, Intent.RECENT_TRANSACTIONS}
    if found.intent not in allowed:
        return None
    return next((meant for each in readers if (meant := each(asked)) is not None), None)


def _sum(asked: _Asked) -> tuple[Evidence, Span] | None:
    told = [(where, span) for where, span in asked.of("M") if isinstance(span, Span)]
    return told[0] if len(told) == 1 else None


def _that_much(asked: _Asked) -> Understood | None:
    """Whether what is read back is of an amount: "is that the 129 one"."""
    told = _sum(asked)
    if told is None or not asked.said.rules.patterns.that_much.fullmatch(asked.text):
        return None
    values = comes_to(told[1], asked.said.heard)
    return (
        asked.means(Intent.INFORM, _ENOUGH, Slots(amount=Slot(values[0], told[0])), Topic.THAT_MUCH) if values else None
    )


def _enough(asked: _Asked) -> Understood | None:
    """Whether a balance is enough: for what is named, or waits."""
    sums, accounts = asked.of("M"), asked.of("A")
    if (
        len(accounts) > 1
        or len(sums) > 1
        or asked.of("D")
        or not asked.said.rules.patterns.enough.fullmatch(asked.text)
    ):
        return None
    told = _sum(asked)
    values = comes_to(told[1], asked.said.heard) if told is not None else ()
    if len(values) > 1 or (sums and not asked.said.context.idle):  # 「二千円足りない」 corrects what was read back
        return None
    amount = Slot(values[0], told[0]) if told is not None and values else None
    return _balance(asked, replace(Slots(), amount=amount), Topic.ENOUGH)


def _balance(asked: _Asked, slots: Slots, about: Topic) -> Understood:
    accounts = asked.of("A")
    held = Slot(AccountId(str(accounts[0][1])), accounts[0][0]) if accounts else None
    return asked.means(Intent.BALANCE_INQUIRY, _ENOUGH, replace(slots, account=held, bill=asked.bills), about)


def _left(asked: _Asked) -> Understood | None:
    """What bills will leave: "how much would I have left if I paid the gas"."""
    patterns, text = asked.said.rules.patterns, asked.text
    if asked.of("M") or asked.of("D") or len(asked.of("A")) > 1 or not patterns.left_if_paid.search(text):
        return None
    if asked.bills is None and patterns.every_bill.search(text) and asked.said.context.bills:
        first, *rest = (each.id for each in asked.said.context.bills)
        meant = _balance(asked, Slots(), Topic.LEFT)
        return replace(
            meant, slots=replace(meant.slots, bill=Slot(first, asked.said.heard.whole(_ENOUGH), tuple(rest)))
        )
    return _balance(asked, Slots(), Topic.LEFT) if asked.bills is not None else None


def _sum_due(asked: _Asked) -> Understood | None:
    """What several bills come to."""
    bills = asked.bills
    if bills is None or not bills.readings or not asked.said.rules.patterns.sum_due.fullmatch(asked.text):
        return None
    return asked.means(Intent.BILL_INQUIRY, _ENOUGH, Slots(bill=bills), Topic.TOTAL)


def _first_due(asked: _Asked) -> Understood | None:
    """Which of several bills is due first, and that this one is to be paid."""
    patterns, bills, due = asked.said.rules.patterns, asked.bills, asked.said.context.bills
    if bills is None and asked.said.context.recent is Intent.BILL_INQUIRY and patterns.pays_first.fullmatch(asked.text):
        return asked.means(Intent.BILL_PAYMENT, _FIRST, Slots())
    if bills is None or not bills.readings or not patterns.due_first.search(asked.text):
        return None
    among = (bills.value, *bills.readings)
    first = min((each for each in due if each.id in among), key=lambda each: each.due_on)
    return asked.means(
        Intent.BILL_INQUIRY, _FIRST, Slots(bill=replace(bills, value=first.id, readings=())), Topic.FIRST
    )


def _due_then(asked: _Asked) -> Understood | None:
    """Whether a bill is due then, or when the one that was asked about is."""
    patterns, bills, days = asked.said.rules.patterns, asked.bills, asked.of("D")
    if (
        asked.of("A")
        or (bills is not None and bills.readings)
        or (bills is None and not asked.said.context.recent_bill)
    ):
        return None
    if not days and bills is None and patterns.due_when.fullmatch(asked.text):
        return asked.means(Intent.BILL_INQUIRY, _DUE, Slots())
    match = patterns.due_then.fullmatch(asked.text) if len(days) == 1 else None
    if match is None or not isinstance(span := days[0][1], Span) or not isinstance(period := span.value, DateValue):
        return None
    if match.groupdict().get("before"):
        period = replace(period, end=period.start - timedelta(days=1))
    if match.groupdict().get("by") or match.groupdict().get("before"):
        period = replace(period, start=min(asked.said.today, period.end))
    return asked.means(Intent.BILL_INQUIRY, _DUE, Slots(bill=bills, period=Slot(period, days[0][0])), Topic.WHETHER)


def _others_due(asked: _Asked) -> Understood | None:
    """What is due besides the bill that was told."""
    told = asked.said.context.recent_bill is not None and asked.bills is None
    if not told or not asked.said.rules.patterns.others_due.fullmatch(asked.text):
        return None
    return asked.means(Intent.BILL_INQUIRY, _OTHERS, Slots(), Topic.OTHERS)


def _declines(asked: _Asked) -> Understood | None:
    """A bill that is not to be paid, of which nothing waits."""
    patterns, bills = asked.said.rules.patterns, asked.bills
    if asked.found.intent in MONEY_MOVING or not patterns.not_paying.search(asked.text) or asked.of("M"):
        return None
    if bills is None:
        return asked.means(Intent.BILL_INQUIRY, _DUE, Slots()) if asked.said.context.recent_bill else None
    return None if bills.readings else asked.means(Intent.BILL_INQUIRY, _DECLINES, Slots(bill=bills))


def _paid_last(asked: _Asked) -> Understood | None:
    """What was paid of a bill the last time, behind that it is too much: 「ガス代高いねん、先月なんぼやった」."""
    if asked.bills is None or asked.bills.readings or not asked.said.rules.patterns.paid_last.search(asked.said.text):
        return None
    one = Slot(1, asked.said.heard.whole(_BEFORE))
    return asked.means(Intent.RECENT_TRANSACTIONS, _BEFORE, Slots(bill=asked.bills, choice=one))


def _limit(asked: _Asked) -> Understood | None:
    """How much may be sent at once."""
    if asked.things or not asked.said.rules.patterns.limit_asked.fullmatch(asked.text):
        return None
    return replace(asked.means(Intent.QNA, _LIMIT, Slots()), route=Route.QNA)


def _left_there(asked: _Asked) -> Understood | None:
    """What is left in the account that was spoken of."""
    plain = asked.found.intent in {None, Intent.BALANCE_INQUIRY} and asked.said.context.recent is not None
    if not plain or asked.things or not asked.said.rules.patterns.left_there.fullmatch(asked.text):
        return None
    return asked.means(Intent.BALANCE_INQUIRY, _THERE, Slots())


_IDLE: Final = (_first_due, _sum_due, _due_then, _others_due, _declines, _paid_last, _limit, _left_there)
