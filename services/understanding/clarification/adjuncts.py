"""Orders with a part that no rule of ours can keep: "send fifty dollars to ann if she asks", "… when i am paid".

Such a part makes the whole unreadable, and is often what a question to the documents looks like. Where the rest is a
whole order, it is taken with that part unread, which is then asked about; nothing is ever read back without it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import Evidence, Intent, Understood
from schemas.span import SpanKind
from services.understanding.correction.merging import merged, said_in
from services.understanding.correction.said import Said

MAX_TRIES: Final = 6
"""Ways in which one utterance is cut."""
BY_CARD: Final = RuleId("intents.by_card@1")
_OPEN: Final = frozenset({None, Intent.QNA, Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT})


def besides(said: Said, whole: Understood) -> Understood | None:
    """The order that the words hold beside a condition, with that unread; None where there is no such order."""
    text, rules = said.text, said.rules
    if whole.then is None and (order := _by_card(said)) is not None:
        return order
    if whole.intent not in _OPEN or whole.rule is not None:
        return None
    if text.rstrip().endswith(("?", "？")):
        return None
    for tried, (before, begin, end) in enumerate(_places(said)):
        if tried == MAX_TRIES:
            break
        rule = rules.cues.rule("besides")
        found = _order(_parts(said, before, end), rule)
        if found is not None:
            left = Evidence(begin, end, text[begin:end].strip(" ,、，"), rule)
            return replace(found, unread=(*found.unread, left), rule=rule)
    return None


def _parts(said: Said, before: int, end: int) -> list[Understood]:
    """What the words before a condition and behind it say; nothing where either says nothing.

    Those behind it are read first: they are the same for several conditions.
    """
    parts: list[Understood] = []
    for start, stop in ((end, len(said.text)), (0, before)):
        part = said.part(start, stop) if start < stop else None
        if part is None and start < stop:
            return []
        parts = [part, *parts] if part is not None else parts
    return parts


def _by_card(said: Said) -> Understood | None:
    """An order that is to be paid by a card, which none can be, with that unread: "pay the phone bill with my visa"."""
    text, units, marks = said.text, said.units, said.rules.cues.by_card
    places = range(1, len(units.words)) if marks.meets(units.words) else ()
    at = next((i for i in places if marks.begins(units.words, i)), 0)
    if not at or not said.context.idle:
        return None
    begin, end = units.starts[at], units.ends[marks.longest(units.words, at)[0] - 1]
    found = _order([said_in(said.again(text[:begin] + " " * (end - begin) + text[end:]), text)], BY_CARD)
    if found is None or not (found.slots.bill or found.slots.payee):
        return None
    return replace(found, unread=(*found.unread, Evidence(begin, end, text[begin:end], BY_CARD)), rule=BY_CARD)


def _order(parts: list[Understood], rule: RuleId) -> Understood | None:
    found = parts[0] if len(parts) == 1 else merged(parts[0], parts[1], rule) if parts else None
    plain = found is not None and found.moves and found.then is None
    return found if plain and found is not None and not found.missing and not found.unresolved else None


def _places(said: Said) -> Iterator[tuple[int, int, int]]:
    """Where what comes before a condition ends, where it begins and where it ends, in code points."""
    rules, text, units, marks = said.rules, said.text, said.units, said.rules.cues
    size = len(units.words)
    yield from _times(said) if rules.spaced else ()
    for at in range(size) if marks.repeats.meets(units.words) else ():
        stop = marks.repeats.longest(units.words, at)[0]
        if stop > at:
            yield units.starts[at], units.starts[at], units.ends[stop - 1]
    for at in range(size) if marks.conditions.meets(units.words) else ():
        stop = marks.conditions.longest(units.words, at)[0]
        if stop == at or marks.recurring.scan(units.words, at):  # "once a week" is no condition
            continue
        if not rules.spaced:  # a condition ends with its word, and begins behind a particle, or with the utterance
            starts = [i for i in range(at, -1, -1) if i == 0 or units.words[i - 1] in marks.particles]
            yield from (
                (units.starts[i], units.starts[i], units.ends[stop - 1]) for i in reversed(starts) if stop < size
            )
        elif at > 0:
            yield units.ends[at - 1], units.starts[at], units.ends[size - 1]
        elif "," in text and units.starts[at] < text.index(","):
            yield 0, 0, text.index(",") + 1


def _times(said: Said) -> Iterator[tuple[int, int, int]]:
    """Times of a day, with the word before them and without: "at five pm", "in an hour"."""
    units = said.units
    for span in said.heard.spans:
        place = units.covering(span.start, span.end) if span.kind is SpanKind.TIME else None
        for begin in range(place[0] - 1, place[0] + 1) if place is not None else ():
            if begin >= 0:
                yield units.ends[begin - 1] if begin else 0, units.starts[begin], span.end
