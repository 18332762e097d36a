"""An order that hangs on something, or is not to go out yet: what that is said by is told, and asked about.

"After my pay lands move fifty", "check my balance and if it's over five hundred send em a hundred", "… but hold it".
Where words are spaced it stands before the order or behind (`hanging`), or begins words that nobody read
(`led_by_condition`); behind it may be what is to stay ("but leave me two thousand", `kept_back`). Elsewhere the verb
comes last, and words of the order that were not read tell (`on_condition`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from schemas.consent import NO_TERMS, ORDERS
from schemas.ids import RuleId
from schemas.intent import MONEY_MOVING, READING, Evidence, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.span import SUMS, SpanKind, overlap
from services.understanding.correction.editing_terms import MAX_CUTS
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import values
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import ORDERING
from services.understanding.fast.fallback.tails import ends_in_order
from services.understanding.fast.ruleset.grammar import ALLOWED

_RULE: Final = RuleId("intents.hanging@1")
_LEAST: Final = 3
"""Words of a condition, at least."""
_OPEN: Final = frozenset({None, Intent.QNA})
_ANSWERS: Final = _OPEN | {Intent.CORRECT, Intent.INFORM}
_NO_ORDER: Final = frozenset({"how", "whether", "reported", "direction"})
"""Vetoes of words with a condition in which nothing is ordered."""
_ENDS: Final = ("transfer_do", "repay_do", "pay_do", "lock_do", "unlock_do")
"""What an order ends in, where the verb comes last."""
_MOST: Final = 4
"""Characters of a word that ends a condition, at most."""
_NEAR: Final = 9
"""Words between what tells that something stays and how much that is, at most."""


def hanging(said: Said, found: Understood) -> Understood | None:
    """The order with what it hangs on unread, or that none is kept; None where it hangs on nothing."""
    context, ordered = said.context, found.intent in MONEY_MOVING
    if not said.rules.spaced or context.code or said.text.rstrip().endswith("?"):
        return None
    if not context.idle:
        return _of_what_waits(said, found)
    if ordered and (off := _put_off(said)) is not None:
        return _with(replace(found, then=None), said.heard.evidence(said.units.starts[off], len(said.text), _RULE))
    at = _hangs_at(said)
    return None if at is None else _hung_at(said, found, at)


def _hung_at(said: Said, found: Understood, at: int) -> Understood | None:
    """The same, of a condition that begins at a unit."""
    ordered = found.intent in MONEY_MOVING
    verb = next(_verbs(said, at), None)
    end = said.units.ends[verb - 1] if verb is not None else len(said.text)
    left = said.heard.evidence(said.units.starts[at], end, _RULE)
    if ordered and _otherwise(said, at, found):
        return _refused(said)
    if found.then is not None:
        return _behind_question(found, found.then, left)
    if ordered:
        read = found.route is Route.FAST and at > 0
        return None if read or _told(found, left) else _with(found, left)
    return _besides(said, found, at, left)


def _of_what_waits(said: Said, found: Understood) -> Understood | None:
    """That what is read back can hang on nothing: "only if there's enough", "if that's short take it from savings"."""
    open_ = found.intent in _OPEN and found.rule is None and found.then is None and "question" not in found.stopped
    if said.context.terms.awaited not in ORDERS:
        return None
    if found.intent in _ANSWERS and said.rules.cues.or_else.begins(said.units.words, 0) and _names_account(said, 0):
        return _refused(said)
    at = _hangs_at(said) if open_ else None
    return _refused(said) if at == 0 or (at is not None and said.told(0, said.units.ends[at - 1])) else None


def _otherwise(said: Said, at: int, order: Understood) -> bool:
    """Whether the order behind a condition is what is wanted if that is not so."""
    begin = min((slot.evidence.start for slot in values(order.slots).values()), default=0)
    units, marks = said.units, said.rules.cues.or_else
    return any(units.starts[n] < begin and marks.begins(units.words, n) for n in range(at + 2, len(units.words)))


def elsewise(said: Said, _: Understood) -> Understood | None:
    """The order with all unread that begins with "otherwise", or with the condition before that."""
    units, marks = said.units, said.rules.cues.or_else
    if not _open(said) or not marks.meets(units.words):
        return None
    places = [at for at in range(2, len(units.words) - 1) if marks.begins(units.words, at)]
    return _cut_at(said, min(places[0], _hangs_at(said) or places[0])) if places else None


def from_elsewhere(said: Said, _: Understood) -> Understood | None:
    """The same, of a condition behind an order, and an own account in it: "if that's short use savings"."""
    at = _hangs_at(said) if _open(said) else None
    return _cut_at(said, at) if at and _names_account(said, at) else None


def _names_account(said: Said, at: int) -> bool:
    """Whether an own account is named behind a unit."""
    return any(account.start > said.units.ends[at] for account, _ in Mentions.of_all(said).accounts())


def _open(said: Said) -> bool:
    return said.rules.spaced and said.context.idle and not said.context.code and not said.text.rstrip().endswith("?")


def _cut_at(said: Said, at: int) -> Understood | None:
    """The whole order before a unit, with the words from there on unread."""
    units = said.units
    at -= at > 1 and said.rules.cues.joints.begins(units.words, at - 1)  # "and if that's short"
    order = said.look(0, units.ends[at - 1], said.context)
    if not order.moves or order.then is not None or order.unread:
        return None
    return _with(order, said.heard.evidence(units.starts[at], len(said.text.rstrip(" .,!?")), _RULE))


def _besides(said: Said, found: Understood, at: int, left: Evidence) -> Understood | None:
    """The order on a condition where something is looked up, or nothing was read."""
    asked = found.intent in READING and at > 0
    asks = said.units.words[0] in said.rules.words.asking
    if not asked and (asks or found.rule is not None or found.intent not in _OPEN):
        return None
    ordered = _ordered(said, at)
    if ordered is not None:
        order = _with(ordered[1], left)
        return replace(found, then=order) if asked else order
    begun = any(_verbs(said, at)) or _begins(said, at) or _answers(said, at)
    return _refused(said) if begun and not asked else None


def _behind_question(found: Understood, order: Understood, left: Evidence) -> Understood | None:
    """What is looked up, with the one order behind it and the condition between them: "… and if it's over 500"."""
    behind = all(slot.evidence.start >= left.end for slot in values(order.slots).values())
    plain = found.intent in READING and order.intent in MONEY_MOVING and order.then is None
    if not plain or not behind or order.slots == Slots() or _told(order, left):
        return None
    return replace(found, then=_with(order, left))


def kept_back(said: Said, _: Understood) -> Understood | None:
    """The order, with how much is to be left unread: "… but leave me at least two thousand"; None where nothing is."""
    context, marks, units = said.context, said.rules.cues, said.units
    if not said.rules.spaced or not context.idle or context.code or not marks.left_there.meets(units.words):
        return None
    for at in range(2, len(units.words)):
        end = marks.left_there.longest(units.words, at)[0]
        if end > at and _so_much(said, end) and (order := _cut_at(said, at)) is not None:
            return order
    return None


def _so_much(said: Said, end: int) -> bool:
    """Whether it is told behind a unit how much it is."""
    places = (said.units.covering(span.start, span.end) for span in said.heard.spans if span.kind in SUMS)
    return any(place and end <= place[0] < end + _NEAR for place in places)


def led_by_condition(said: Said) -> Understood | None:
    """An order behind a condition that no mark ends, with that unread: "if there's enough money pay the phone bill"."""
    begins = said.rules.spaced and said.units.words and said.rules.cues.conditions.scan(said.units.words, 0)
    ordered = _ordered(said, 0) if begins else None
    if ordered is None:
        return None
    verb, order = ordered
    return _with(order, said.heard.evidence(0, said.units.ends[verb - 1], _RULE))


def on_condition(said: Said, found: Understood) -> Understood | None:
    """That an order hangs on a condition, where nobody read the words that end in it: 「連絡が来たら三万円送って」."""
    if (hangs := _asked_about(said, found)) is not None:
        return hangs
    rules, heard, vetoes = said.rules, said.heard, found.stopped
    unread = said.context.idle and found.intent in {None, Intent.QNA} and found.rule is None and found.then is None
    if rules.spaced or not unread or "conditional" not in vetoes or vetoes & _NO_ORDER:
        return None
    money = any(span.kind is SpanKind.MONEY for span in heard.spans)
    ends = ends_in_order(said.hearing, (*_ENDS, "onegai") if money else _ENDS)
    if money and heard.payees is not None and heard.payees.choice is not None:
        ends = ends or rules.patterns.orders.otherwise.search(said.text) is not None
    return _refused(said) if ends else None


def _asked_about(said: Said, found: Understood) -> Understood | None:
    """The order, with that it hangs on words of it which are asked about: 「給料が入ったら妹に三万円送って」."""
    order = said.context.idle and found.moves
    if said.rules.spaced or not order or found.slots.topic is not None:
        return None
    days = [m.evidence for m in found.unresolved if m.slot is SlotName.DATE]
    left = tuple(each for each in found.unread if not any(overlap(each, day) for day in days))  # the day tells when
    words, marks = [said.rules.units(each.surface).words for each in (*left, *days)], said.rules.cues.conditions
    if not any(marks.ends(each, len(each), _MOST) for each in words):
        return None
    source = found.slots.source
    if source is not None and any(each.end == source.evidence.start for each in left):
        source = None  # 「貯蓄になければ普通から」: it pays only then
    return replace(found, slots=replace(found.slots, topic=_topic(said), source=source), unread=left)


def hung_last(said: Said, found: Understood) -> Understood | None:
    """The order with the condition behind it unread, where the verb comes last: 「三万、足りなかったら貯蓄から」."""
    clause = said.rules.patterns.orders.hangs_last.search(said.text) if not said.rules.spaced else None
    read = found.sure and not (found.intent is Intent.CANCEL and said.context.idle)
    if clause is None or read or found.slots.condition is not None or found.slots.about == Topic.CONDITIONAL:
        return None
    if said.context.terms.awaited in ORDERS and clause.start() == 0:
        return _refused(said)
    alone = replace(said.context, terms=NO_TERMS, confirming=False, asked=None)
    order = said.look(0, clause.start() - 1, alone) if clause.start() > 1 and not said.context.code else None
    if order is None or not order.moves or order.then is not None:
        return None
    left = said.heard.evidence(clause.start(), len(said.text.rstrip("。")), _RULE)
    return replace(order, slots=replace(order.slots, topic=_topic(said)), unread=(*order.unread, left))


def _ordered(said: Said, at: int) -> tuple[int, Understood] | None:
    """What is ordered behind the condition at a unit, and from which unit on."""
    for verb in islice(_verbs(said, at), MAX_CUTS):
        order = said.look(said.units.starts[verb], len(said.text), said.context)
        part = order.route is Route.EXTRACT and order.slots.amount and (order.slots.payee or order.slots.target)
        if (order.moves and order.then is None) or (order.intent in MONEY_MOVING and part):
            return verb, order
    return None


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
    symbols = rules.named(ORDERING)
    for verb in range(at + 2, len(words)):
        governed = words[verb - 1] in rules.words.doers or words[verb - 1] in rules.cues.verbs
        if not governed and any(edge.symbol in symbols for edge in rules.trie.scan(words, verb)):
            yield verb


def _begins(said: Said, at: int) -> bool:
    """Whether the first words, which end before the condition, are an order's."""
    if at > 1 and said.look(0, said.units.ends[at - 1], said.context).intent in MONEY_MOVING:
        return True
    sums = any(span.kind in SUMS and span.end <= said.units.starts[at] for span in said.heard.spans)
    return sums and any(edge.symbol in said.rules.named(ORDERING) for edge in said.rules.trie.scan(said.units.words, 0))


def _answers(said: Said, at: int) -> bool:
    """Whether it is told beside the condition from where: "if checking is short take it from savings"."""
    units, size = said.units, len(said.units.words)
    parts = [(0, at)] if at else [(begin, size) for begin in range(_LEAST, size - 1)][:MAX_CUTS]
    told = (said.told(units.starts[begin], units.ends[end - 1]) for begin, end in parts)
    return any(each is not None and each.slots.source is not None for each in told)


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
    return Understood(Intent.INFORM, Slots(topic=_topic(said)), route=Route.FAST, confidence=1.0, rule=_RULE)


def _topic(said: Said) -> Slot[str]:
    return Slot(str(Topic.CONDITIONAL), said.heard.whole(_RULE))
