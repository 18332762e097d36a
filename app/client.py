"""The caller's end of a call: what goes out and when, sans I/O, and a thin connection around it.

The demonstration, the benchmarks and the replay over a gateway all call through here.
"""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, Final

import httpx
import numpy as np
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedOK

from schemas.audio import SAMPLE_RATE, AudioFormat, Samples
from schemas.errors import BadInput, DependencyFailed, Unauthenticated
from services.audio.codec import decode, encode_pcm16
from services.audio.resample import StreamResampler

FRAME: Final = SAMPLE_RATE // 50
"""Samples of 20 ms."""
HISS: Final = 1e-4
"""Amplitude of the line's own noise."""
PATIENCE_S: Final = 30.0
"""Longest wait for any event."""

SOUND: Final = "tellerline.reply.audio"
"""The event of /v1/calls that announces a reply's sound."""

Event = dict[str, Any]
Stamp = Callable[[bytes, int], bytes]
"""Changes a frame of PCM16 on its way out, by its number."""


class Microphone:
    """An open microphone: what is said over the line's own noise, frame by frame without end. Sans I/O."""

    def __init__(self, seed: int = 7, stamp: Stamp | None = None) -> None:
        self._noise = np.random.default_rng(seed)
        self._stamp = stamp
        self._waiting: Samples = np.zeros(0, dtype=np.float32)
        self._frames = 0

    def say(self, samples: Samples) -> int:
        """Queue an utterance; the number of its first sample in the call."""
        begins = self._frames * FRAME + self._waiting.size
        self._waiting = np.concatenate((self._waiting, samples))
        return begins

    @property
    def speaking(self) -> bool:
        """Whether anything that was queued is yet to be said."""
        return self._waiting.size > 0

    def due_s(self) -> float:
        """When the next frame may be sent: once its last sample was captured, in seconds of the call."""
        return (self._frames + 1) * FRAME / SAMPLE_RATE

    def frame(self) -> bytes:
        """The next 20 ms as PCM16."""
        frame = self._noise.normal(0, HISS, FRAME).astype(np.float32)
        said, self._waiting = self._waiting[:FRAME], self._waiting[FRAME:]
        frame[: said.size] += said
        data = encode_pcm16(frame)
        if self._stamp is not None:
            data = self._stamp(data, self._frames)
        self._frames += 1
        return data


def session(
    locale: str,
    playback: str = "acknowledged",
    detection: Event | None = None,
    *,
    spoken: bool = False,
    recorded: bool = False,
) -> Event:
    """How a call is set up. `detection` is the session's turn_detection; by the words where none is given.

    `spoken`: replies come as sound too, where the service has a voice. `recorded`: the caller agrees to that.
    """
    settings: Event = {"type": "realtime", "tellerline": {"locale": locale, "playback": playback}}
    if recorded:
        settings["tellerline"]["recording"] = True
    if spoken:
        settings["output_modalities"] = ["audio"]
    if detection is not None:
        settings["audio"] = {"input": {"turn_detection": detection}}
    return {"type": "session.update", "session": settings}


def typed(text: str) -> Event:
    """The caller types."""
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"type": "conversation.item.create", "item": item}


def key(digit: str) -> Event:
    """The caller presses a key."""
    return {"type": "tellerline.dtmf", "digit": digit}


def heard_out(reply: str) -> Event:
    """The reply with this id was heard in full."""
    return {"type": "tellerline.playback", "response_id": reply, "state": "completed"}


