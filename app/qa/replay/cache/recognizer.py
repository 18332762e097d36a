"""A recogniser that decodes nothing twice: what another run has heard in the same sound is taken from there."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from pydantic import TypeAdapter, ValidationError

from app.qa.replay.cache.store import TranscriptCache
from schemas.audio import Samples
from schemas.errors import InternalFault
from schemas.ids import Locale
from schemas.transcript import Decode, Onward, Transcript, Wordings
from services.ports import Clock, Recognizer

MOST_ANSWERS: Final = 8
"""Kept of one sound; the newest stay."""
CHECKED: Final = 64
"""One kept decode in so many is made again and has to be the same."""
_NEAR: Final = 1e-3
"""By which log-probabilities may differ: their last bits are no decision's."""


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How a run that `begun` at a timestamp uses a folder; `anew` takes nothing from there, but keeps.

    What was heard since is no earlier run's, and decoded again: a run that was stopped is measured as a whole one.
    """

    folder: Path
    begun: float
    anew: bool = False


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """What came of a sound where these wordings were offered for what was heard first; and when."""

    at: float
    wordings: tuple[str, ...]
    made: Transcript | Onward


@dataclass(frozen=True, slots=True)
class CachedDecode:
    """What was `heard` at first, whether wordings for that were `asked` for, and what came of each set of them."""

    heard: Transcript
    asked: bool
    answers: tuple[CachedAnswer, ...]


_DECODE: Final = TypeAdapter(CachedDecode)


class CachingRecognizer:
    """`hits` counts what was not decoded. The `fingerprint` is of all that `inner` depends on.

    Only what was heard for sure is kept: no error, no weighing that failed, nothing that was cancelled.
    """

    def __init__(self, inner: Recognizer, fingerprint: str, use: CacheUse, clock: Clock) -> None:
        self._inner, self._fingerprint, self._use, self._clock = inner, fingerprint, use, clock
        self._cache = TranscriptCache(use.folder)
        self.hits = 0

    async def transcribe(
        self, samples: Samples, locale: Locale, decode: Decode, *, wordings: Wordings | None = None
    ) -> Transcript:
        """See `Recognizer`. Raises what it does, and InternalFault where what is kept isn't what is heard."""
        digest = self._digest(samples, "transcribe", locale, decode.name, wordings is not None)
        kept = self._kept(digest)
        found = self._found(kept, wordings)
        if isinstance(found, Transcript) and not self._checked(digest):
            self.hits += 1
            return found
        offered: list[tuple[Transcript, tuple[str, ...]]] = []

        def noted(heard: Transcript) -> tuple[str, ...]:
            offered.append((_timeless(heard), wordings(heard) if wordings else ()))
            return offered[-1][1]

        made = await self._inner.transcribe(samples, locale, decode, wordings=noted if wordings else None)
        if isinstance(found, Transcript) and not _alike(found, made):
            raise InternalFault("a transcript that was kept is not what is heard now: --fresh --hear-anew")
        if not made.unweighed:
            heard, others = offered[0] if offered else (_timeless(made), ())
            self._keep(digest, kept, CachedDecode(heard, bool(offered), (self._answer(_timeless(made), others),)))
        return made

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """See `Recognizer`. What could not be told is not kept."""
        heard = _timeless(heard)
        digest = self._digest(samples, "onward", heard)
        if isinstance(found := self._found(self._kept(digest), None), Onward):
            self.hits += 1
            return found
        told = await self._inner.onward(samples, heard)
        if told is not None:
            self._keep(digest, None, CachedDecode(heard, False, (self._answer(told, ()),)))
        return told

    async def warm_up(self) -> None:
        """See `Recognizer`."""
        await self._inner.warm_up()

    async def close(self) -> None:
        """See `Recognizer`."""
        await self._inner.close()

    def _digest(self, samples: Samples, *asked: object) -> bytes:
        """Of all that a decode depends on. It is a secret, for it opens what is kept."""
        head = orjson.dumps([samples.dtype.str, list(samples.shape), self._fingerprint, *asked])
        return hashlib.sha256(hashlib.sha256(head).digest() + np.ascontiguousarray(samples).tobytes()).digest()

    def _kept(self, digest: bytes) -> CachedDecode | None:
        data = None if self._use.anew else self._cache.read(digest)
        try:
            return None if data is None else _DECODE.validate_json(data)
        except ValidationError:
            return None

    def _found(self, kept: CachedDecode | None, wordings: Wordings | None) -> Transcript | Onward | None:
        """What an earlier run made of these very wordings."""
        earlier = [answer for answer in kept.answers if answer.at < self._use.begun] if kept else []
        if kept is None or not earlier:
            return None
        others = wordings(kept.heard) if kept.asked and wordings else ()
        return next((answer.made for answer in earlier if answer.wordings == others), None)

    def _checked(self, digest: bytes) -> bool:
        """Whether it is decoded again all the same: other ones in each run, the same where a run goes on."""
        drawn = hashlib.sha256(digest + str(self._use.begun).encode()).digest()
        return int.from_bytes(drawn[:8]) % CHECKED == 0

    def _answer(self, made: Transcript | Onward, others: tuple[str, ...]) -> CachedAnswer:
        return CachedAnswer(self._clock.now().timestamp(), others, made)

    def _keep(self, digest: bytes, before: CachedDecode | None, made: CachedDecode) -> None:
        (now,) = made.answers
        if before is not None and (before.heard, before.asked) == (made.heard, made.asked):
            others = tuple(answer for answer in before.answers if answer.wordings != now.wordings)
            made = replace(made, answers=(*others, now)[-MOST_ANSWERS:])
        self._cache.write(digest, _DECODE.dump_json(made))


def _timeless(transcript: Transcript) -> Transcript:
    """Without how long it took, and what somebody numbered it by."""
    return replace(transcript, decode_ms=0.0, decodes=())


def _alike(kept: Transcript, made: Transcript) -> bool:
    """Whether two transcripts lead to the same decisions."""
    said = [(t.locale, t.whole, t.named, t.source, [h.text for h in t.hypotheses]) for t in (kept, made)]
    old, new = ([t.no_speech_prob, *(h.avg_logprob for h in t.hypotheses)] for t in (kept, made))
    return said[0] == said[1] and all(abs(a - b) <= _NEAR for a, b in zip(old, new, strict=True))
