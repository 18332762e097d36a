"""A livekit agent whose caller is a recording; a room of LiveKit's stands for `RecordedCaller` and `Loudspeaker` else.

Usage: with_livekit.py https://ADDRESS KEY question.wav answer.wav. KEY is the caller's token, the recording PCM16 at
24 kHz with one channel. Prints what was heard and said.
"""

import asyncio
import os
import sys
import time
import wave

from livekit import rtc
from livekit.agents import Agent, AgentSession
from livekit.agents.voice import io
from livekit.plugins.openai.realtime import RealtimeModel

RATE = 24_000
FRAME = RATE // 50
"""Samples of 20 ms."""


class RecordedCaller(io.AudioInput):
    """A microphone: silence, but for what is `asked`."""

    def __init__(self) -> None:
        super().__init__(label="recording")
        self.asked = b""
        self._next = time.monotonic()

    async def __anext__(self) -> rtc.AudioFrame:
        """The next 20 ms, when they are over."""
        self._next += FRAME / RATE
        await asyncio.sleep(max(0.0, self._next - time.monotonic()))
        piece, self.asked = self.asked[: 2 * FRAME], self.asked[2 * FRAME :]
        return rtc.AudioFrame(piece.ljust(2 * FRAME, b"\0"), RATE, 1, FRAME)


class Loudspeaker(io.AudioOutput):
    """A loudspeaker that keeps what it plays, and plays as fast as it comes."""

    def __init__(self) -> None:
        super().__init__(label="file", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=RATE)
        self.sound = bytearray()
        self._seconds = 0.0

    async def capture_frame(self, frame: rtc.AudioFrame) -> None:
        """Play a piece."""
        await super().capture_frame(frame)
        if not self._seconds:
            self.on_playback_started(created_at=time.time())  # noqa: TID251 - it has no clock of ours
        self.sound += bytes(frame.data)
        self._seconds += frame.duration

    def flush(self) -> None:
        """A reply is over."""
        super().flush()
        self._ended(interrupted=False)

    def clear_buffer(self) -> None:
        """A reply was stopped."""
        self._ended(interrupted=True)

    def _ended(self, *, interrupted: bool) -> None:
        if self._seconds:
            seconds, self._seconds = self._seconds, 0.0
            self.on_playback_finished(playback_position=seconds, interrupted=interrupted)


async def call(address: str, key: str, question: str, answer: str) -> None:
    """Be greeted, ask, and keep what was answered."""
    session = AgentSession(llm=RealtimeModel(base_url=f"{address}/v1", api_key=key))
    ear, mouth, replies = RecordedCaller(), Loudspeaker(), asyncio.Queue()
    session.input.audio, session.output.audio = ear, mouth
    session.on("user_input_transcribed", lambda heard: heard.is_final and print("caller:", heard.transcript))

    def added(event: object) -> None:
        if event.item.type == "message" and event.item.role == "assistant":
            print("bank:", event.item.text_content)
            replies.put_nowait(None)

    session.on("conversation_item_added", added)
    await session.start(Agent(instructions="The bank decides what is said."))
    session.generate_reply(instructions="Greet the caller.")
    await replies.get()
    with wave.open(question) as file:
        ear.asked = file.readframes(file.getnframes())
    await replies.get()
    with wave.open(answer, "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(mouth.sound)
    await session.aclose()


if __name__ == "__main__":
    asyncio.run(call(*sys.argv[1:]))
    sys.stdout.flush()
    os._exit(0)  # the framework's own threads keep the process otherwise
