"""A correction inside of one of two wishes: 「本田さんに5千円と電気代、いやガス代払って」.

What is corrected stands right before the words that announce it, or is said anew with all that was said with it; without
it the words are read again, and are meant so where they are two orders then.
"""

from typing import Any, Final

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
    """Where what is corrected begins; None where no other value of its kind, said once, is behind it."""
    named = {kind: places for kind in _KINDS if (places := _named(said, kind))}
    for places in named.values():
        later = next((value for evidence, value in places if evidence.start == cut.start), None)
        before = [each for each in places if each[0].end <= cut.end]
        if later is None or not before:
            continue
        last, value = max(before, key=lambda each: each[0].start)
        if later == value or sum(each == value for _, each in before) > 1:  # 「妹に七千円、妹っていうか大家さんに」
            return None
        dropped = {k for k, others in named.items() if any(last.end <= e.start < cut.end for e, _ in others)}
        anew = {k for k, others in named.items() if any(e.start >= cut.start for e, _ in others)}
        return last.start if cut.end - last.end <= _BESIDE or dropped <= anew else None
    return None


def _named(said: Said, kind: str) -> list[tuple[Evidence, Any]]:
    """The values of a kind, and where they stand."""
    intent = Intent.BILL_PAYMENT if kind == "bill" else Intent.TRANSFER_MONEY
    return Mentions.of_all(said).of(intent).get(kind, [])


def _two(one: Understood, two: Understood) -> bool:
    """Whether each of them is an order that lacks nothing."""
    return two.then is None and all(each.moves and not each.missing for each in (one, two))
