"""Questions by patterns: is it enough, due then, the 129 one; "and the one before that", 「その前の日は」."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, Final, NamedTuple

from schemas.balances import Measure, Reckoning
from schemas.consent import ORDERS
from schemas.ids import AccountId, BillId, PayeeId, RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.span import SUMS, DateValue
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.said import Said
from services.understanding.fast.fallback.carded import own_cards

_RULE: Final = RuleId("intents.asked_of_money@1")


class _Kind(NamedTuple):
    """What a pattern of this name asks. `bills`: how many are named; one too few, and it is the one just told."""

    intent: Intent
    topic: str = ""
    when: str = "idle"
    bills: tuple[int, ...] = (0,)
    days: int = 0


_FURTHER: Final = _Kind(Intent.RECENT_TRANSACTIONS, "", Intent.RECENT_TRANSACTIONS)
_KINDS: Final = {
    "that_much": _Kind(Intent.INFORM, Topic.THAT_MUCH, "order"),
    "enough": _Kind(Intent.BALANCE_INQUIRY, Topic.ENOUGH, "any", (0, 1, 2)),
    "left_if_paid": _Kind(Intent.BALANCE_INQUIRY, Topic.LEFT, "billed", (0, 1, 2), 1),
    "sum_due": _Kind(Intent.BILL_INQUIRY, Topic.TOTAL, "idle", (2,)),
    "first_of": _Kind(Intent.BILL_INQUIRY, Topic.FIRST, "idle", (2,)),
    "first_paid": _Kind(Intent.BILL_PAYMENT, "", "idle", (2,)),
    "first_due": _Kind(Intent.BILL_PAYMENT, "", Intent.BILL_INQUIRY),
    "due_of_it": _Kind(Intent.BILL_INQUIRY, "", "billed", (0, 1), 1),
    "due_then": _Kind(Intent.BILL_INQUIRY, Topic.WHETHER, "billed", (0, 1), 1),
    "others_due": _Kind(Intent.BILL_INQUIRY, Topic.OTHERS, "billed"),
    "paid_last": _Kind(Intent.RECENT_TRANSACTIONS, "", "idle", (1,), 2),
    "paid_then": _Kind(Intent.RECENT_TRANSACTIONS, "", "billed", (0, 1), 1),
    "owed_now": _Kind(Intent.BILL_PAYMENT, "", "idle", (0,), 1),
    "limit_asked": _Kind(Intent.QNA, "", "any", days=1),
    "limit_again": _Kind(Intent.QNA, "", Intent.QNA, days=1),
    "charged": _Kind(Intent.RECENT_TRANSACTIONS),
    "may_send": _Kind(Intent.QNA, "", "any", days=1),
    "arrives": _Kind(Intent.QNA),
    "of_all_told": _FURTHER,
    "of_some_size": _FURTHER,
    "last_time": _FURTHER,
    "one_before": _FURTHER,
    "stretch_before": _FURTHER,
    "others": _FURTHER,
    "of_history": _FURTHER,
    "last_of_it": _FURTHER,
    "due_now": _Kind(Intent.BILL_INQUIRY, "", Intent.BILL_INQUIRY),
    "balance_now": _Kind(Intent.BALANCE_INQUIRY, days=1),
    "that_card": _Kind(Intent.CARD_LOCK, Topic.WHETHER, Intent.CARD_LOCK),
    "new_card": _Kind(Intent.QNA, "", Intent.CARD_LOCK),
    "as_then": _Kind(Intent.TRANSFER_MONEY, "", Intent.RECENT_TRANSACTIONS, days=1),
    "last_few": _Kind(Intent.RECENT_TRANSACTIONS),
    "income_asked": _Kind(Intent.RECENT_TRANSACTIONS, Topic.RECEIVED, days=1),
    "come_in_then": _Kind(Intent.RECENT_TRANSACTIONS, Topic.WHETHER, Intent.RECENT_TRANSACTIONS, days=1),
    "same_history": _FURTHER,
    "that_shop": _FURTHER,
    "cost_then": _Kind(Intent.RECENT_TRANSACTIONS),
    "told_shop": _Kind(Intent.RECENT_TRANSACTIONS, Topic.TOTAL, days=1),
    "come_from": _Kind(Intent.RECENT_TRANSACTIONS, Topic.RECEIVED, days=1),
    "next_income": _Kind(Intent.RECENT_TRANSACTIONS, Topic.NEXT),
}
_UNLIKE_ORDERS: Final = frozenset({"first_paid", "sum_due", "last_few", "as_then", "enough", "due_then"})
_UNREAD: Final = frozenset({"arrives", "of_all_told"})
"""Only where no rule has read the words."""
_EXTREMES: Final = {"most": Topic.LARGEST, "least": Topic.SMALLEST}
_BOUNDS: Final = {"over": "at_least", "under": "at_most"}
_SHOPS: Final = frozenset({"same_history", "that_shop", "cost_then", "charged"})
_ONE: Final = frozenset({"one_before", "of_history", "last_of_it", "paid_last", "paid_then"})
_COUNTS: Final = frozenset({"last_few", "income_asked"})
"""Where a number is how many are asked for."""
_PAID, _OWED, _DUE, _EVERY = "paid_then", "owed_now", "due_of_it", "every"
_INCOME, _COME, _SUM, _NOW = "income_asked", "come_in_then", "total", "balance_now"
_SHOP, _FROM, _NEXT = "told_shop", "come_from", "next_income"
_CREDITS: Final = frozenset({_INCOME, _COME, _FROM, _NEXT})
_DATED: Final = frozenset({_PAID, _INCOME, _SHOP, _FROM})
"""Of the days that are named."""
_HISTORIES: Final = frozenset({None, Intent.QNA, Intent.RECENT_TRANSACTIONS, Intent.BALANCE_INQUIRY})
"""What the words may have been read as, where they ask for credits or what was spent at a shop."""
_OF_ANY: Final = frozenset({_PAID, _OWED})
"""Of a bill of nobody's here as well, or of that alone."""
_LETTERS: Final = {"account": "A", "bill": "B"}


