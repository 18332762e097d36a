"""What is looked up: each of several accounts that are named, their sum, the bills of a stretch of days."""

from dataclasses import replace
from datetime import date
from typing import Final

from schemas.ids import AccountId, RuleId
from schemas.intent import Evidence, Intent, Slot, SlotName, Topic, Understood
from schemas.span import DateValue, SpanKind
from services.understanding.correction.said import Said
from services.understanding.fast.patterns.lattice import Edge

_RULE: Final = RuleId("intents.inquired@1")


def inquired(said: Said, found: Understood) -> Understood | None:
    """The inquiry with what else was said of what is looked up; None where nothing was."""
    if found.intent is Intent.RECENT_TRANSACTIONS:
        return _at_whole_name(said, found)
    if found.then is not None or found.slots.bill is not None:
        return None
    if found.intent is Intent.BALANCE_INQUIRY:
        return _of_accounts(said, found)
    if found.intent is Intent.BILL_INQUIRY and found.slots.period is None:
        return _of_days(said, found)
    return None


def _at_whole_name(said: Said, found: Understood) -> Understood | None:
    """With a merchant's name from where it begins, of which but the end was read: no word begins with "ー"."""
    merchant = found.slots.merchant
    if said.rules.spaced or merchant is None or not merchant.value.startswith("ー"):
        return None
    before = [span.end for span in said.heard.spans if span.end <= merchant.evidence.start]
    start = stop = merchant.evidence.start
    while start > max(before, default=0) and said.text[start - 1].isalpha():
        start -= 1
    name = said.text[start:stop] + merchant.value
    evidence = Evidence(start, merchant.evidence.end, name, _RULE)
    return replace(found, slots=replace(found.slots, merchant=Slot(name, evidence)))


def _of_accounts(said: Said, found: Understood) -> Understood | None:
    """Of each account that is named where several are, and the sum where it is asked for."""
    named = _named(said)
    slots = found.slots
    if (
        slots.account is None
        and len(named) > 1
        and all(mention.slot is not SlotName.ACCOUNT for mention in found.unresolved)
    ):
        (first, edge), *others = named.items()
        last = max(named.values(), key=lambda each: each.end)
        evidence = said.hearing.said(min(edge.start, last.start), last.end, _RULE)
        slots = replace(slots, account=Slot(first, evidence, tuple(id_ for id_, _ in others)))
    if (total := next(said.rules.accounts.in_all.edges(said.units.words), None)) is not None:
        asked = said.hearing.said(total.start, total.end, _RULE)
        slots = replace(slots, topic=Slot(Topic.TOTAL, asked))
    return replace(found, slots=slots) if slots is not found.slots else None


def _named(said: Said) -> dict[AccountId, Edge]:
    """The caller's accounts that are named, each by its longest name."""
    nouns, words, at = said.hearing.nouns, said.units.words, 0
    found: dict[AccountId, Edge] = {}
    while at < len(words):
        edges = [edge for edge in nouns.trie.scan(words, at) if nouns.nouns[edge.symbol].kind == "account"]
        edge = max(edges, key=lambda each: each.end, default=None)
        if edge is not None and (id_ := nouns.nouns[edge.symbol].id) is not None:
            found.setdefault(AccountId(id_), edge)
        at = at + 1 if edge is None else edge.end
    return found


def _of_days(said: Said, found: Understood) -> Understood | None:
    """The bills that fall due in the stretch of days that is named, or up to the day."""
    days = [span for span in said.heard.spans if span.kind is SpanKind.DATE and isinstance(span.value, DateValue)]
    if len(days) != 1 or not isinstance(day := days[0].value, DateValue) or day.end < said.today:
        return None
    place = said.units.covering(days[0].start, days[0].end)
    until = place is not None and said.rules.accounts.limited(said.units, *place) is not None
    begin: date = said.today if until else day.start
    period = Slot(replace(day, start=min(begin, day.end)), Evidence.of(days[0]))
    return replace(found, slots=replace(found.slots, period=period))
