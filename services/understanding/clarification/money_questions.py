"""Questions by patterns: is it enough, due then, the 129 one; "and the one before that", 「その前の日は」."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any, Final

from schemas.balances import Measure, Reckoning
from schemas.consent import ORDERS
from schemas.ids import AccountId, BillId, PayeeId, RuleId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.span import SUMS, DateValue
from services.understanding.clarification.question_kinds import (
    AS_SAID,
    BOUNDS,
    COUNTS,
    CREDITS,
    DATED,
    DUE,
    EVERY,
    FROM,
    HISTORIES,
    KINDS,
    NOW,
    OF_ANY,
    ONE,
    OWED,
    PAID,
    SHOP,
    SHOPS,
    SUM,
    TOPICS,
    UNLIKE_ORDERS,
    UNREAD,
    QuestionKind,
)
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.said import Said
from services.understanding.fast.fallback.carded import own_cards

_RULE: Final = RuleId("intents.asked_of_money@1")
_LETTERS: Final = {"account": "A", "bill": "B"}


@dataclass(frozen=True)
class NamedThings:
    """A question, with a letter for each account, bill, sum and day in it; U is a bill of nobody's here."""

    said: Said
    found: Understood

    @property
    def things(self) -> list[tuple[int, int, str, Any]]:
        """Where each is named: code points, its letter, its id or span; looked for once, whoever asks."""
        if NamedThings not in self.said.made:
            self.said.made[NamedThings] = self._named()
        named: list[tuple[int, int, str, Any]] = self.said.made[NamedThings]
        return named

    def _named(self) -> list[tuple[int, int, str, Any]]:
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

    def read_for(self, name: str) -> str:
        """The words as a question of this name looks at them."""
        if name == AS_SAID:
            return self.said.text.lower()
        return self.of_any_bill if name in OF_ANY else self.of_income if name in CREDITS else self.text

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

    def may_be(self, name: str, kind: QuestionKind, groups: dict[str, str]) -> bool:
        """Whether such is asked of what is named, and by how it was read."""
        bills = {each.value for each in self.of("B")}
        pays = self.found.intent in MONEY_MOVING and name not in UNLIKE_ORDERS
        if name in UNREAD and self.found.rule is not None:
            return False
        named = [kind for _, _, kind, _ in self.things if kind != "U" or name != "charged"]  # 「ムービーネット」
        shop = name not in SHOPS or not (named or self.found.rule or (self.found.payees and self.found.payees.choice))
        if not shop or (name in {SHOP, FROM} and not self._of_somewhere(name, groups.get("shop", ""))):
            return False
        if name == NOW and not self._after_a_balance:
            return False
        if name == OWED and (not self.of("U") or self.found.rule is not None):
            return False
        if name == PAID and any(day.value.value.end >= self.said.today for day in self.of("D")):
            return False
        context = self.said.context
        before = EVERY in groups or (name == DUE and context.bill_before) or (name == PAID and self.of("U"))
        told = kind.when != "billed" or bills or context.recent_bill or before
        return bool(told) and not pays and min(2, len(bills)) in kind.bills and len(self.of("D")) <= kind.days

    def _of_somewhere(self, name: str, whom: str) -> bool:
        """Whether a history is asked for at a shop, or of what came from somebody, who was not read whole yet."""
        found, match = self.found, self.said.heard.payees
        read = next((str(each.value) for each in (found.slots.merchant, found.slots.payee) if each is not None), "")
        if name == FROM:
            named = found.slots.payee is not None or found.slots.merchant is not None
        else:
            named = match is not None and match.choice is not None
        others = named or found.then is not None or bool(own_cards(self.said.hearing))
        return found.intent in HISTORIES and not others and (not whom or whom not in read)

    def meant(self, name: str, kind: QuestionKind, groups: dict[str, str]) -> Understood | None:
        """What is asked, with all that is named."""
        whole, sums = self.said.heard.whole(_RULE), self.of("M")
        slots: dict[str, Slot[Any] | None] = {"topic": self._topic(name, kind, groups)}
        slots["choice"] = Slot(1, whole) if name in ONE or "last" in groups else None
        ids = self._bills(name, kind, groups)
        slots["bill"] = Slot(ids[0], whole, ids[1:]) if ids else None
        comes = self.said.rules.patterns.own.income.fullmatch if name in CREDITS else lambda _: None
        accounts = [replace(a, value=AccountId(a.value)) for a in self.of("A") if not comes(a.evidence.surface)]
        then = name == "as_then"
        slots["source" if then else "account"] = accounts[0] if accounts else None
        slots["date"] = replace(days[0], value=days[0].value.value) if then and (days := self.of("D")) else None
        if sums:
            many = [int(v) for v in sums[0].value.values if isinstance(v, str) and v.isdecimal()]
            told = comes_to(sums[0].value, self.said.heard)
            value = many[:1] if name in COUNTS else told[:1]
            place = next((BOUNDS[each] for each in groups if each in BOUNDS), "amount")
            slots["choice" if name in COUNTS else place] = replace(sums[0], value=value[0]) if value else None
            waits = name == "enough" and not self.said.context.idle  # 「二千円足りない」 corrects what was read back
            if len(sums) > 1 or not value or (len(told) > 1 and name == "enough") or waits:
                return None
        if kind.topic == Topic.WHETHER:
            slots["period"] = self._period(groups)
        if name in DATED and (days := self.of("D")):
            slots["choice"], slots["period"] = None, replace(days[0], value=days[0].value.value)
        if shop := groups.get("shop") or groups.get("pay"):
            slots["merchant"] = Slot(shop.replace(self.said.rules.patterns.names.of, ""), whole)
        slots["payee"] = self._payee() if name in {"enough", FROM} else None
        slots["merchant"] = None if slots["payee"] is not None else slots.get("merchant")
        units = [Slot(unit, whole) for unit in groups if name == "stretch_before"]
        slots["portion"] = units[0] if units else None
        slots["reckoning"] = Slot(Reckoning(Measure.BEFORE), whole) if name == "as_then" else None
        route = Route.QNA if kind.intent is Intent.QNA else Route.FAST
        rule = RuleId(f"intents.{name}@1")
        if name == OWED and slots["amount"] is not None:  # who sends it is offered to be paid
            slots["amount"], route = replace(slots["amount"], readings=tuple(told[1:])), Route.CLARIFY
        others = self.others if name in OF_ANY else ()
        return Understood(
            kind.intent, Slots(**slots), (), route, 1.0, rule, unresolved=others, payees=self.found.payees
        )

    def _topic(self, name: str, kind: QuestionKind, groups: dict[str, str]) -> Slot[str] | None:
        """What is asked of the things that are named."""
        topic = next((TOPICS[each] for each in groups if each in TOPICS), kind.topic)
        whole, more = self.said.heard.whole(_RULE), Topic.TOTAL if SUM in groups else topic
        if name in CREDITS:
            return Slot(str(Topic.RECEIVED), whole, (str(more),))
        return Slot(str(topic), whole) if topic else None

    def _payee(self) -> Slot[PayeeId] | None:
        """Who would be paid, for an order behind the question: "then send him nine hundred"."""
        match = self.said.heard.payees
        if match is None or match.choice is None:
            return None
        return Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))

    def _bills(self, name: str, kind: QuestionKind, groups: dict[str, str]) -> tuple[BillId, ...]:
        """The bills that are asked about."""
        context = self.said.context
        ids = tuple(dict.fromkeys(BillId(each.value) for each in self.of("B")))
        before = context.recent_bill or (context.bill_before if name == DUE else None)
        if EVERY in groups:
            return tuple(each.id for each in context.bills)
        if name == "largest_due" and len({bill.due.currency for bill in context.bills}) == 1:
            by_size = sorted(context.bills, key=lambda bill: bill.due.minor)
            return (by_size[0 if "cheap" in groups else -1].id,)
        if (kind.topic == Topic.LEFT or name in {PAID, DUE}) and not (ids or self.of("U")) and before:
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
        kind = KINDS[name]
        if kind.when not in standing:
            continue
        match = pattern.fullmatch(asked.read_for(name))
        groups = {key: words for key, words in match.groupdict().items() if words} if match is not None else {}
        if match is not None and asked.may_be(name, kind, groups):
            return asked.meant(name, kind, groups)
    return None
