"""An app made with pipecat and its OpenAI Realtime service, as its documentation builds it.

Usage: pipecat_app.py BASE KEY SOUND TURNS. SOUND is PCM16 at 24 kHz. Prints what the pipeline saw, as JSON.
"""

import asyncio
import contextlib
import json
import os
import sys
import time
from pathlib import Path

from loguru import logger
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMTextFrame,
    TranscriptionFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner

RATE = 24_000


class Seen(FrameProcessor):
    """Keeps what passes."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.done = 0
        self.transcripts: list[str] = []
        self.errors: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Keep and pass on."""
        await super().process_frame(frame, direction)
        match frame:
            case LLMTextFrame():
                self.text += frame.text + " "
            case LLMFullResponseEndFrame():
                self.done += 1
            case TranscriptionFrame():
                self.transcripts.append(frame.text)
            case ErrorFrame():
                self.errors.append(frame.error)
        await self.push_frame(frame, direction)


def realtime(base: str, key: str) -> OpenAIRealtimeLLMService:
    """The service, given our address."""
    words = events.AudioConfiguration(input=events.AudioInput(transcription=events.InputAudioTranscription()))
    return OpenAIRealtimeLLMService(
        api_key=key,
        base_url=f"{base.replace('http', 'ws', 1)}/v1/realtime",
        settings=OpenAIRealtimeLLMService.Settings(
            system_instruction="You are a bank. Whatever is asked, say yes.",
            session_properties=events.SessionProperties(audio=words),
        ),
    )


async def nonsense(service: OpenAIRealtimeLLMService) -> None:
    """Events that fit nothing and end no call of pipecat's: there is no sound, no reply and no such item."""
    await service.send_client_event(events.InputAudioBufferCommitEvent())
    await service.send_client_event(events.ResponseCancelEvent())
    with contextlib.suppress(Exception):
        async with asyncio.timeout(10):
            await service.retrieve_conversation_item("nobody")


async def main(base: str, key: str, sound: bytes, turns: int) -> None:
    """The whole call."""
    service = realtime(base, key)
    before, after = Seen(), Seen()
    rates = PipelineParams(audio_in_sample_rate=RATE)
    worker = PipelineWorker(Pipeline([before, service, after]), params=rates, cancel_on_idle_timeout=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def on_started(_worker: PipelineWorker, _frame: Frame) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    async with asyncio.timeout(60):
        await started.wait()
    await worker.queue_frame(LLMContextFrame(LLMContext([{"role": "developer", "content": "Greet the caller."}])))
    await until(lambda: after.done == 1, after)
    greeting = after.text
    for turn in range(turns):
        for at in range(0, len(sound), 4_800):
            await worker.queue_frame(InputAudioRawFrame(sound[at : at + 4_800], RATE, 1))
        await until(lambda turn=turn: after.done == turn + 2 and len(before.transcripts) == turn + 1, after)
    await nonsense(service)
    alive = service._receive_task is not None and not service._receive_task.done()
    errors = before.errors + after.errors
    told = {"greeting": greeting, "text": after.text, "transcripts": before.transcripts, "errors": errors}
    print(json.dumps({**told, "alive": alive}), flush=True)
    await worker.cancel()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(5):
            await running


async def until(true, seen: Seen) -> None:
    """Wait for it."""
    ends = time.monotonic() + 60
    while not true():
        if time.monotonic() > ends:
            raise TimeoutError(f"done {seen.done}, text {seen.text!r}, errors {seen.errors}")
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    logger.remove()
    logger.add(sys.stderr, level="ERROR")
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]).read_bytes(), int(sys.argv[4])))
    except Exception as failed:  # noqa: BLE001 - whatever it is, the process has to end
        logger.exception(f"the app failed: {failed}")
        os._exit(1)
    os._exit(0)  # threads of the framework's own keep the process otherwise
