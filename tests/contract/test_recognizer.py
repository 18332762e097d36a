"""The shipped models and the fake under one suite; what the shipped ones hear in the recordings kept with the tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from deploy.bench._asr.audio import phantoms
from deploy.bench._asr.score import SpokenCase
from deploy.bench.asr import cases
from schemas.audio import SAMPLE_RATE
from schemas.errors import RecognizerUnavailable
from schemas.ids import EN_US, JA_JP, Locale
from schemas.transcript import Decode
from services.asr import load
from services.asr.load import BUNDLED, decoders
from services.asr.recognizer import WhisperRecognizer
from services.audio.files import read_file
from services.ports import Recognizer
from tests.contract import recognizer_suite as suite
from tests.fakes.recognizer import FakeRecognizer

DATA = Path(__file__).parent.parent / "data" / "asr"
LOCALES = (EN_US, JA_JP)


def spoken(lang: str, kind: str) -> list[SpokenCase]:
    """Cases of a language whose voice begins with `kind`."""
    return [c for c in cases(DATA) if c.lang == lang and c.voice.startswith(kind)]


@pytest.fixture(params=["shipped", "fake"])
async def recognizer(request: pytest.FixtureRequest) -> AsyncIterator[Recognizer]:
    made: Recognizer = load(workers=2) if request.param == "shipped" else FakeRecognizer(lambda _: "yes", 0.005)
    yield made
    await made.close()


@pytest.fixture
async def shipped() -> AsyncIterator[WhisperRecognizer]:
    made = load(workers=1)
    yield made
    await made.close()


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_suite(recognizer: Recognizer, locale: Locale) -> None:
    speech = read_file(spoken(locale[:2], "")[0].path.read_bytes())
    await suite.hears_finals_and_partials(recognizer, speech, locale)
    await suite.is_repeatable(recognizer, speech, locale)
    await suite.survives_cancellation(recognizer, speech, locale)
    await suite.leaves_the_loop_free(recognizer, speech, locale)


@pytest.mark.parametrize("locale", LOCALES)
async def test_a_final_has_alternatives(shipped: WhisperRecognizer, locale: Locale) -> None:
    speech = read_file(spoken(locale[:2], "")[0].path.read_bytes())
    heard = await shipped.transcribe(speech, locale, Decode.FINAL)
    assert 1 <= len(heard.alternatives) <= 3


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("name", sorted(phantoms()))
async def test_nothing_is_heard_where_nothing_is_said(shipped: WhisperRecognizer, locale: Locale, name: str) -> None:
    sound = phantoms()[name]
    assert (await shipped.transcribe(sound, locale, Decode.FINAL)).text == ""
    for seconds in (0.7, 1.2, 3.0):
        assert (await shipped.transcribe(sound[: int(seconds * SAMPLE_RATE)], locale, Decode.PARTIAL)).text == ""


@pytest.mark.parametrize("locale", LOCALES)
def test_a_partial_is_judged_as_a_final_is(locale: Locale) -> None:
    speech = read_file(spoken(locale[:2], "")[0].path.read_bytes())
    first = decoders(BUNDLED)[locale[:2]].decode(speech[: SAMPLE_RATE // 2], final=False)
    assert len(first.hypotheses) == 1
    assert first.witness is not None
    assert first.witness.surest > 0.9


async def test_speech_of_any_length_is_heard(shipped: WhisperRecognizer) -> None:
    speech = np.concatenate([read_file(c.path.read_bytes()) for c in spoken("en", "")[:12]])
    assert speech.size > 20 * SAMPLE_RATE
    heard = await shipped.transcribe(speech[: 58 * SAMPLE_RATE], EN_US, Decode.FINAL)
    assert len(heard.text.split()) > 20
    for samples in (speech[:1], speech[:400], speech[:1600]):
        suite.well_formed(await shipped.transcribe(samples, EN_US, Decode.FINAL), EN_US)


async def test_after_closing_nothing_is_decoded() -> None:
    recognizer = load(workers=1)
    await recognizer.close()
    with pytest.raises(RecognizerUnavailable):
        await recognizer.transcribe(np.full(16_000, 0.1, dtype=np.float32), EN_US, Decode.FINAL)
