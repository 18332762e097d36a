"""A correction inside of one of two wishes: 「本田さんに5千円と電気代、いやガス代払って」.

What is corrected stands right before the words that announce it, or is said anew with all that was said with it; without
it the words are read again, and are meant so where they are two orders then.
"""

from typing import Final

from schemas.intent import Evidence, Intent, Understood
from services.understanding.correction.editing_terms import MAX_CUTS, Cut, announced_cuts
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import set_back
from services.understanding.correction.said import Said

_KINDS: Final = ("payee", "bill", "amount", "date", "source")
_BESIDE: Final = 3
"""Characters behind a value that say what it is to the order, at most: さんに."""


def within_two(said: Said) -> Understood | None:
    """Both orders, with the correction made; None where the words are not two orders without what is corrected."""
    if said.rules.spaced or not said.context.idle:
        return None
    for cut in [each for each in announced_cuts(said) if not each.denies][-MAX_CUTS:]:
        start = _corrected_from(said, cut)
        if start is None:
            continue
        found = set_back(said.again(said.text[:start] + said.text[cut.start :]), said.text, start, cut.start, 0)
        if found.then is not None and _two(found, found.then):
            return found
    return None


def _corrected_from(said: Said, cut: Cut) -> int | None:
    """Where what is corrected begins; None where the later words begin with no value of a kind that was said before."""
    named = {kind: places for kind in _KINDS if (places := _named(said, kind))}
    later = next((kind for kind, places in named.items() if any(e.start == cut.start for e in places)), None)
    before = [each for each in named.get(later or "", ()) if each.end <= cut.end]
    if not before:
        return None
    last = max(before, key=lambda each: each.start)
    dropped = {k for k, places in named.items() if any(last.end <= e.start < cut.end for e in places)}
    anew = {k for k, places in named.items() if any(e.start >= cut.start for e in places)}
    return last.start if cut.end - last.end <= _BESIDE or dropped <= anew else None


def _named(said: Said, kind: str) -> list[Evidence]:
    """Where values of a kind stand."""
    intent = Intent.BILL_PAYMENT if kind == "bill" else Intent.TRANSFER_MONEY
    return [evidence for evidence, _ in Mentions.of_all(said).of(intent).get(kind, ())]


def _two(one: Understood, two: Understood) -> bool:
    """Whether each of them is an order that lacks nothing."""
    return two.then is None and all(each.moves and not each.missing for each in (one, two))
