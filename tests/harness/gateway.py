"""The calls' route on a real socket, with fakes behind it; and a client that keeps what it hears."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from fastapi import FastAPI, WebSocket
from websockets.asyncio.client import ClientConnection, connect

from app.client import SOUND
from app.transports.live.deps import CallDeps
from app.transports.live.lease import Admitted
from app.transports.mobile import router
from app.transports.realtime import door
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import Unauthenticated
from schemas.ids import CallId, CustomerId, Locale
from services.audio.codec import encode_pcm16
from services.audio.files import read_file
from services.audio.vad import SileroVad
from services.guard.admission import Admission
from services.guard.shares import Allowance, Shares
from services.observability.metrics import Metrics
from services.ports import Synthesizer
from services.timing.clock import SystemClock
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.turn_handler import FakeTurnHandler
from tests.harness.listening import listening

AUDIO = Path(__file__).parent.parent / "audio"
Event = dict[str, Any]


@lru_cache(maxsize=16)
def clip(name: str) -> Samples:
    """A recorded utterance of tests/audio."""
    return read_file((AUDIO / f"{name}.opus").read_bytes())


def hiss(seconds: float, level: float = 1e-4, seed: int = 7) -> Samples:
    """The line's own noise."""
    return np.random.default_rng(seed).normal(0, level, round(seconds * SAMPLE_RATE)).astype(np.float32)


def line(*parts: Samples | float) -> Samples:
    """Utterances and pauses (in seconds) in a row, over the line's noise."""
    whole = np.concatenate([hiss(part) * 0 if isinstance(part, float) else part for part in parts])
    return whole + hiss(whole.size / SAMPLE_RATE)[: whole.size]


@lru_cache(maxsize=1)
def vad() -> SileroVad:
    return SileroVad()


@dataclass
class Gateway:
    """A running gateway and the fakes behind it."""

    url: str
    recognizer: FakeRecognizer
    handlers: list[FakeTurnHandler]
    admission: Admission
    metrics: Metrics

    @property
    def handler(self) -> FakeTurnHandler:
        return self.handlers[-1]


async def _authenticated(websocket: WebSocket, seconds: float | None) -> Admitted:
    if websocket.headers.get("authorization") == "Bearer wrong":
        raise Unauthenticated("the token does not verify")
    return Admitted(CustomerId("c1"), seconds)


async def _nothing_is_recorded(_call: CallId, _agreed: bool) -> None:
    """No recordings are kept."""


async def _verified(token: str) -> Admitted:
    if not token.startswith("good"):
        raise Unauthenticated("the token does not verify")
    return Admitted(CustomerId(token.partition(" ")[2] or "c1"), 60.0)


@asynccontextmanager
async def gateway(
    words: Callable[[float], str],
    handler: Callable[[], FakeTurnHandler] = FakeTurnHandler,
    *,
    calls: int = 64,
    call_seconds: float = 60.0,
    delay_s: float = 0.0,
    token_seconds: float | None = None,
    synthesizer: Synthesizer | None = None,
) -> AsyncIterator[Gateway]:
    metrics = Metrics()
    running = Gateway("", FakeRecognizer(words, delay_s), [], Admission(calls, metrics), metrics)

    async def open_call(_customer: CustomerId, _call: CallId, _named: Locale | None) -> FakeTurnHandler:
        running.handlers.append(handler())
        return running.handlers[-1]

    deps = CallDeps(
        running.admission,
        Shares(Allowance(1000, 100_000, 100_000, 100_000), time.monotonic),
        lambda websocket: _authenticated(websocket, token_seconds),
        open_call,
        running.recognizer,
        vad(),
        SystemClock(),
        metrics,
        _verified,
        _nothing_is_recorded,
        synthesizer,
        call_seconds,
    )
    app = FastAPI()
    app.include_router(router(deps))
    app.include_router(door.router(door.RealtimeDoor(deps)))
    async with listening(app) as port:
        running.url = f"ws://127.0.0.1:{port}/v1/calls"
        yield running


@dataclass
class Caller:
    """One client. `heard` is every event so far; a reply's sound is the `data` of the event that announced it."""

    socket: ClientConnection
    heard: list[Event] = field(default_factory=list)

    async def say(self, samples: Samples, *, chunk_ms: int = 20, pace: float = 0.0) -> None:
        """Send audio as binary frames; `pace` 1 is real time, 0 is at once."""
        step = SAMPLE_RATE * chunk_ms // 1000
        for start in range(0, samples.size, step):
            await self.socket.send(encode_pcm16(samples[start : start + step]))
            if pace:
                await asyncio.sleep(chunk_ms / 1000 * pace)

    async def append(self, samples: Samples, sequence: int) -> None:
        """Send one numbered frame in base64."""
        audio = base64.b64encode(encode_pcm16(samples)).decode()
        await self.send({"type": "input_audio_buffer.append", "audio": audio, "tellerline.sequence": sequence})

    async def send(self, event: Event) -> None:
        await self.socket.send(orjson.dumps(event).decode())

    async def next(self, kind: str, *, within_s: float = 10.0) -> Event:
        """The next event of this kind; those before it are kept in `heard`."""
        async with asyncio.timeout(within_s):
            while True:
                event = await self.next_event()
                if event["type"] == kind:
                    return event

    async def next_event(self) -> Event:
        """The next event, whatever it is."""
        event: Event = orjson.loads(await self.socket.recv())
        if event["type"] == SOUND:
            event["data"] = await self.socket.recv()
            assert isinstance(event["data"], bytes)
        self.heard.append(event)
        return event

    async def for_a_while(self, seconds: float) -> None:
        """Keep listening."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.next_event()
        except TimeoutError:
            return

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.heard]

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.heard if event["type"] == kind]


@asynccontextmanager
async def caller(running: Gateway, **settings: Any) -> AsyncIterator[Caller]:
    """A call. Settings go into session.update's own part (locale, playback)."""
    async with connect(running.url, compression=None) as opened:
        talking = Caller(opened)
        await talking.next("session.created")
        if settings:
            await talking.send({"type": "session.update", "session": {"type": "realtime", "tellerline": settings}})
            await talking.next("session.updated")
        yield talking
