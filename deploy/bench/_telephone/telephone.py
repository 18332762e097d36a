"""Calls over a telephone's protocol: the far end of a line at 8 kHz, and what it hears when."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import orjson
import soxr

from app.client import Transport
from app.demo.run import service
from deploy.bench import CHECKOUT
from deploy.bench._asr.audio import PHONE_RATE, g711
from deploy.bench._calls.corpus import LEAD_S, PlayedUtterance
from deploy.bench._calls.line import TAIL_S
from schemas.audio import PCM16, SAMPLE_RATE, Samples
from services.audio.codec import decode, encode
from tests.harness.phone import Phone, calling
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import LINES, Place, settings

SILENT_S: Final = 0.4
"""A greeting that has paused for so long is over."""
GREETING_S: Final = 20.0


class Door(StrEnum):
    """Where a call comes in: at a native door, or on a telephone."""

    CALLS = "calls"
    REALTIME = "realtime"
    TWILIO = "twilio"
    TELNYX = "telnyx"
    PLIVO = "plivo"
    AUDIOHOOK = "audiohook"
    AUDIOSOCKET = "audiosocket"
    ASTERISK_WS = "asterisk-ws"
    JAMBONZ = "jambonz"

    @property
    def native(self) -> Transport | None:
        """The door of our own that it is, if any."""
        return Transport(self.value) if self.value in set(Transport) else None


@dataclass(frozen=True, slots=True)
class Rung:
    """One call's outcome: ms from the last voiced sample to the first sound of the answer; null where none came."""

    first_ms: float | None
    cut: bool
    arrivals: tuple[float, ...]
    """When packets came, in seconds."""


class Narrow(Phone):
    """A phone whose line takes half the rate: what is said on it has no more than that already."""

    async def speak(self) -> None:
        """Send the microphone's frames at real time, with no delay of a filter's."""
        self.began = time.monotonic()
        while True:
            await asyncio.sleep(max(0.0, self.began + self.microphone.due_s() - time.monotonic()))
            frame = decode(self.microphone.frame(), PCM16)
            await self.bridge.sound(encode(frame[:: SAMPLE_RATE // PHONE_RATE], self.bridge.form))

    async def quiet(self, within_s: float = GREETING_S) -> None:
        """Return once a greeting came and has ended. Raises TimeoutError."""
        await self.until(lambda: bool(self.sounded), within_s)
        while time.monotonic() - self.sounded[-1] < SILENT_S:  # noqa: ASYNC110 - silence makes no event
            await asyncio.sleep(0.02)


def narrowed(samples: Samples) -> Samples:
    """What G.711 leaves of a sound, at the rate it came in."""
    wide: Samples = soxr.resample(g711(samples), PHONE_RATE, SAMPLE_RATE)[: samples.size].astype(np.float32)
    return np.pad(wide, (0, samples.size - wide.size))


@contextmanager
def telephones(word_ms: int) -> Iterator[tuple[str, Place]]:
    """A service that takes telephones, whose voice says a word in so many ms: its base URL, and where it is rung."""
    audiosocket = free_port()
    given = {f"TELLERLINE_{name}".upper(): _told(value) for name, value in settings(audiosocket).items()}
    run = ("-m", "deploy.bench._telephone.service", str(word_ms))
    with service(*run, PYTHONPATH=CHECKOUT, **given) as base:
        yield base, Place(int(base.rpartition(":")[2]), audiosocket)


async def ring(place: Place, door: Door, utterance: PlayedUtterance) -> Rung:
    """Say one utterance after the greeting, and time what is heard then."""
    async with LINES[door](place, utterance.customer) as bridge, calling(bridge, Narrow) as phone:
        assert isinstance(phone, Narrow)
        await phone.quiet()
        greeted = len(phone.sounded)
        lead = np.zeros(round(LEAD_S * SAMPLE_RATE), dtype=np.float32)
        first = phone.microphone.say(np.concatenate((lead, utterance.samples)))
        start = phone.began + first / SAMPLE_RATE + LEAD_S
        late, spoken = start + utterance.late_ms / 1000 - LEAD_S, start + utterance.voiced_s
        try:
            await phone.until(_after(phone, greeted, late), LEAD_S + utterance.samples.size / SAMPLE_RATE + TAIL_S)
        except TimeoutError:
            return Rung(None, len(phone.sounded) > greeted, tuple(phone.arrivals))
        heard = next(at for at in phone.sounded[greeted:] if at >= late)
        return Rung((heard - spoken) * 1000, phone.sounded[greeted] < late, tuple(phone.arrivals))


def _after(phone: Phone, greeted: int, late: float) -> Callable[[], bool]:
    return lambda: len(phone.sounded) > greeted and phone.sounded[-1] >= late


def _told(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
