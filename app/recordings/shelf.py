"""The sound of what was said, until the turn that it belongs to is written down."""

from collections import OrderedDict
from dataclasses import replace
from itertools import count
from typing import Final

import numpy as np

from schemas.audio import Samples
from schemas.transcript import Transcript

_WAITING: Final = 64
"""Final decodes, of all calls together, whose samples wait for their turn; the oldest make room."""


class SampleShelf:
    """The samples of final decodes by the number that each transcript carries, whatever else becomes of it."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, Samples] = OrderedDict()
        self._numbers = count(1)

    def put(self, transcript: Transcript, samples: Samples) -> Transcript:
        """Keep a decode's samples. Returns its transcript with their number."""
        number = next(self._numbers)
        self._waiting[number] = samples.copy()
        if len(self._waiting) > _WAITING:
            self._waiting.popitem(last=False)
        return replace(transcript, decodes=(number,))

    def take(self, number: int) -> Samples | None:
        """The samples of a decode, which leave the shelf."""
        return self._waiting.pop(number, None)


class TurnSound:
    """Finds one call's turns on the shelf. The turn before is kept, since the caller may go on with it."""

    def __init__(self, shelf: SampleShelf) -> None:
        self._shelf = shelf
        self._before: dict[int, Samples | None] = {}

    def of(self, transcript: Transcript) -> Samples | None:
        """All that a turn was heard in, end to end; None where it wasn't heard, or part of it is gone."""
        taken = {n: self._before[n] if n in self._before else self._shelf.take(n) for n in transcript.decodes}
        self._before = taken
        parts = [samples for samples in taken.values() if samples is not None]
        return np.concatenate(parts) if parts and len(parts) == len(taken) else None
