"""What is said again at once, or begun and said anew: 電気、電気代; 九万、九万五千円; an order to be corrected."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from schemas.intent import COUNTED, Intent, Route, Understood
from schemas.span import SUMS
from services.understanding.correction.editing_terms import MAX_CUTS, PAUSES, announced_cuts
from services.understanding.correction.merging import said_in, same, values, with_words
from services.understanding.correction.repair import settled
from services.understanding.correction.said import Said

_PAIR: Final = 2
_BEGUN: Final = 2
"""Characters of an amount that was begun and is said anew, at least."""
_MOST_AGAIN: Final = 5
"""Words said again at once that are left out of a sentence by turns: each more doubles how many sentences are tried."""


def restarted(said: Said, whole: Understood) -> Understood | None:
    """The meaning without the first of what is said again; None where all was understood with it."""
    if whole.intent is Intent.FAREWELL or settled(whole):  # 「ありがとう、バイバイ」
        return None
    return _once(said) or _anew(said)


def without_syllables(said: Said, whole: Understood) -> Understood | None:
    """The meaning without syllables of a word only begun: 妹にご、六千円."""
    text = said.text
    for begun in said.rules.patterns.orders.begun.finditer(text):
        start, end = begun.span(1)
        if not any(each.start < end and start < each.end for each in whole.unread):
            continue
        found = said_in(said.again(text[:start] + "、" * (end - start) + text[end:]), text)
        if found.intent in COUNTED and found.rule is not None and not found.unread:
            return found
    return None


def _once(said: Said) -> Understood | None:
    """The meaning without what is said again at once, whole or with more behind it: 電気、電気代."""
    text, units, rules = said.text, said.units, said.rules
    again_at_once = (*rules.patterns.orders.again.finditer(text), *rules.patterns.orders.doubled.finditer(text))
    for twice in again_at_once if len(again_at_once) <= _MOST_AGAIN else ():
        start, end = twice.span()
        inside = any(span.start < end and start < span.end for span in said.heard.spans)
        place = units.covering(*twice.span("word"))
        if inside or place is None or any(rules.cues.repairs.begins(units.words, at) for at in range(*place)):
            continue
        found = said_in(said.again(text[:start] + "、" * (end - start) + text[end:]), text)
        if found.rule is not None and found.route is Route.FAST and found.consent is None:
            return found
    return None


def _anew(said: Said) -> Understood | None:
    """The meaning without the beginning of an amount that is said anew and whole: 九万、九万五千円."""
    text, rules = said.text, said.rules
    sums = [span for span in said.heard.spans if span.kind in SUMS]
    for one, two in pairwise(sums if len(sums) == _PAIR else ()):
        begun = one.surface.removesuffix(rules.cues.unit)
        units = rules.units(text[one.end : two.start]).words
        hesitates = not units or rules.cues.hesitations.covers(units)
        if len(begun) < _BEGUN or not two.surface.startswith(begun) or not hesitates:
            continue
        found = said_in(said.again(text[: one.start] + "、" * (two.start - one.start) + text[two.start :]), text)
        if found.rule is not None and found.route is Route.FAST and found.consent is None:
            return found
    return None


def begun_again(said: Said, found: Understood) -> Understood | None:
    """One order that is begun again and corrected then, "seventy to em, to em, no, eighty"; None where it is not."""
    rules, text = said.rules, said.text
    if found.sure or found.intent not in COUNTED or not rules.cues.repairs.meets(said.units.words):
        return None
    cuts = () if rules.patterns.orders.once_more.search(text) else tuple(announced_cuts(said))
    for cut in reversed(cuts[-MAX_CUTS:]):
        for end, begin in _restarts(said, cut.end):
            if _tells_it_again(said, end, begin, cut.end):
                meant = said_in(said.again(with_words(text, end, cut.end, "")), text)
                return meant if meant.intent in COUNTED and meant.then is None else None
    return None


def _restarts(said: Said, stop: int) -> Iterator[tuple[int, int]]:
    """Where an order's first words may end, and begin again: at pauses, and where a name is said once more."""
    pauses = [(pause.start(), pause.end()) for pause in PAUSES.finditer(said.text, 0, stop)]
    yield from [place for place in pauses if place[0] > 0 and place[1] < stop][-_MOST_AGAIN:]
    words, places = said.units.words, range(len(said.units.words) if said.rules.spaced else 0)
    first = next((at for at in places if words[at] in said.names), len(words))
    for at in range(first + 1, len(words)):
        if words[at] == words[first] and said.units.starts[at] < stop:
            yield said.units.ends[at - 1], said.units.starts[at]


def _tells_it_again(said: Said, end: int, begin: int, stop: int) -> bool:
    """Whether the words from `begin` to `stop` tell whose the order before `end` is, and nothing else than it does."""
    again = said.part(begin, stop)
    one = said.part(0, end) if again is not None and again.whole and again.slots.payee is not None else None
    if again is None or one is None or not one.whole or one.slots.amount is None:
        return False
    first = values(one.slots)
    return all(name in first and same(first[name], slot) for name, slot in values(again.slots).items())
