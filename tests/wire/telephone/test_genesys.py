"""A session that only listens, as Genesys' reference client opens it: answered in full, and sent no sound."""

import base64
from pathlib import Path
from typing import Any

from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import calling, said, transfers_of
from tests.harness.phone_genesys import API_KEY, SECRET, genesys
from tests.harness.served import served

SETTINGS: dict[str, Any] = {"audiohook_key": API_KEY, "audiohook_secret": base64.b64encode(SECRET).decode()}


async def test_a_monitor_is_sent_no_sound_and_closes_in_good_order(quick_folder: Path) -> None:
    voice = FakeSynthesizer(25)
    heard = FakeRecognizer(lambda seconds: "what is the fee for an international transfer" if seconds > 0.5 else "")
    async with (
        served(quick_folder, heard, voice=voice, **SETTINGS) as running,
        genesys(running.port, None) as bridge,
        calling(bridge) as phone,
    ):
        phone.say(said("policy-1"))
        await phone.fallen_silent()
        await bridge.send("ping")
        await bridge.hang_up()
        await phone.until(lambda: phone.over is not None)
        assert bridge.disconnected is None
        assert bridge.socket.close_code == 1000
    assert phone.packets == []
    assert voice.spoken, "it was heard"
    assert await transfers_of(quick_folder) == []
