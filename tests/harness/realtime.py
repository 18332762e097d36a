"""Calls of the OpenAI Python SDK to the whole application on a real socket; every event must be what the SDK says."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import soxr
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import Locale
from schemas.transcript import Decode, Transcript, Wordings
from services.audio.codec import encode_pcm16
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import Gateway
from tests.harness.served import Served, served

ALEX = "alex-morgan"
RATE = 24_000
Event = dict[str, Any]
ORACLE: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)


class Ear(FakeRecognizer):
    """Hears what it is told to, and keeps the sound of what it heard to the end."""

    def __init__(self) -> None:
        super().__init__(lambda _seconds: self.says)
        self.says = "what's my balance"
        self.heard: list[Samples] = []

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        if decode.final:
            self.heard.append(samples)
        return await super().transcribe(samples, locale, decode, wordings=wordings)


@dataclass(frozen=True)
class Realtime(Served):
    """A running gateway and its ear."""

    ear: Ear
    scheme: str = "http"

    @property
    def http(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def key(self, customer: str = ALEX) -> str:
        return self.token(customer)["Authorization"].removeprefix("Bearer ")

    def sdk(self, customer: str = ALEX, key: str | None = None) -> AsyncOpenAI:
        return AsyncOpenAI(api_key=key or self.key(customer), base_url=f"{self.http}/v1", max_retries=0)


@asynccontextmanager
async def realtime(state: Path, **settings: object) -> AsyncIterator[Realtime]:
    ear = Ear()
    async with served(state, ear, **settings) as running:
        yield Realtime(running.gateway, running.port, ear, "https" if "tls_key" in settings else "http")


def at_24k(samples: Samples) -> bytes:
    """Sound as a Realtime client sends it."""
    return encode_pcm16(soxr.resample(samples, SAMPLE_RATE, RATE).astype(np.float32))


def text_item(role: str, text: str, **more: Any) -> Event:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]} | more


@dataclass
class Talk:
    """One call through the SDK; `heard` is every event so far, as it came."""

    line: AsyncRealtimeConnection
    heard: list[Event] = field(default_factory=list)

    async def send(self, event: Event) -> None:
        """An event just as it is."""
        await self.line.send(event)  # type: ignore[arg-type] # also those that no type has

    async def say(self, samples: Samples, *, ms: int = 100) -> None:
        pcm, step = at_24k(samples), RATE * 2 * ms // 1000
        for at in range(0, len(pcm), step):
            await self.line.input_audio_buffer.append(audio=base64.b64encode(pcm[at : at + step]).decode())

    async def ask(self, *items: Event, **response: Any) -> None:
        """Add items and ask for a reply."""
        for item in items:
            await self.send({"type": "conversation.item.create", "item": item})
        await self.send({"type": "response.create"} | ({"response": response} if response else {}))

    async def next_event(self) -> Event:
        """The next event. It is valid, strictly, and the SDK reads it as what it is."""
        event: Event = orjson.loads(await self.line.recv_bytes())
        if not event["type"].startswith("tellerline."):
            assert ORACLE.validate_python(event).type == event["type"]
        self.heard.append(event)
        return event

    async def next(self, kind: str, *, within_s: float = 15.0) -> Event:
        async with asyncio.timeout(within_s):
            while (event := await self.next_event())["type"] != kind:
                pass
            return event

    async def reply(self, *items: Event) -> str:
        """The words of the reply that is asked for."""
        await self.ask(*items)
        return self.words(await self.next("response.done"))

    async def type(self, text: str) -> str:
        return await self.reply(text_item("user", text))

    async def settled(self) -> list[Event]:
        """All that comes until what was sent so far has been worked off."""
        before = len(self.heard)
        await self.send({"type": "input_audio_buffer.clear"})
        await self.next("input_audio_buffer.cleared")
        return self.heard[before:-1]

    async def settled_without_clearing(self) -> None:
        """The same, and what the caller is saying goes on."""
        await self.send({"type": "session.update", "session": {"type": "realtime"}})
        await self.next("session.updated")
        await asyncio.sleep(0.3)

    async def played(self) -> None:
        """The last reply was heard in full."""
        reply = self.of("response.done")[-1]["response"]["id"]
        await self.send({"type": "tellerline.playback", "response_id": reply, "state": "completed"})
        await self.settled()

    @staticmethod
    def words(done: Event) -> str:
        parts = [part for item in done["response"]["output"] for part in item["content"]]
        return " ".join(part.get("text") or part.get("transcript") or "" for part in parts)

    def kinds(self) -> list[str]:
        return [event["type"] for event in self.heard]

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.heard if event["type"] == kind]


@asynccontextmanager
async def talking(
    running: Realtime, customer: str = ALEX, *, key: str | None = None, **query: str
) -> AsyncIterator[Talk]:
    async with (
        running.sdk(customer, key) as client,
        client.realtime.connect(model="gpt-realtime", extra_query=query) as line,
    ):
        talk = Talk(line)
        assert (await talk.next_event())["type"] == "session.created"
        yield talk


@asynccontextmanager
async def talking_to(running: Gateway) -> AsyncIterator[Talk]:
    """A call to a gateway of fakes."""
    base = running.url.replace("ws", "http", 1).removesuffix("/calls")
    async with AsyncOpenAI(api_key="any", base_url=base) as client, client.realtime.connect() as line:
        talk = Talk(line)
        await talk.next("session.created")
        yield talk


ACKNOWLEDGED = {"type": "realtime", "tellerline": {"playback": "acknowledged"}}
"""For tests that say themselves when a reply was heard."""


@asynccontextmanager
async def told(running: Realtime, customer: str = ALEX) -> AsyncIterator[Talk]:
    """A call whose replies are heard when the test says so."""
    async with talking(running, customer) as talk:
        await talk.send({"type": "session.update", "session": ACKNOWLEDGED})
        await talk.next("session.updated")
        yield talk