class Line:
    """One call's connection. `started` is the moment (time.monotonic) of the microphone's first sample."""

    def __init__(self, socket: ClientConnection, microphone: Microphone) -> None:
        self._socket = socket
        self._microphone = microphone
        self.started = time.monotonic()

    def say(self, samples: Samples) -> float:
        """Queue an utterance; the moment of its first sample."""
        return self.started + self._microphone.say(samples) / SAMPLE_RATE

    async def send(self, event: Event) -> None:
        """Send an event as text."""
        await self._socket.send(orjson.dumps(event).decode())

    async def push(self, samples: Samples) -> None:
        """Send sound at once, whatever the microphone does."""
        await self._socket.send(encode_pcm16(samples))

    def drop(self) -> None:
        """Let the line go dead: nobody says goodbye."""
        self._socket.transport.abort()

    async def events(self, patience_s: float = PATIENCE_S) -> AsyncIterator[Event]:
        """What the service says, until it ends the call. Raises TimeoutError when nothing comes for long.

        A reply's sound is the `data` of the event that announced it.
        """
        announced: Event = {}
        while True:
            try:
                async with asyncio.timeout(patience_s):
                    message = await self._socket.recv()
            except ConnectionClosedOK:
                return
            event = announced | {"data": message} if isinstance(message, bytes) else orjson.loads(message)
            if event["type"] == SOUND and isinstance(message, str):
                announced = event
            else:
                yield event

    async def keep_sending(self) -> None:
        """Send every frame when it is due, until cancelled."""
        while True:
            await asyncio.sleep(max(0.0, self.started + self._microphone.due_s() - time.monotonic()))
            await self._sound(self._microphone.frame())

    async def _sound(self, frame: bytes) -> None:
        await self._socket.send(frame)


class RealtimeLine(Line):
    """The same over WS /v1/realtime: sound at 24 kHz, in base64."""

    def __init__(self, socket: ClientConnection, microphone: Microphone) -> None:
        super().__init__(socket, microphone)
        self._resampler = StreamResampler.to_24k()

    async def _sound(self, frame: bytes) -> None:
        sound = encode_pcm16(self._resampler.push(decode(frame, AudioFormat())))
        await self.send({"type": "input_audio_buffer.append", "audio": base64.b64encode(sound).decode()})


class Transport(StrEnum):
    """The door that is called at."""

    CALLS = "calls"
    REALTIME = "realtime"


_PATHS: Final = {Transport.CALLS: "/v1/calls", Transport.REALTIME: "/v1/realtime?tellerline_events=1"}


def calls_url(base: str, transport: Transport = Transport.CALLS) -> str:
    """Where a service at `base` (http://…) takes calls."""
    return f"{base.replace('http', 'ws', 1).rstrip('/')}{_PATHS[transport]}"


@asynccontextmanager
async def line(
    base: str,
    token: str,
    setup: Event,
    microphone: Microphone | None = None,
    *,
    live: bool = True,
    transport: Transport = Transport.CALLS,
) -> AsyncIterator[Line]:
    """Open a call at the service `base` (http://…). A `live` one sends continuously, as from an open microphone."""
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(calls_url(base, transport), additional_headers=headers, compression=None) as socket:
        kind = RealtimeLine if transport is Transport.REALTIME else Line
        opened = kind(socket, microphone or Microphone())
        await opened.send(setup)
        sending = [asyncio.create_task(opened.keep_sending())] if live else []
        try:
            yield opened
        finally:
            for task in sending:
                task.cancel()
            await asyncio.gather(*sending, return_exceptions=True)


def reach(base: str) -> dict[str, str]:
    """What a gateway says of itself: its version and ruleset, as far as it does.

    Raises BadInput, DependencyFailed where none at that address is ready for callers.
    """
    if not base.startswith(("http://", "https://")):
        raise BadInput("a gateway's address begins with http:// or https://")
    try:
        told = httpx.get(f"{base.rstrip('/')}/readyz").raise_for_status().json()
        return {name: told[name] for name in ("version", "ruleset") if isinstance(told.get(name), str)}
    except (ValueError, AttributeError):
        return {}  # whatever it is, it is ready
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise DependencyFailed(f"no gateway is ready at that address ({type(error).__name__})") from error


async def demo_token(base: str, customer: str) -> str:
    """A demo customer's token. Raises httpx.HTTPError where the service issues none."""
    async with httpx.AsyncClient(base_url=base) as client:
        answer = await client.post("/demo/token", params={"customer": customer})
        return str(answer.raise_for_status().json()["access_token"])


async def granted(base: str, customer: str) -> str:
    """The same for a person at a terminal. Raises Unauthenticated where the service issues none, DependencyFailed."""
    try:
        return await demo_token(base, customer)
    except httpx.HTTPStatusError as error:
        raise Unauthenticated("the gateway issues no demo tokens; `replay` takes others by --token") from error
    except httpx.HTTPError as error:
        raise DependencyFailed(f"no gateway: {type(error).__name__}") from error
