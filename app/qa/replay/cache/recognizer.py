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
"""Kept of one sound, a set of wordings each; the newest stay."""
CHECKED: Final = 64
"""One kept decode in so many is made again and has to be the same."""
_NEAR: Final = 1e-3
"""By which log-probabilities may differ: their last bits are no decision's."""


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How a run that `begun` at a timestamp uses a folder; `anew` takes nothing from there, but keeps.

    What was heard since then is no earlier run's and decoded again: a run that was stopped is measured as one that
    was not.
    """

    folder: Path
    begun: float
    anew: bool = False


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """What a sound was taken for in the end, where these wordings were offered for its first transcript; and when."""

    at: float
    wordings: tuple[str, ...]
    transcript: Transcript


@dataclass(frozen=True, slots=True)
class CachedDecode:
    """What was `heard` at first, whether wordings for that were `asked` for, and what came of each set of them."""

    heard: Transcript
    asked: bool
    answers: tuple[CachedAnswer, ...]


@dataclass(frozen=True, slots=True)
class CachedOnward:
    """Whether a speaker goes on, and when that was told."""

    at: float
    onward: Onward


_DECODE: Final = TypeAdapter(CachedDecode)
_ONWARD: Final = TypeAdapter(CachedOnward)
_TRANSCRIPT: Final = TypeAdapter(Transcript)


class CachingRecognizer:
    """`hits` counts what was not decoded. The fingerprint is of all that `inner` depends on (`fingerprint`).

    Only what was heard for sure is kept: no error, no weighing that failed, nothing that was cancelled.
    """

    def __init__(self, inner: Recognizer, fingerprint: str, use: CacheUse, clock: Clock) -> None:
        self._inner = inner
        self._fingerprint = fingerprint
        self._use = use
        self._clock = clock
        self._cache = TranscriptCache(use.folder)
        self.hits = 0

    async def transcribe(
        self, samples: Samples, locale: Locale, decode: Decode, *, wordings: Wordings | None = None
    ) -> Transcript:
        """See `Recognizer`. Raises what it does, and InternalFault where what is kept isn't what is heard."""
        digest = self._digest(samples, "transcribe", locale, decode.name, wordings is not None)
        kept = self._kept(digest)
        found = None if kept is None else self._answer(kept, wordings)
        if found is not None and not self._checked(digest):
            self.hits += 1
            return found
        offered: list[tuple[Transcript, tuple[str, ...]]] = []

        def noted(heard: Transcript) -> tuple[str, ...]:
            assert wordings is not None
            offered.append((heard, tuple(wordings(heard))))
            return offered[-1][1]

        made = await self._inner.transcribe(samples, locale, decode, wordings=noted if wordings else None)
        if found is not None and not _alike(found, made):
            raise InternalFault("a transcript that was kept is not what is heard now: --hear-anew")
        if not made.unweighed and len(offered) <= 1:
            heard, others = offered[0] if offered else (made, ())
            answer = CachedAnswer(self._clock.now().timestamp(), others, _timeless(made))
            self._keep(digest, kept, CachedDecode(_timeless(heard), bool(offered), (answer,)))
        return made

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """See `Recognizer`. What could not be told is not kept."""
        words = _TRANSCRIPT.dump_python(_timeless(heard), mode="json")
        digest = self._digest(samples, "onward", words)
        data = None if self._use.anew else self._cache.read(digest)
        try:
            kept = None if data is None else _ONWARD.validate_json(data)
        except ValidationError:
            kept = None
        if kept is not None and kept.at < self._use.begun:
            self.hits += 1
            return kept.onward
        told = await self._inner.onward(samples, heard)
        if told is not None:
            self._cache.write(digest, _ONWARD.dump_json(CachedOnward(self._clock.now().timestamp(), told)))
        return told

    async def warm_up(self) -> None:
        """See `Recognizer`."""
        await self._inner.warm_up()

    async def close(self) -> None:
        """See `Recognizer`."""
        await self._inner.close()

    def _digest(self, samples: Samples, *asked: object) -> bytes:
        """Of all that a decode depends on. It is a secret, for it opens what is kept."""
        shape = [samples.dtype.str, list(samples.shape), self._fingerprint]
        head = orjson.dumps([*shape, *asked])
        return hashlib.sha256(hashlib.sha256(head).digest() + np.ascontiguousarray(samples).tobytes()).digest()

    def _kept(self, digest: bytes) -> CachedDecode | None:
        data = None if self._use.anew else self._cache.read(digest)
        try:
            return None if data is None else _DECODE.validate_json(data)
        except ValidationError:
            return None

    def _answer(self, kept: CachedDecode, wordings: Wordings | None) -> Transcript | None:
        """What an earlier run made of these very wordings."""
        earlier = [answer for answer in kept.answers if answer.at < self._use.begun]
        if not earlier:
            return None
        others = tuple(wordings(kept.heard)) if kept.asked and wordings is not None else ()
        return next((answer.transcript for answer in earlier if answer.wordings == others), None)

    def _checked(self, digest: bytes) -> bool:
        """Whether it is decoded again all the same: other ones in each run, the same where a run goes on."""
        drawn = hashlib.sha256(digest + str(self._use.begun).encode()).digest()
        return int.from_bytes(drawn[:4]) % CHECKED == 0

    def _keep(self, digest: bytes, before: CachedDecode | None, made: CachedDecode) -> None:
        (now,) = made.answers
        if before is not None and (before.heard, before.asked) == (made.heard, made.asked):
            others = tuple(answer for answer in before.answers if answer.wordings != now.wordings)
            made = replace(made, answers=(*others, now)[-MOST_ANSWERS:])
        self._cache.write(digest, _DECODE.dump_json(made))


def _timeless(transcript: Transcript) -> Transcript:
    """Without how long it took, and what somebody numbered it by: neither is of another time."""
    return replace(transcript, decode_ms=0.0, decodes=())


def _alike(kept: Transcript, made: Transcript) -> bool:
    """Whether two transcripts lead to the same decisions."""
    said = [(t.locale, t.whole, t.named, t.source, [h.text for h in t.hypotheses]) for t in (kept, made)]
    old, new = ([t.no_speech_prob, *(h.avg_logprob for h in t.hypotheses)] for t in (kept, made))
    return said[0] == said[1] and all(abs(a - b) <= _NEAR for a, b in zip(old, new, strict=True))
