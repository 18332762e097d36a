"""What somebody may have meant by a name that is none."""

import re
from collections.abc import Iterable
from typing import Final

from rapidfuzz.distance import OSA

_LIKE_ENOUGH: Final = 0.5
_BETWEEN: Final = re.compile(r"[_.-]")


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most alike, whole or in one of its words; None where none is like enough."""

    def alike(one: str) -> float:
        return max(OSA.normalized_similarity(name, part) for part in (one, *_BETWEEN.split(one)))

    best = max(sorted(known), key=alike, default=None)
    return best if best is not None and alike(best) > _LIKE_ENOUGH else None
