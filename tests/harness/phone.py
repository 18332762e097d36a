"""The far end of a telephone line: a caller's microphone and ear, and the bridge that carries both in its protocol.

A bridge keeps sound until it was heard, tells of marks then, and drops it where it is told to, as the real ones do.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from app.auth.statements import LIFE_S, issue
from app.client import Microphone
from app.transports.live.reply_sound import ReplySound
from app.transports.telephone.playout import size_of
from schemas.audio import AudioFormat, Samples
from schemas.speech import SpokenChunk
from services.audio.codec import SILENCE
from services.audio.files import read_file
from services.banking.tables import transfers
from services.store import Store
from services.timing.clock import SystemClock
from tests.harness.gateway import hiss

CALLS = Path(__file__).parents[2] / "app" / "demo" / "calls"
KEYS = {"pbx": "k" * 16 + "0123456789abcdef"}
"""A bridge's key, as the settings have it."""


def said(name: str) -> Samples:
    """A recorded utterance of the demonstration's callers."""
    return read_file((CALLS / f"{name}.opus").read_bytes())


def statement(customer: str, **claims: object) -> str:
    """A bridge's word on whose call it is, as of now."""
    at = int(SystemClock().now().timestamp())
    given = {"sub": customer, "iat": at, "exp": at + LIFE_S, "jti": SystemClock().new_id()} | claims
    return issue("pbx", KEYS["pbx"].encode(), given)


@dataclass(frozen=True)
class Sound:
    """What the caller is to hear."""

    data: bytes


@dataclass(frozen=True)
class Marked:
    """To be told of once all before it was heard."""

    name: str


@dataclass(frozen=True)
class Cleared:
    """What was not heard yet is dropped."""


@dataclass(frozen=True)
class Over:
    """The call is given to somebody else, or ended; the words are the protocol's."""

    words: str = ""


Told = Sound | Marked | Cleared | Over


class Bridge(Protocol):
    """One protocol, as its real client speaks it."""

    form: AudioFormat
    tells_silence: bool
    """Whether it tells, rather than of marks, whenever it has nothing more to play."""

    async def begin(self) -> None: ...

    async def sound(self, data: bytes) -> None: ...

    async def key(self, digit: str) -> None: ...

    async def marked(self, name: str) -> None: ...

    async def flushed(self, names: list[str]) -> None: ...

    async def hang_up(self) -> None: ...

    def told(self) -> AsyncIterator[Told]: ...


@dataclass
class Phone:
    """One caller. `arrivals` are when packets came, in seconds; `heard` is what the ear got of each reply."""

    bridge: Bridge
    microphone: Microphone = field(default_factory=Microphone)
    arrivals: list[float] = field(default_factory=list)
    sounded: list[float] = field(default_factory=list)
    """When those of them came that are not silent: a line may be given silence so that it is kept."""
    packets: list[int] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)
    cleared: int = 0
    began: float = 0.0
    """When the microphone's first sample was, by time.monotonic."""
    over: Over | None = None
    _playing: list[Sound | Marked] = field(default_factory=list)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def second(self) -> int:
        """Bytes of a second of what is heard."""
        return size_of(self.bridge.form, 1_000)

    def say(self, samples: Samples) -> None:
        self.microphone.say(samples)

    async def until(self, true: Callable[[], bool], within_s: float = 20.0) -> None:
        """Return once something is true of the phone."""
        async with asyncio.timeout(within_s), self._changed:
            await self._changed.wait_for(true)

    async def hears_out(self, replies: int) -> None:
        """Return once so many replies were heard to their end."""
        await self.until(lambda: len(self.marks) >= replies)

    async def fallen_silent(self) -> None:
        """Return once all was said, and the silence behind it."""
        self.microphone.say(hiss(1.0))
        while self.microphone.speaking:  # noqa: ASYNC110 - frames leave it by the clock
            await asyncio.sleep(0.05)

    async def speak(self) -> None:
        """Send the microphone's frames at real time."""
        sound, self.began = ReplySound(self.bridge.form), time.monotonic()
        while True:
            await asyncio.sleep(max(0.0, self.began + self.microphone.due_s() - time.monotonic()))
            chunk = SpokenChunk(self.microphone.frame(), 16_000, 0)
            for piece in sound.pieces(chunk):
                await self.bridge.sound(piece.data)

    async def listen(self) -> None:
        """Take what comes."""
        async for told in self.bridge.told():
            match told:
                case Sound(data):
                    self.arrivals.append(time.monotonic())
                    if data.strip(SILENCE[self.bridge.form.encoding]):
                        self.sounded.append(self.arrivals[-1])
                    self.packets.append(len(data))
                    self._playing.append(told)
                case Marked():
                    self._playing.append(told)
                case Cleared():
                    dropped = [one.name for one in self._playing if isinstance(one, Marked)]
                    self._playing.clear()
                    self.cleared += 1
                    await self.bridge.flushed(dropped)
                case Over():
                    self.over = told
            async with self._changed:
                self._changed.notify_all()

    async def hear(self) -> None:
        """Play what came, at real time."""
        due, playing = time.monotonic(), False
        while True:
            if not self._playing:
                if playing and self.bridge.tells_silence:
                    await self.bridge.marked("")
                playing = False
                await asyncio.sleep(0.005)
                continue
            one, playing = self._playing.pop(0), True
            if isinstance(one, Sound):
                due = max(due, time.monotonic()) + len(one.data) / self.second
                await asyncio.sleep(max(0.0, due - time.monotonic()))
            else:
                await self.bridge.marked(one.name)
                self.marks.append(one.name)
                async with self._changed:
                    self._changed.notify_all()


@asynccontextmanager
async def calling(bridge: Bridge, kind: type[Phone] = Phone) -> AsyncIterator[Phone]:
    """A call over a bridge, until the block ends."""
    phone = kind(bridge)
    await bridge.begin()
    works = [asyncio.create_task(work) for work in (phone.speak(), phone.listen(), phone.hear())]
    try:
        yield phone
    finally:
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)


async def transfers_of(folder: Path) -> list[tuple[int, str, bool]]:
    """Amount and state of the transfers that the service in `folder` knows, and whether their read-back was heard."""
    store = Store(f"sqlite:///{folder / 'tellerline.db'}")
    columns = transfers.c.amount_minor, transfers.c.state, transfers.c.delivered_at
    try:
        found = await store.transact("test", lambda c: c.execute(sa.select(*columns).order_by(columns[2])).all())
    finally:
        await store.close()
    return [(amount, state, heard is not None) for amount, state, heard in found]


async def settles(folder: Path, expected: list[tuple[int, str, bool]], within_s: float = 30.0) -> None:
    """Return once the transfers are these."""
    found: list[tuple[int, str, bool]] = []
    try:
        async with asyncio.timeout(within_s):
            while (found := await transfers_of(folder)) != expected:  # noqa: ASYNC110 - another process' table
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"the transfers are {found}, not {expected}") from None


READ_BACK = [(5_000, "proposed", True)]
CUT_SHORT = [(5_000, "proposed", False)]
BOOKED = [(5_000, "succeeded", True)]
