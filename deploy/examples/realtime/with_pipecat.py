"""A pipecat application whose caller is a recording: a transport of pipecat's stands for `ear` and `mouth` else.

Usage: with_pipecat.py https://ADDRESS KEY question.wav answer.wav. KEY is the caller's token, the recording PCM16 at
24 kHz with one channel. Prints what was heard and said.
"""

import asyncio
import os
import sys
import wave

from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMTextFrame,
    TranscriptionFrame,
    TTSAudioRawFrame,
    TTSTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.realtime import events
from pipecat.services.openai.realtime.llm import OpenAIRealtimeLLMService
from pipecat.workers.runner import WorkerRunner

RATE = 24_000
FRAME = RATE // 50
"""Samples of 20 ms."""


class PassingWords(FrameProcessor):
    """Prints the words that pass, and keeps the sound of replies."""

    def __init__(self) -> None:
        super().__init__()
        self.replies: asyncio.Queue[None] = asyncio.Queue()
        self.sound = bytearray()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Look at a frame and pass it on."""
        await super().process_frame(frame, direction)
        match frame:
            case TranscriptionFrame():
                print("caller:", frame.text)
            case LLMTextFrame() | TTSTextFrame():
                print("bank:", frame.text)
            case TTSAudioRawFrame():
                self.sound += frame.audio
            case LLMFullResponseEndFrame():
                self.replies.put_nowait(None)
            case ErrorFrame():
                print("error:", frame.error)
        await self.push_frame(frame, direction)


def service(address: str, key: str) -> OpenAIRealtimeLLMService:
    """Pipecat's own service, given our address; it wants to be told what the caller said."""
    told = events.AudioConfiguration(input=events.AudioInput(transcription=events.InputAudioTranscription()))
    return OpenAIRealtimeLLMService(
        api_key=key,
        base_url=f"{address.replace('http', 'ws', 1)}/v1/realtime",
        settings=OpenAIRealtimeLLMService.Settings(session_properties=events.SessionProperties(audio=told)),
    )


async def call(address: str, key: str, question: str, answer: str) -> None:
    """Be greeted, ask, and keep what was answered."""
    with wave.open(question) as file:
        asked = file.readframes(file.getnframes())
    ear, mouth = PassingWords(), PassingWords()
    params = PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)
    worker = PipelineWorker(Pipeline([ear, service(address, key), mouth]), params=params, cancel_on_idle_timeout=False)
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    running = asyncio.create_task(runner.run())
    await worker.queue_frame(LLMContextFrame(LLMContext([{"role": "developer", "content": "Greet the caller."}])))
    await mouth.replies.get()
    for at in range(0, len(asked), 2 * FRAME):
        await worker.queue_frame(InputAudioRawFrame(asked[at : at + 2 * FRAME], RATE, 1))
        await asyncio.sleep(FRAME / RATE)
    await mouth.replies.get()
    with wave.open(answer, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(mouth.sound)
    await worker.cancel()
    await asyncio.wait([running], timeout=5)


if __name__ == "__main__":
    asyncio.run(call(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the framework's own threads keep the process otherwise
