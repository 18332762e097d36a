"""The caller speaks over a reply: on every line no more than 60 ms of its sound leave after the decision to stop."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from schemas.call import CallEvent, ReplyCut
from services.call import OutboundQueue
from tests.fakes.recognizer import orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import CUT_SHORT, Phone, calling, said, settles
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import LINES, Place, settings
from tests.harness.served import served

CUSTOMER = "alex-morgan"
MOST_MS = 60
SETTLED_S = 0.2
"""Sound that was still on its way has come by then; the answer to what was said over it has not."""


@dataclass
class Decisions:
    """What the caller's telephone had been sent when it was decided that a reply is cut; -1 before."""

    phone: Phone | None = None
    packets: int = -1
    cleared: int = -1
    made: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, event: CallEvent) -> None:
        """An event as it is decided on."""
        if isinstance(event, ReplyCut) and self.phone is not None and not self.made.is_set():
            self.packets, self.cleared = len(self.phone.packets), self.phone.cleared
            self.made.set()


@pytest.fixture
def decisions(monkeypatch: pytest.MonkeyPatch) -> Decisions:
    """The first decision to cut a reply, whatever line it falls on."""
    found, put = Decisions(), OutboundQueue.put

    def watched(queue: OutboundQueue, event: CallEvent) -> None:
        found.take(event)
        put(queue, event)

    monkeypatch.setattr(OutboundQueue, "put", watched)
    return found


@pytest.mark.parametrize(
    "line", ["audiosocket", *(pytest.param(line, marks=pytest.mark.slow) for line in LINES if line != "audiosocket")]
)
async def test_the_sound_stops_within_60_ms_of_the_decision(
    quick_folder: Path, line: str, decisions: Decisions
) -> None:
    audiosocket, voice, heard = free_port(), FakeSynthesizer(10), orders("")
    async with (
        served(quick_folder, heard, voice=voice, **settings(audiosocket)) as running,
        LINES[line](Place(running.port, audiosocket), CUSTOMER) as bridge,
        calling(bridge) as phone,
    ):
        await phone.until(lambda: bool(phone.packets))
        voice.word_ms = 400
        phone.say(said("transfer-1"))
        await settles(quick_folder, CUT_SHORT)
        before = len(phone.packets)
        await phone.until(lambda: sum(phone.packets[before:]) >= phone.second)
        heard.words = lambda _: ""
        decisions.phone = phone
        phone.say(said("transfer-1"))
        async with asyncio.timeout(10):
            await decisions.made.wait()
        await asyncio.sleep(SETTLED_S)
        late_ms = 1_000 * sum(phone.packets[decisions.packets :]) / phone.second
        assert late_ms <= MOST_MS
        flushes = line != "audiosocket"  # which plays what comes as it comes, and keeps nothing
        assert phone.cleared == decisions.cleared + flushes
