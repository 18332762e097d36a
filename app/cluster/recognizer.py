"""The `Recognizer` port over recognisers on other processes and machines: only decodes cross, never a frame."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NoReturn

from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

from schemas.audio import Samples
from schemas.errors import Busy, RecognizerUnavailable, TellerlineError
from schemas.ids import Locale
from schemas.transcript import Decode, Onward, Transcript, Wordings
from services.asr.named import told_by_sound
from services.asr.scheduler import RETRY_AFTER_S

PATIENCE_S: Final = 5.0
"""Longest wait for a decode: where every replica is gone, callers are told rather than kept."""
WARM_S: Final = 60.0
"""Longest wait for a replica that is still loading its model."""
AGAIN_S: Final = 0.05


class HandleRecognizer:
    """Asks whichever replica has the shorter line. One that dies takes nothing along: another one decodes the same."""

    def __init__(self, handle: Any, patience_s: float = PATIENCE_S) -> None:
        self._handle = handle
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
        try:
            async with asyncio.timeout(self._patience_s):
                heard = await self._asked(self._handle.transcribe, samples, locale, decode)
        except TimeoutError:
            raise RecognizerUnavailable("no recogniser answered in time") from None
        weigh = partial(self._odds, samples, heard, decode=decode)
        return await told_by_sound(heard, wordings if decode.final else None, weigh)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """As the port says; None where no recogniser tells in time."""
        try:
            async with asyncio.timeout(self._patience_s):
                found: Onward | None = await self._asked(self._handle.onward, samples, heard)
        except (TimeoutError, TellerlineError):
            return None
        return found

    async def warm_up(self) -> None:
        """Wait until one replica answers: it is warm before its first decode. Raises RecognizerUnavailable."""
        try:
            async with asyncio.timeout(WARM_S):
                await self._handle.ready.remote()
        except (TimeoutError, RayActorError, RayTaskError) as error:
            raise RecognizerUnavailable(f"no recogniser is ready ({type(error).__name__})") from None

    async def close(self) -> None:
        """Ask no more; the replicas are others' too, and go on."""
        self._closed = True
        await self._handle.shutdown_async()

    async def _odds(
        self, samples: Samples, heard: Transcript, others: Sequence[str], *, decode: Decode
    ) -> tuple[float, ...]:
        """None where no recogniser tells in time: what was heard stands."""
        try:
            async with asyncio.timeout(self._patience_s):
                found: tuple[float, ...] = await self._asked(self._handle.odds, samples, heard, others, decode=decode)
        except (TimeoutError, TellerlineError):
            return ()
        return found

    async def _asked(self, what: Any, *given: object, **more: object) -> Any:
        """What one of the replicas answers."""
        while True:
            answer = what.remote(*given, **more)
            try:
                heard = await answer
            except asyncio.CancelledError:
                answer.cancel()
                raise
            except (RayActorError, DeploymentUnavailableError):  # a decode changes nothing: it may be done twice
                await asyncio.sleep(AGAIN_S)
            except BackPressureError:
                raise Busy("the recognisers' line is full", retry_after_s=RETRY_AFTER_S) from None
            except RayTaskError as error:
                _tell(error)
            else:
                return heard


def _tell(error: Any) -> NoReturn:
    """What a replica raised, as it would have been raised here; what it did not mean to raise is its fault alone."""
    if isinstance(error.cause, TellerlineError):
        raise error.cause from None
    raise RecognizerUnavailable(f"a recogniser failed ({type(error.cause).__name__})") from None
