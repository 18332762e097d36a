"""Keys that come as tones: taken where that is switched on, and not heard, recorded or written down."""

import logging
from pathlib import Path

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, Samples
from schemas.transcript import Transcript
from services.audio.tones import ToneDetector, made
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone import KEYS, calling, statement
from tests.harness.phone_carriers import TOKEN, twilio
from tests.harness.served import served

SECRET = "739154#"


class Listening(FakeRecognizer):
    """Keeps all that it was given to recognise, and finds no words in it: an answer is one to keys."""

    def __init__(self) -> None:
        super().__init__(lambda _: "")
        self.sounds: list[Samples] = []

    async def transcribe(self, samples: Samples, *args: object, **kwargs: object) -> Transcript:
        self.sounds.append(samples)
        return await super().transcribe(samples, *args, **kwargs)  # type: ignore[arg-type]


@pytest.mark.parametrize("on", [True, False])
async def test_tones_are_keys_where_they_are_to_be(
    quick_folder: Path, on: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    recogniser, voice = Listening(), FakeSynthesizer(10)
    settings = {"ivr_keys": KEYS, "twilio_token": TOKEN, "inband_keys": on}
    async with (
        served(quick_folder, recogniser, voice=voice, **settings) as running,
        twilio(running.port, {"statement": statement("alex-morgan")}) as bridge,
        calling(bridge) as phone,
    ):
        await phone.hears_out(1)
        tones = made(SECRET, SAMPLE_RATE)
        phone.say(np.concatenate((tones, np.zeros(SAMPLE_RATE // 2, np.float32))))
        if on:
            await phone.hears_out(2)
        await phone.fallen_silent()
    heard = "".join(ToneDetector(SAMPLE_RATE).push(sound)[0] for sound in recogniser.sounds)
    assert (len(phone.marks) > 1) is on
    if on:
        assert heard == ""
        told = "\n".join(one.getMessage() for one in caplog.records if one.name.split(".")[0] in {"app", "services"})
        assert "739154" not in told
        assert b"739154" not in written(quick_folder)


def written(folder: Path) -> bytes:
    """All that was written below it."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
