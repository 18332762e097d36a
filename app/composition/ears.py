"""The recogniser that the settings name."""

import asyncio
from contextlib import AsyncExitStack

from app.settings import Settings
from schemas.errors import ConfigInvalid, RecognizerUnavailable
from services.asr import load
from services.observability import Metrics
from services.ports import Recognizer


async def recognizer(stack: AsyncExitStack, settings: Settings, metrics: Metrics) -> Recognizer:
    """Load it and warm it up; `stack` closes it. Raises ConfigInvalid, which names the settings that it came from."""
    named = f"ASR_MODEL={settings.asr_model} on TELLERLINE_ASR_DEVICE={settings.asr_device}"
    try:
        workers, device = settings.asr_workers, settings.asr_device
        made = await asyncio.to_thread(load, settings.asr_model, workers=workers, device=device)
        stack.push_async_callback(made.close)
        metrics.waiting.labels("decodes").set_function(lambda: made.waiting)
        await made.warm_up()
    except RecognizerUnavailable as error:
        raise ConfigInvalid(f"{named}: {error.message}") from error
    except (ValueError, RuntimeError) as error:  # CTranslate2's own words, of its variables and of the machine
        raise ConfigInvalid(f"{named}: {error}") from error
    return made
