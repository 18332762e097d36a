"""Keys that we press before a caller is given to a person: tones where the line has no word for them."""

from pathlib import Path

import numpy as np
import pytest

from app.transports.telephone import web
from services.audio.codec import decode
from services.audio.tones import ToneDetector
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import Phone, Sound, calling, said
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import LINES, UNSIGNED, Place, settings
from tests.harness.served import served

KEYS = "*2100#"


class Taping(Phone):
    """Keeps all the sound that came, and how much of it had come when the line ended."""

    async def listen(self) -> None:
        self.tape: list[bytes] = []
        inner = self.bridge.told()

        async def taped():
            async for told in inner:
                if isinstance(told, Sound):
                    self.tape.append(told.data)
                yield told

        self.bridge.told = taped  # type: ignore[method-assign]
        await super().listen()


@pytest.mark.parametrize("line", [line for line in LINES if line not in UNSIGNED])
async def test_a_pbx_is_keyed_before_a_caller_is_handed_off(
    quick_folder: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(_self: object, _request: object) -> None:
        return None

    monkeypatch.setattr(web.CarrierClient, "ask", ask)
    audiosocket = free_port()
    heard = FakeRecognizer(lambda _: "send fifty dollars to my sister")
    given = settings(audiosocket) | {"transfer_keys": KEYS}
    async with (
        served(quick_folder, heard, voice=FakeSynthesizer(10), **given) as running,
        LINES[line](Place(running.port, audiosocket), None) as bridge,
        calling(bridge, Taping) as phone,
    ):
        await phone.until(lambda: bool(phone.packets))
        phone.say(said("transfer-1"))
        await phone.until(lambda: phone.over is not None)
        assert isinstance(phone, Taping)
        sound = np.concatenate([decode(data, bridge.form) for data in phone.tape])
    assert ToneDetector(bridge.form.rate).push(sound)[0] == KEYS
