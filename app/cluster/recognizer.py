"""The `Recognizer` port over recognisers on other processes and machines: only decodes cross, never a frame."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

from app.cluster.replicas import Replicas
from schemas.audio import Samples
from schemas.errors import RecognizerUnavailable, TellerlineError
from schemas.ids import Locale
from schemas.transcript import Decode, Onward, Transcript, Wordings
from services.asr.named import told_by_sound

PATIENCE_S: Final = 5.0
"""Longest wait for a decode: where every replica is gone, callers are told rather than kept."""


class HandleRecognizer:
    """Asks whichever replica has the shorter line. One that dies takes nothing along: another one decodes the same."""

    def __init__(self, handle: Any, patience_s: float = PATIENCE_S) -> None:
        self._replicas = Replicas(handle, "recogniser", RecognizerUnavailable)
        self._patience_s = patience_s
        self._closed = False

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        """Decode `samples` (mono float32, 16 kHz). Raises RecognizerUnavailable, Busy, TooLarge."""
        if self._closed:
            raise RecognizerUnavailable("the recogniser is closed")
        heard: Transcript = await self._asked("transcribe", samples, locale, decode)
        weigh = partial(self._odds, samples, heard, decode=decode)
        return await told_by_sound(heard, wordings if decode.final else None, weigh)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """As the port says; None where no recogniser tells in time."""
        found: Onward | None = None
        with suppress(TellerlineError):
            found = await self._asked("onward", samples, heard)
        return found

    async def warm_up(self) -> None:
        """Wait until one replica answers: it is warm before its first decode. Raises RecognizerUnavailable."""
        await self._replicas.warm()

    async def close(self) -> None:
        """Ask no more; the replicas are others' too, and go on."""
        self._closed = True
        await self._replicas.handle.shutdown_async()

    async def _odds(
        self, samples: Samples, heard: Transcript, others: Sequence[str], *, decode: Decode
    ) -> tuple[float, ...] | None:
        """None where no recogniser tells in time: what was heard stands."""
        found: tuple[float, ...] | None = None
        with suppress(TellerlineError):
            found = await self._asked("odds", samples, heard, others, decode=decode)
        return found

    async def _asked(self, what: str, *given: object, **more: object) -> Any:
        return await self._replicas.asked(what, *given, within_s=self._patience_s, **more)
