"""An order that hangs on something, or is not to go out yet: what that is said by is told, and asked about.

"After my pay lands move fifty", "check my balance and if it's over five hundred send em a hundred", "… but hold it".
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from schemas.ids import AccountId, RuleId
from schemas.intent import MONEY_MOVING, READING, Evidence, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from services.understanding.clarification.retractions import MAX_CUTS, VERBS
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import all_own
from services.understanding.fast.ruleset.grammar import ALLOWED

_RULE: Final = RuleId("intents.hanging@1")
_LEAST: Final = 3
"""Words of a condition, at least."""
_OPEN: Final = frozenset({None, Intent.QNA})
_TO_THEM: Final = ".to_them@"
"""In the rule of an order to somebody who was named before."""


def hanging(said: Said, found: Understood) -> Understood | None:
    """The order with what it hangs on unread, or that none is kept; None where it hangs on nothing."""
    context, ordered = said.context, found.intent in MONEY_MOVING
    if not said.rules.spaced or not context.idle or context.code or said.text.rstrip().endswith("?"):
        return None
    if ordered and (off := _put_off(said)) is not None:
        return _with(replace(found, then=None), said.heard.evidence(said.units.starts[off], len(said.text), _RULE))
    at = _hangs_at(said)
    if at is None or found.then is not None:
        return None
    verb = next(_verbs(said, at), None)
    end = said.units.ends[verb - 1] if verb is not None else len(said.text)
    left = said.heard.evidence(said.units.starts[at], end, _RULE)
    if ordered:
        whole = _with_whom(said, found, (left.start, left.end))
        if (found.route is Route.FAST and at > 0) or _told(found, left):
            return whole if whole is not found else None
        return _with(whole, left)
    return _besides(said, found, at, left)


def _besides(said: Said, found: Understood, at: int, left: Evidence) -> Understood | None:
    """The order on a condition where something is looked up, or nothing was read."""
    asked = found.intent in READING and at > 0
    asks = said.units.words[0] in said.rules.words.asking
    if not asked and (asks or found.rule is not None or found.intent not in _OPEN):
        return None
    order = _ordered(said, at)
    if order is not None:
        order = _with(order, left)
        return replace(found, then=order) if asked else order
    begun = any(_verbs(said, at)) or _begins(said, at)
    return _refused(said) if begun and not asked else None


def _ordered(said: Said, at: int) -> Understood | None:
    """What is ordered behind the condition at a unit."""
    for verb in islice(_verbs(said, at), MAX_CUTS):
        start = said.units.starts[verb]
        order = said.look(start, len(said.text), said.context)
        order = _from_it(said, at, verb) or _with_whom(said, order, (said.units.starts[at], start))
        if order.intent in MONEY_MOVING and order.route is Route.FAST and order.then is None:
            return order
    return None


def _from_it(said: Said, at: int, verb: int) -> Understood | None:
    """What is ordered from a unit on, of the one own account that the condition names: "move five hundred from it"."""
    rules, units, text = said.rules, said.units, said.text
    own = {account: edge for _, edge, account in all_own(said.hearing) if at <= edge.start and edge.end <= verb}
    edges = [("source", edge) for edge in rules.cues.from_it.edges(units.words[verb:])]
    edges += [("target", edge) for edge in rules.cues.to_it.edges(units.words[verb:])]
    if len(own) != 1 or len(edges) != 1:
        return None
    (account, edge), (part, it) = *own.items(), edges[0]
    begin, end = units.starts[verb + it.start], units.ends[verb + it.end - 1]
    plain = " " * units.starts[verb] + text[units.starts[verb] : begin] + " " * (end - begin) + text[end:]
    order = said_in(said.again(plain), text)
    if order.intent is not Intent.TRANSFER_MONEY or getattr(order.slots, part) is not None:
        return None
    told = Slot(AccountId(account), said.hearing.said(edge.start, edge.end, _RULE))
    slots = replace(order.slots, **{part: told})
    missing = tuple(name for name in order.missing if name is not SlotName.PAYEE or part == "source")
    return replace(order, slots=slots, missing=missing)


def _with_whom(said: Said, order: Understood, condition: tuple[int, int]) -> Understood:
    """The order with the one payee whom its condition names, where it says but "him"."""
    whom = order.slots.payee or order.slots.target or any(each.slot is SlotName.PAYEE for each in order.unresolved)
    if _TO_THEM not in (order.rule or "") or whom:
        return order
    named = [each for each in Mentions.of_all(said).everyone if condition[0] <= each[0].start < condition[1]]
    if len(named) != 1 or len(named[0][1]) != 1:
        return order
    (place, (payee,)), missing = named[0], tuple(each for each in order.missing if each is not SlotName.PAYEE)
    return replace(order, slots=replace(order.slots, payee=Slot(payee, place)), missing=missing)


def _put_off(said: Said) -> int | None:
    """Where the last words begin, which put off what was ordered before them; None where none do."""
    words, marks = said.units.words, said.rules.cues.put_off
    places = range(1, len(words)) if marks.meets(words) else ()
    return next((at for at in places if any(edge.end == len(words) for edge in marks.scan(words, at))), None)


def _hangs_at(said: Said) -> int | None:
    """Where a condition begins that is no polite word and no day."""
    words, marks, phrases = said.units.words, said.rules.cues.hanging, said.rules.phrases
    guards = said.hearing.reading.longest(said.rules.guards) if marks.meets(words) else ()
    for at in range(len(words) - _LEAST + 1) if guards else ():
        if not marks.begins(words, at) or ALLOWED in guards[at][1]:
            continue
        polite = max(phrases.asides.longest(words, at)[0], phrases.asides_unasked.longest(words, at)[0])
        if polite <= marks.longest(words, at)[0]:
            return at
    return None


def _verbs(said: Said, at: int) -> Iterator[int]:
    """Where orders may begin behind the condition at a unit."""
    rules, words = said.rules, said.units.words
    symbols = rules.named(VERBS)
    for verb in range(at + 2, len(words)):
        governed = words[verb - 1] in rules.words.doers or words[verb - 1] in rules.cues.verbs
        if not governed and any(edge.symbol in symbols for edge in rules.trie.scan(words, verb)):
            yield verb


def _begins(said: Said, at: int) -> bool:
    """Whether the first words, which end before the condition, are an order's."""
    return at > 1 and said.look(0, said.units.ends[at - 1], said.context).intent in MONEY_MOVING


def _told(found: Understood, left: Evidence) -> bool:
    """Whether the condition is unread already, or is the order's day."""
    day = found.slots.date
    whole = any(each.start <= left.start and each.end >= left.end for each in found.unread)
    return whole or (day is not None and left.start <= day.evidence.start < left.end)


def _with(found: Understood, left: Evidence) -> Understood:
    """The order with the condition unread, in place of what was made of parts of it."""
    kept = tuple(each for each in found.unread if not left.start <= each.start < left.end)
    open_ = tuple(each for each in found.unresolved if not left.start <= each.evidence.start < left.end)
    return replace(found, unread=(left, *kept), unresolved=open_)


def _refused(said: Said) -> Understood:
    topic = Slot(str(Topic.CONDITIONAL), said.heard.whole(_RULE))
    return Understood(Intent.INFORM, Slots(topic=topic), route=Route.FAST, confidence=1.0, rule=_RULE)