@dataclass(frozen=True)
class NamedThings:
    """A question, with a letter for each account, bill, sum and day in it; U is a bill of nobody's here."""

    said: Said
    found: Understood

    @cached_property
    def things(self) -> list[tuple[int, int, str, Any]]:
        """Where each is named: code points, its letter, its id or span."""
        units, nouns, rules, end = self.said.units, self.said.hearing.nouns, self.said.rules, 0
        named: list[tuple[int, int, str, Any]] = []
        for at in nouns.trie.begun(units.words):
            if at < end:
                continue
            end, symbols = nouns.trie.longest(units.words, at)
            kinds = [n for each in symbols if (n := nouns.nouns[each]).kind in _LETTERS]
            own = [(_LETTERS[n.kind], n.id) for n in kinds if n.id] or [("U", "") for n in kinds if n.kind == "bill"]
            named += [(units.starts[at], units.ends[end - 1], *each) for each in own[:1]]
        for span in self.said.heard.spans:
            day = isinstance(span.value, DateValue)
            if day or (span.kind in SUMS and rules.units(span.surface).words != rules.words.one):  # "in one go"
                named.append((span.start, span.end, "D" if day else "M", span))
        return sorted(named, key=lambda each: (each[0], -each[1]))

    @cached_property
    def text(self) -> str:
        """The words in lower case, with the letters in their places."""
        return self._lettered("ABMD")

    @cached_property
    def of_any_bill(self) -> str:
        """The same, with a B for one of nobody's as well."""
        return self._lettered("ABMDU").replace("U", "B")

    @cached_property
    def of_income(self) -> str:
        """The same, where an account that is called as what comes in is that: 年金."""
        income = self.said.rules.patterns.own.income
        return self._lettered("ABMD", income) if income.search(self.said.text) else self.text

    def _lettered(self, letters: str, but: re.Pattern[str] | None = None) -> str:
        told, at, text = "", 0, self.said.text
        for start, end, letter, _ in self.things:
            if start >= at and letter in letters and not (but is not None and but.fullmatch(text, start, end)):
                told, at = told + text[at:start].lower() + letter, end
        return told + text[at:].lower()

    def of(self, letter: str) -> list[Slot[Any]]:
        """The things of a kind, each with its place."""
        return [Slot(it, self.said.heard.evidence(s, e, _RULE)) for s, e, kind, it in self.things if kind == letter]

    @property
    def others(self) -> tuple[Mention, ...]:
        """The bills of nobody's here."""
        return tuple(Mention(SlotName.BILL, each.evidence) for each in self.of("U"))

    @property
    def standing(self) -> set[str | None]:
        """When such is asked that may be asked where the dialogue stands, whatever is named."""
        context = self.said.context
        beside = {"order"} if context.terms.awaited in ORDERS else set[str]()
        return {"any", *beside, *(("idle", "billed", context.recent) if context.idle else ())}

    @property
    def _after_a_balance(self) -> bool:
        """Whether a balance was told or changed, and no other day is named than this one."""
        days = [day.value.value for day in self.of("D")]
        behind = self.said.context.recent in {Intent.BALANCE_INQUIRY, *MONEY_MOVING}
        return behind and all(day.start == day.end == self.said.today for day in days)

    def may_be(self, name: str, kind: _Kind, groups: dict[str, str]) -> bool:
        """Whether such is asked of what is named, and by how it was read."""
        bills = {each.value for each in self.of("B")}
        pays = self.found.intent in MONEY_MOVING and name not in _UNLIKE_ORDERS
        if name in _UNREAD and self.found.rule is not None:
            return False
        named = [kind for _, _, kind, _ in self.things if kind != "U" or name != "charged"]  # 「ムービーネット」
        shop = name not in _SHOPS or not (named or self.found.rule or (self.found.payees and self.found.payees.choice))
        if not shop or (name in {_SHOP, _FROM} and not self._of_somewhere(name, groups.get("shop", ""))):
            return False
        if name == _NOW and not self._after_a_balance:
            return False
        if name == _OWED and (not self.of("U") or self.found.rule is not None):
            return False
        if name == _PAID and any(day.value.value.end >= self.said.today for day in self.of("D")):
            return False
        context = self.said.context
        before = _EVERY in groups or (name == _DUE and context.bill_before) or (name == _PAID and self.of("U"))
        told = kind.when != "billed" or bills or context.recent_bill or before
        return bool(told) and not pays and min(2, len(bills)) in kind.bills and len(self.of("D")) <= kind.days

    def _of_somewhere(self, name: str, whom: str) -> bool:
        """Whether a history is asked for at a shop, or of what came from somebody, who was not read whole yet."""
        found, match = self.found, self.said.heard.payees
        read = next((str(each.value) for each in (found.slots.merchant, found.slots.payee) if each is not None), "")
        if name == _FROM:
            named = found.slots.payee is not None or found.slots.merchant is not None
        else:
            named = match is not None and match.choice is not None
        others = named or found.then is not None or bool(own_cards(self.said.hearing))
        return found.intent in _HISTORIES and not others and (not whom or whom not in read)

    def meant(self, name: str, kind: _Kind, groups: dict[str, str]) -> Understood | None:
        """What is asked, with all that is named."""
        whole, sums = self.said.heard.whole(_RULE), self.of("M")
        slots: dict[str, Slot[Any] | None] = {"topic": self._topic(name, kind, groups)}
        slots["choice"] = Slot(1, whole) if name in _ONE or "last" in groups else None
        ids = self._bills(name, kind, groups)
        slots["bill"] = Slot(ids[0], whole, ids[1:]) if ids else None
        comes = self.said.rules.patterns.own.income.fullmatch if name in _CREDITS else lambda _: None
        accounts = [replace(a, value=AccountId(a.value)) for a in self.of("A") if not comes(a.evidence.surface)]
        then = name == "as_then"
        slots["source" if then else "account"] = accounts[0] if accounts else None
        slots["date"] = replace(days[0], value=days[0].value.value) if then and (days := self.of("D")) else None
        if sums:
            many = [int(v) for v in sums[0].value.values if isinstance(v, str) and v.isdecimal()]
            told = comes_to(sums[0].value, self.said.heard)
            value = many[:1] if name in _COUNTS else told[:1]
            place = next((_BOUNDS[each] for each in groups if each in _BOUNDS), "amount")
            slots["choice" if name in _COUNTS else place] = replace(sums[0], value=value[0]) if value else None
            waits = name == "enough" and not self.said.context.idle  # 「二千円足りない」 corrects what was read back
            if len(sums) > 1 or not value or (len(told) > 1 and name == "enough") or waits:
                return None
        if kind.topic == Topic.WHETHER:
            slots["period"] = self._period(groups)
        if name in _DATED and (days := self.of("D")):
            slots["choice"], slots["period"] = None, replace(days[0], value=days[0].value.value)
        if shop := groups.get("shop") or groups.get("pay"):
            slots["merchant"] = Slot(shop.replace(self.said.rules.patterns.names.of, ""), whole)
        slots["payee"] = self._payee() if name in {"enough", _FROM} else None
        slots["merchant"] = None if slots["payee"] is not None else slots.get("merchant")
        units = [Slot(unit, whole) for unit in groups if name == "stretch_before"]
        slots["portion"] = units[0] if units else None
        slots["reckoning"] = Slot(Reckoning(Measure.BEFORE), whole) if name == "as_then" else None
        route = Route.QNA if kind.intent is Intent.QNA else Route.FAST
        rule = RuleId(f"intents.{name}@1")
        if name == _OWED and slots["amount"] is not None:  # who sends it is offered to be paid
            slots["amount"], route = replace(slots["amount"], readings=tuple(told[1:])), Route.CLARIFY
        others = self.others if name in _OF_ANY else ()
        return Understood(
            kind.intent, Slots(**slots), (), route, 1.0, rule, unresolved=others, payees=self.found.payees
        )

    def _topic(self, name: str, kind: _Kind, groups: dict[str, str]) -> Slot[str] | None:
        """What is asked of the things that are named."""
        topic = next((_EXTREMES[each] for each in groups if each in _EXTREMES), kind.topic)
        whole, more = self.said.heard.whole(_RULE), Topic.TOTAL if _SUM in groups else topic
        if name in _CREDITS:
            return Slot(str(Topic.RECEIVED), whole, (str(more),))
        return Slot(str(topic), whole) if topic else None

    def _payee(self) -> Slot[PayeeId] | None:
        """Who would be paid, for an order behind the question: "then send him nine hundred"."""
        match = self.said.heard.payees
        if match is None or match.choice is None:
            return None
        return Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))

    def _bills(self, name: str, kind: _Kind, groups: dict[str, str]) -> tuple[BillId, ...]:
        """The bills that are asked about."""
        context = self.said.context
        ids = tuple(dict.fromkeys(BillId(each.value) for each in self.of("B")))
        before = context.recent_bill or (context.bill_before if name == _DUE else None)
        if _EVERY in groups:
            return tuple(each.id for each in context.bills)
        if (kind.topic == Topic.LEFT or name in {_PAID, _DUE}) and not (ids or self.of("U")) and before:
            return (before,)
        if kind.topic == Topic.FIRST or name == "first_paid":
            return (min((b for b in context.bills if b.id in ids), key=lambda b: b.due_on).id,)
        return ids

    def _period(self, groups: dict[str, str]) -> Slot[Any] | None:
        """The days by which, or in which, a bill is due."""
        days = self.of("D")
        if not days:
            return None
        period: DateValue = days[0].value.value
        if "before" in groups:
            period = replace(period, end=period.start - timedelta(days=1))
        if groups:
            period = replace(period, start=min(self.said.today, period.end))
        return replace(days[0], value=period)


def asked_of_money(said: Said, found: Understood) -> Understood | None:
    """The question; None where it is none of these, or holds a word that nobody has read."""
    if said.context.code or found.consent is not None or found.intent is Intent.FAREWELL:
        return None
    asked = NamedThings(said, found)
    standing = asked.standing
    for name, pattern in said.rules.patterns.own.asks.items():
        kind = _KINDS[name]
        if kind.when not in standing:
            continue
        text = asked.of_any_bill if name in _OF_ANY else asked.of_income if name in _CREDITS else asked.text
        match = pattern.fullmatch(text)
        groups = {key: words for key, words in match.groupdict().items() if words} if match is not None else {}
        if match is not None and asked.may_be(name, kind, groups):
            return asked.meant(name, kind, groups)
    return None
