"""The `Recognizer` port on Whisper models: decodes off the event loop, and says nothing where nothing was said."""

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from rules.asr import asr_rules
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable, TellerlineError, TooLarge
from schemas.ids import Locale, language
from schemas.transcript import Decode, Hypothesis, Onward, Transcript, Wordings
from services.asr.decoder import Decoder
from services.asr.guards import Guard
from services.asr.named import told_by_sound
from services.asr.scheduler import DecodeScheduler

log = logging.getLogger(__name__)

LONGEST_S: Final = 60.0
_WARM_UP_S: Final = 1.0


class WhisperRecognizer:
    """A decoder for each language behind one scheduler of threads."""

    def __init__(self, decoders: Mapping[str, Decoder], scheduler: DecodeScheduler) -> None:
        self._decoders = dict(decoders)
        self._guards = {lang: Guard(asr_rules(lang)) for lang in decoders}
        self._scheduler = scheduler

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        """Decode `samples` (mono float32, 16 kHz). Raises RecognizerUnavailable, Busy, TooLarge."""
        lang = language(locale)
        if lang not in self._decoders:
            raise RecognizerUnavailable(f"no checkpoint for {lang:.8}")
        if samples.size > LONGEST_S * SAMPLE_RATE:
            raise TooLarge(f"an utterance is at most {LONGEST_S:.0f} s long")
        heard = await self._scheduler.run(decode, partial(self._decode, samples, locale, final=decode.final))
        weigh = partial(self.odds, samples, heard, decode=decode)
        return await told_by_sound(heard, wordings if decode.final else None, weigh)

    async def odds(
        self, samples: Samples, heard: Transcript, others: Sequence[str], *, decode: Decode
    ) -> tuple[float, ...] | None:
        """How well the sound fits each of `others`: natural-log odds against what was `heard`.

        Empty where nothing tells them, None where that failed.
        """
        decoder, texts = self._decoders[language(heard.locale)], (heard.text, *others)
        try:
            found = await self._scheduler.run(decode, partial(decoder.odds, samples, texts))
        except Exception as error:  # noqa: BLE001 - what was heard stands, whatever becomes of this
            log.warning("names were not weighed: %s", type(error).__name__)
            return None
        return found[1:]

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """Whether the speaker goes on after what was `heard`. It is as urgent as a partial; None if not known."""
        decoder = self._decoders[language(heard.locale)]
        try:
            return await self._scheduler.run(Decode.PARTIAL, partial(decoder.onward, samples, heard.text))
        except Exception as error:  # noqa: BLE001 - the longest wait is the safe one
            log.warning("an end was not looked at: %s", type(error).__name__)
            return None

    @property
    def waiting(self) -> int:
        """How many decodes wait for a thread."""
        return self._scheduler.waiting

    async def warm_up(self) -> None:
        """A final of each language, of noise too faint to hear: it does all that a partial does, and more."""
        noise = np.random.default_rng(0).normal(0, 1e-3, int(_WARM_UP_S * SAMPLE_RATE)).astype(np.float32)
        for decoder in self._decoders.values():
            await self._scheduler.run(Decode.FINAL, partial(decoder.decode, noise, final=True))

    async def close(self) -> None:
        """Cancel what waits and let the threads go."""
        self._scheduler.close()

    def _decode(self, samples: Samples, locale: Locale, *, final: bool) -> Transcript:
        """Runs in a worker thread."""
        lang = language(locale)
        guard = self._guards[lang]
        start = time.perf_counter()
        if guard.wordless(samples):
            return Transcript("", locale, (Hypothesis("", 0.0),), no_speech_prob=1.0)
        try:
            decoded = self._decoders[lang].decode(samples, final=final)
        except TellerlineError:
            raise
        except Exception as error:
            raise RecognizerUnavailable(f"decoding failed ({type(error).__name__})") from error
        kept = guard.keep(decoded, final=final)
        elapsed = (time.perf_counter() - start) * 1000
        # Where the CTC head testified that somebody spoke, the doubt that short words raise in the decoder is settled.
        none = 0.0 if decoded.witness is not None and kept[0].text else decoded.no_speech_prob
        return Transcript(kept[0].text, locale, kept, no_speech_prob=none, decode_ms=elapsed)
