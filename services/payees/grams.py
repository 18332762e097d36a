"""Retrieval: which of some 20,000 sound strings share the most with what was heard, in a fraction of a millisecond.

An inverted index over pairs of neighbouring sounds (and of sounds two apart) in a coarse alphabet. Every posting list
is a slice of one array, so a query is one gather and one weighted count; codes that many strings share are rows.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

_ALPHABET: Final = 16
_CONSONANTS: Final = {kind: number for number, kind in enumerate("PTKFSCNLWYH", start=1)}
_VOWELS: Final = {
    "i": 12,
    "j": 12,
    "e": 12,
    "E": 12,
    "a": 13,
    "v": 13,
    "x": 13,
    "o": 14,
    "u": 14,
    "y": 15,
    "w": 15,
    "q": 15,
}
_BOUNDARY: Final = "##"
CODES: Final = 2 * _ALPHABET * _ALPHABET
_EVEN: Final = 4.0
"""Codes that every string is taken to have besides, so that short ones are not preferred."""
_FAR: Final = 0.35
"""Below this share of the best score a string is not worth comparing."""

_COMMON: Final = 1 / 8
"""A code that more than this share of the strings have is kept as a row."""

_FULL: Final = 32_000
"""What a sum of common codes may come to in 16 bits."""
Ints = npt.NDArray[np.intp]
"""The machine's own index type: `bincount` would convert any other on every query."""


def _tables() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    kinds, details = np.zeros(128, np.uint8), np.zeros(128, np.uint8)
    for kind, number in _CONSONANTS.items():
        kinds[ord(kind)] = number
    for detail, number in _VOWELS.items():
        details[ord(detail)] = number
    return kinds, details


_KINDS, _DETAILS = _tables()


def _sounds(text: str) -> npt.NDArray[np.uint16]:
    """The coarse sounds of a sound string: 0 boundary, 1–11 consonants, 12–15 vowels."""
    pairs = np.frombuffer(text.encode("ascii"), np.uint8)
    kinds, details = pairs[0::2], pairs[1::2]
    return np.where(kinds == ord("V"), _DETAILS[details], _KINDS[kinds]).astype(np.uint16)


def _codes(sounds: npt.NDArray[np.uint16]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """Codes of neighbouring pairs and of pairs two apart; the n-th begins at the n-th sound."""
    return sounds[:-1] * _ALPHABET + sounds[1:], _ALPHABET * _ALPHABET + sounds[:-2] * _ALPHABET + sounds[2:]


class Grams:
    """An immutable index over sound strings; results are positions in the sequence it was built from."""

    def __init__(self, sounds: Sequence[str]) -> None:
        self._size = len(sounds)
        lengths = np.fromiter((len(s) for s in sounds), np.int32, self._size) // 2 + 1
        stream = _sounds(_BOUNDARY + _BOUNDARY.join(sounds) + _BOUNDARY)
        owner = np.repeat(np.arange(self._size, dtype=np.intp), lengths)
        near, far = _codes(stream)
        far, far_owner = far[: len(owner) - 1], owner[:-1]
        inside = stream[1 : len(far) + 1] != 0
        codes = np.concatenate((near[: len(owner)], far[inside]))
        owners = np.concatenate((owner, far_owner[inside]))
        counts = np.bincount(codes, minlength=CODES)
        self._weight = np.log1p(self._size / (1.0 + counts))
        self._norm = (1.0 / np.sqrt(np.bincount(owners, minlength=self._size) + _EVEN)).astype(np.float32)
        common = counts > self._size * _COMMON
        self._rows = _rows(codes, owners, common, self._size)
        self._most = max([int(row.max()) for row in self._rows.values()], default=1)
        rare = ~common[codes]
        codes, owners = codes[rare], owners[rare]
        self._postings: Ints = owners[np.argsort(codes, kind="stable")]
        self._counts = np.where(common, 0, counts)
        self._ends = np.cumsum(self._counts)

    def __len__(self) -> int:
        return self._size

    def nearest(self, heard: Sequence[tuple[str, float]], limit: int, least: float = 0.0) -> Ints:
        """Positions of at most `limit` strings nearest to any of the weighted sound strings, in no order.

        None where not one of them has about `least` of what the first sound string itself would have (0 … 1).
        """
        if not heard:
            return np.zeros(0, np.intp)
        asked = _weights(heard)
        wanted = sorted(asked)
        if not self._size:
            return np.zeros(0, np.intp)
        weights = np.array([asked[code] for code in wanted]) * self._weight[wanted]
        scores = self._counted(weights, wanted)
        scores += self._added(weights, wanted)
        scores *= self._norm
        most = float(scores.max())
        if most * sqrt(len(heard[0][0]) + _EVEN) < least * float(weights.sum()):
            return np.zeros(0, np.intp)
        near = (scores > most * _FAR).nonzero()[0]
        if len(near) > limit:
            near = near[scores[near].argpartition(-limit)[-limit:]]
        return near

    def _counted(self, weights: npt.NDArray[np.float64], wanted: list[int]) -> npt.NDArray[np.float32]:
        """What the rare codes give to each string."""
        counts, ends = self._counts[wanted], self._ends[wanted]
        found = [self._postings[end - count : end] for count, end in zip(counts.tolist(), ends.tolist(), strict=True)]
        gains = np.repeat(weights, counts)
        return np.bincount(np.concatenate(found), weights=gains, minlength=self._size).astype(np.float32)

    def _added(self, weights: npt.NDArray[np.float64], wanted: list[int]) -> npt.NDArray[np.float32]:
        """What the common codes give to each string, added up in numbers that are as small as will do."""
        rows = [row for code in wanted if (row := self._rows.get(code)) is not None]
        shares = weights[[code in self._rows for code in wanted]]
        scale = _FULL / max(1e-9, float(shares.sum()) * self._most)
        total, gain = np.zeros(self._size, np.int16), np.empty(self._size, np.int16)
        for row, weight in zip(rows, (shares * scale).astype(np.int16), strict=True):
            np.multiply(row, weight, out=gain)
            np.add(total, gain, out=total)
        added: npt.NDArray[np.float32] = np.multiply(total, np.float32(1.0 / scale), dtype=np.float32)
        return added


def _rows(
    codes: npt.NDArray[np.uint16], owners: Ints, common: npt.NDArray[np.bool_], size: int
) -> dict[int, npt.NDArray[np.int16]]:
    """How often each string has each common code: a row a code, for adding rows beats counting long postings."""
    place = np.cumsum(common) - 1
    chosen = common[codes]
    cells = place[codes[chosen]] * size + owners[chosen]
    count = int(common.sum())
    table = np.bincount(cells, minlength=count * size).astype(np.int16).reshape(count, size)
    return dict(zip(np.flatnonzero(common).tolist(), table, strict=True))


def _weights(heard: Sequence[tuple[str, float]]) -> dict[int, float]:
    """How much each code counts: the sum over the strings that have it. Of a few sounds told sooner without arrays."""
    found: dict[int, float] = {}
    for sound, weight in heard:
        before, last = 0, 0
        for kind, detail in zip(sound[::2] + "#", sound[1::2] + "#", strict=True):
            here = _VOWELS.get(detail, 0) if kind == "V" else _CONSONANTS.get(kind, 0)
            codes = (_ALPHABET * last + here, _ALPHABET * (_ALPHABET + before) + here)
            for code in codes if last else codes[:1]:
                found[code] = found.get(code, 0.0) + weight
            before, last = last, here
    return found
