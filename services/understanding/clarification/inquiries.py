"""What is looked up: each of several accounts that are named, their sum, the bills of a stretch of days."""

from dataclasses import replace
from typing import Final

from schemas.ids import AccountId, RuleId
from schemas.intent import Evidence, Intent, Slot, Topic, Understood
from schemas.span import DateValue
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.inquired@1")


def inquired(said: Said, found: Understood) -> Understood | None:
    """The inquiry with what else was said of what is looked up; None where nothing was."""
    if found.then is not None or found.slots.bill is not None:
        return None
    if found.intent is Intent.BALANCE_INQUIRY:
        return _of_accounts(said, found)
    if found.intent is Intent.RECENT_TRANSACTIONS and said.rules.cues.in_all.holds(said.units.words):
        topic = found.slots.topic or Slot(str(Topic.SUM), said.heard.whole(_RULE))
        return replace(found, slots=replace(found.slots, topic=topic))
    return _of_days(said, found) if found.intent is Intent.BILL_INQUIRY and found.slots.period is None else None


def _of_accounts(said: Said, found: Understood) -> Understood | None:
    """Of each account that is named where several are, and the sum where it is asked for."""
    slots, accounts = found.slots, _named(said)
    if slots.account is None and len(accounts) > 1 and not found.unresolved:
        slots = replace(slots, account=Slot(accounts[0], said.heard.whole(_RULE), tuple(accounts[1:])))
    if said.rules.cues.in_all.holds(said.units.words):
        slots = replace(slots, topic=Slot(Topic.TOTAL, said.heard.whole(_RULE)))
    return replace(found, slots=slots) if slots is not found.slots else None


def _named(said: Said) -> list[AccountId]:
    """The caller's accounts that are named, each by its longest name."""
    nouns, words, at = said.hearing.nouns, said.units.words, 0
    found: list[AccountId] = []
    while at < len(words):
        end, symbols = nouns.trie.longest(words, at)
        named = (noun.id for noun in map(nouns.nouns.__getitem__, symbols) if noun.kind == "account")
        found += [AccountId(id_) for id_ in named if id_ is not None and id_ not in found]
        at = max(end, at + 1)
    return found


def _of_days(said: Said, found: Understood) -> Understood | None:
    """The bills that fall due in the stretch of days that is named, or up to the day."""
    days = [(span, span.value) for span in said.heard.spans if isinstance(span.value, DateValue)]
    if len(days) != 1 or (day := days[0][1]).end < said.today:
        return None
    span = days[0][0]
    place = said.units.covering(span.start, span.end)
    if place is not None and said.rules.cues.limited(said.units, *place) is not None:
        day = replace(day, start=said.today)
    return replace(found, slots=replace(found.slots, period=Slot(day, Evidence.of(span))))
