"""pipecat-ai's pipeline on the latency corpus, in an environment of its own (deploy/lock/pipecat.txt).

Silero, our recogniser wrapped as its segmented STT service, the user aggregator with its default strategies.
Audio comes at real-time pace. One line of JSON a call: milliseconds from the last voiced sample to the moment at which
pipecat would ask its language model, and whether a turn ended before that sample.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import Frame, InputAudioRawFrame, LLMContextFrame, TranscriptionFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.settings import STTSettings
from pipecat.services.stt_service import SegmentedSTTService
from pipecat.utils.time import time_now_iso8601
from pipecat.workers.runner import WorkerRunner

sys.path.insert(0, str(Path(__file__).parents[2]))

from app.client import Microphone
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance, load, some, utterances
from schemas.audio import SAMPLE_RATE
from schemas.ids import Locale
from schemas.transcript import Decode
from services.asr import load as load_recognizer
from services.ports import Recognizer

TAIL_S = 6.0


class OurRecognizer(SegmentedSTTService):
    """The same model as tellerline's, as pipecat's STT service."""

    def __init__(self, recognizer: Recognizer, locale: str) -> None:
        super().__init__(settings=STTSettings(model="bundled", language=None), ttfs_p99_latency=0.3)
        self._recognizer = recognizer
        self._locale = Locale(locale)

    @property
    def wants_wav_segments(self) -> bool:
        """Raw PCM16."""
        return False

    async def run_stt(self, audio: bytes) -> AsyncGenerator[Frame, None]:
        """Decode a segment."""
        samples = np.frombuffer(audio, dtype="<i2").astype(np.float32) / 32768
        heard = await self._recognizer.transcribe(samples, self._locale, Decode.FINAL)
        if heard.text:
            yield TranscriptionFrame(heard.text, "caller", time_now_iso8601())


class Asked(FrameProcessor):
    """Where the language model would stand: notes when it is asked, and the words it would be asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.at: list[float] = []
        self.words: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Note and pass on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            self.at.append(time.monotonic())
            self.words.append(str(frame.context.get_messages()[-1].get("content", "")))
        await self.push_frame(frame, direction)


async def play(utterance: PlayedUtterance, recognizer: Recognizer) -> dict[str, object]:
    """One call."""
    asked = Asked()
    params = LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    user = LLMContextAggregatorPair(LLMContext(), user_params=params).user()
    pipeline = Pipeline([OurRecognizer(recognizer, utterance.locale), user, asked])
    rates = PipelineParams(audio_in_sample_rate=SAMPLE_RATE)
    worker = PipelineWorker(pipeline, params=rates, cancel_on_idle_timeout=False, enable_rtvi=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def on_started(_worker: PipelineWorker, _frame: Frame) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    async with asyncio.timeout(60):
        await started.wait()
    spoken = await speak(worker, utterance, asked)
    await worker.cancel()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            await running
    after = [at for at in asked.at if at >= spoken]
    return {
        "words": utterance.words,
        "voice": utterance.voice,
        "locale": utterance.locale,
        "pause_s": utterance.pause_s,
        "first_ms": (after[0] - spoken) * 1000 if after else None,
        "cut": len(after) < len(asked.at),
        "asked_ms": [(at - spoken) * 1000 for at in asked.at],
        "heard": asked.words,
    }


async def speak(worker: PipelineWorker, utterance: PlayedUtterance, asked: Asked) -> float:
    """Send every frame when it is due, until the words after the last sound were asked about; when that sound was."""
    microphone, started = Microphone(utterance.key), time.monotonic()
    microphone.say(np.concatenate((np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32), utterance.samples)))
    spoken = started + LEAD_S + utterance.voiced_s
    over = started + LEAD_S + utterance.samples.size / SAMPLE_RATE + TAIL_S
    while time.monotonic() < over and not any(at >= spoken for at in asked.at):
        await asyncio.sleep(max(0.0, started + microphone.due_s() - time.monotonic()))
        await worker.queue_frame(InputAudioRawFrame(microphone.frame(), SAMPLE_RATE, 1))
    return spoken


async def main() -> None:
    """Play the corpus and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0)
    arguments = parser.parse_args()
    logger.remove()
    logger.add(sys.stderr, level="ERROR")
    corpus, places = load(), asyncio.Semaphore(arguments.at_once)
    recognizer = load_recognizer()
    await recognizer.warm_up()

    async def one(utterance: PlayedUtterance) -> dict[str, object]:
        async with places:
            return await play(utterance, recognizer)

    played = [u for kind in ("simple", "paused") for u in some(utterances(corpus, kind), arguments.limit)]
    calls = await asyncio.gather(*(one(u) for u in played))
    arguments.out.write_text("\n".join(json.dumps(call, ensure_ascii=False) for call in calls), encoding="utf-8")
    await recognizer.close()


if __name__ == "__main__":
    asyncio.run(main())
