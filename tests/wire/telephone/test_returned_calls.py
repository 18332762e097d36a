"""A person gives a call back: it goes on with the assistant, and nothing that was pending before is to be agreed to."""

import asyncio
from pathlib import Path

import pytest

from app.transports.telephone import web
from schemas.errors import SpeechUnavailable
from tests.fakes.recognizer import orders
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import calling, said, settles, transfers_of
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import LINES, Place, settings
from tests.harness.served import served

CUSTOMER = "alex-morgan"


@pytest.mark.parametrize("line", LINES)
async def test_a_call_that_comes_back_has_no_pending_money(
    quick_folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_self: object, _request: object) -> None:
        return None

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    audiosocket, voice = free_port(), FakeSynthesizer(10)
    heard = orders("a person please")
    async with served(quick_folder, heard, voice=voice, **settings(audiosocket)) as running:
        place = Place(running.port, audiosocket)
        async with LINES[line](place, CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))
            phone.say(said("transfer-1"))
            await settles(quick_folder, [(5_000, "proposed", True)])
            phone.say(said("transfer-2"))
            await phone.until(lambda: phone.over is not None)
        assert [state for _, state, _ in await transfers_of(quick_folder)] == ["cancelled"]
        heard.words, voice.spoken[:] = (lambda _: "yes"), []
        async with LINES[line](place, CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))
            await asyncio.sleep(0.5)
            assert not {"fifty", "$50.00", "Emily"} & set(voice.spoken)
            given = len(phone.packets)
            phone.say(said("transfer-2"))
            await phone.until(lambda: len(phone.packets) > given)
            assert phone.over is None
        assert [state for _, state, _ in await transfers_of(quick_folder)] == ["cancelled"]


async def test_nothing_is_pending_after_we_gave_a_call_away_because_we_failed(
    quick_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_self: object, _request: object) -> None:
        return None

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    voice = FakeSynthesizer(10)
    heard = orders("what was that")
    async with served(quick_folder, heard, voice=voice, **settings(free_port())) as running:
        place = Place(running.port, 0)
        async with LINES["twilio"](place, CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))
            phone.say(said("transfer-1"))
            await settles(quick_folder, [(5_000, "proposed", True)])
            voice.error = SpeechUnavailable()
            phone.say(said("transfer-2"))
            await phone.until(lambda: phone.over is not None)
        await settles(quick_folder, [(5_000, "cancelled", True)])


async def test_a_line_that_drops_leaves_what_was_read_back_to_the_next_call(quick_folder: Path) -> None:
    heard = orders()
    async with served(quick_folder, heard, voice=FakeSynthesizer(10), **settings(free_port())) as running:
        place = Place(running.port, 0)
        async with LINES["twilio"](place, CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.until(lambda: bool(phone.packets))
            phone.say(said("transfer-1"))
            await settles(quick_folder, [(5_000, "proposed", True)])
        async with LINES["twilio"](place, CUSTOMER) as bridge, calling(bridge) as phone:
            await phone.hears_out(1)
            assert (5_000, "proposed") in [(amount, state) for amount, state, _ in await transfers_of(quick_folder)]
