"""What hears: the recogniser that the settings name, decoders of what comes compressed, and voice activity."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack

from app.settings import Settings
from schemas.errors import ConfigInvalid, RecognizerUnavailable
from services.asr import load
from services.asr.recognizer import WhisperRecognizer
from services.audio.decoder_pool import DecoderPool
from services.audio.surplus import Surplus
from services.audio.vad import SileroVad
from services.observability import Metrics
from services.ports import Recognizer

Loading = Future[WhisperRecognizer]
Given = Recognizer | Loading


def begun(settings: Settings) -> Loading:
    """Load it on a thread from now on: to unpack weights takes as long as to import the rest, on another core."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="ears")
    loading = thread.submit(load, settings.asr_model, workers=settings.asr_workers, device=settings.asr_device)
    thread.shutdown(wait=False)
    return loading


async def recognizer(
    stack: AsyncExitStack, settings: Settings, metrics: Metrics, given: Given | None = None
) -> Recognizer:
    """The one that is given; else load it, or go on with that, and warm it up; `stack` closes it.

    Raises ConfigInvalid, which names the settings that it came from.
    """
    if not isinstance(given, Future | None):
        return given
    named = f"ASR_MODEL={settings.asr_model} on TELLERLINE_ASR_DEVICE={settings.asr_device}"
    try:
        made = await asyncio.wrap_future(given or begun(settings))
        stack.push_async_callback(made.close)
        metrics.waiting.labels("decodes").set_function(lambda: made.waiting)
        await made.warm_up()
    except RecognizerUnavailable as error:
        raise ConfigInvalid(f"{named}: {error.message}") from error
    except (ValueError, RuntimeError) as error:  # CTranslate2's own words, of its variables and of the machine
        raise ConfigInvalid(f"{named}: {error}") from error
    return made


async def decoder_pool(stack: AsyncExitStack) -> DecoderPool:
    """Warm decoders; `stack` closes them."""
    decoders = DecoderPool()
    stack.push_async_callback(decoders.close)
    await decoders.warm_up()
    return decoders


def voice_activity(stack: AsyncExitStack) -> SileroVad:
    """Voice activity of all calls; `stack` closes it."""
    vad = SileroVad(surplus=Surplus())
    stack.callback(vad.close)
    return vad
