"""The recogniser around a decoder that is told what to say."""

from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable, TooLarge
from schemas.ids import EN_GB, EN_US, JA_JP
from schemas.transcript import Decode, Hypothesis, Onward, Transcript
from services.asr import load
from services.asr.decoder import Decoded
from services.asr.recognizer import WhisperRecognizer
from services.asr.scheduler import DecodeScheduler

SPEECH = np.random.default_rng(1).normal(0, 0.1, SAMPLE_RATE).astype(np.float32)


class FakeDecoder:
    """Says what it is given, or fails."""

    def __init__(self, said: Decoded | Exception) -> None:
        self.said = said
        self.finals: list[bool] = []
        self.odd: dict[str, float] = {}
        self.weighed: Sequence[str] = ()

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        assert samples.dtype == np.float32
        self.finals.append(final)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    def odds(self, samples: Samples, texts: Sequence[str]) -> tuple[float, ...]:
        self.weighed = texts
        return tuple(self.odd.get(text, -50.0) for text in texts)

    def onward(self, samples: Samples, text: str) -> Onward | None:
        if isinstance(self.said, Exception):
            raise self.said
        return Onward(comma=-5.0, word=-float(len(text)))


@pytest.fixture
def decoder() -> FakeDecoder:
    return FakeDecoder(Decoded((Hypothesis("yes", -0.1), Hypothesis("yet", -0.9)), 0.01))


@pytest.fixture
async def recognizer(decoder: FakeDecoder) -> AsyncIterator[WhisperRecognizer]:
    made = WhisperRecognizer({"en": decoder}, DecodeScheduler(1, 4))
    yield made
    await made.close()


async def test_a_locale_is_heard_by_its_language(recognizer: WhisperRecognizer) -> None:
    heard = await recognizer.transcribe(SPEECH, EN_GB, Decode.FINAL)
    assert (heard.text, heard.alternatives, heard.locale) == ("yes", ("yet",), EN_GB)
    assert heard.decode_ms > 0


async def test_a_language_without_a_checkpoint_is_refused(recognizer: WhisperRecognizer) -> None:
    with pytest.raises(RecognizerUnavailable):
        await recognizer.transcribe(SPEECH, JA_JP, Decode.FINAL)


async def test_silence_is_not_decoded(recognizer: WhisperRecognizer, decoder: FakeDecoder) -> None:
    heard = await recognizer.transcribe(np.zeros(SAMPLE_RATE, dtype=np.float32), EN_US, Decode.FINAL)
    assert heard.text == ""
    assert heard.hypotheses[0].text == heard.text
    assert decoder.finals == []


async def test_too_long_an_utterance_is_refused(recognizer: WhisperRecognizer) -> None:
    with pytest.raises(TooLarge):
        await recognizer.transcribe(np.zeros(61 * SAMPLE_RATE, dtype=np.float32), EN_US, Decode.FINAL)


async def test_a_failing_decoder_is_an_unavailable_recogniser() -> None:
    recognizer = WhisperRecognizer({"en": FakeDecoder(RuntimeError("out of memory"))}, DecodeScheduler(1, 4))
    with pytest.raises(RecognizerUnavailable, match="RuntimeError"):
        await recognizer.transcribe(SPEECH, EN_US, Decode.FINAL)
    await recognizer.close()


async def test_warming_up_decodes_a_final(recognizer: WhisperRecognizer, decoder: FakeDecoder) -> None:
    await recognizer.warm_up()
    assert decoder.finals == [True]


def test_a_checkpoint_that_is_not_there_is_said_at_start() -> None:
    with pytest.raises(RecognizerUnavailable):
        load("/nowhere/at/all")


async def test_a_final_is_led_by_the_name_that_sounds_like_it(
    recognizer: WhisperRecognizer, decoder: FakeDecoder
) -> None:
    decoder.odd = {"yes": 0.0, "jess": -1.0, "bess": -30.0}
    told = await recognizer.transcribe(SPEECH, EN_US, Decode.FINAL, wordings=lambda _: ("jess", "bess"))
    assert (told.text, told.named) == ("jess", True)
    assert decoder.weighed == ("yes", "jess", "bess")


async def test_a_partial_and_clear_words_are_not_weighed(recognizer: WhisperRecognizer, decoder: FakeDecoder) -> None:
    await recognizer.transcribe(SPEECH, EN_US, Decode.PARTIAL, wordings=lambda _: ("jess",))
    await recognizer.transcribe(SPEECH, EN_US, Decode.FINAL, wordings=lambda _: ())
    assert decoder.weighed == ()


async def test_what_was_heard_stands_where_weighing_fails(recognizer: WhisperRecognizer, decoder: FakeDecoder) -> None:
    def failing(_samples: Samples, _texts: Sequence[str]) -> tuple[float, ...]:
        raise ValueError

    decoder.odds = failing  # type: ignore[method-assign]
    told = await recognizer.transcribe(SPEECH, EN_US, Decode.FINAL, wordings=lambda _: ("jess",))
    assert (told.text, told.named, told.unweighed) == ("yes", False, True)
    decoder.odds = lambda _samples, _texts: ()  # type: ignore[method-assign]
    told = await recognizer.transcribe(SPEECH, EN_US, Decode.FINAL, wordings=lambda _: ("jess",))
    assert not told.unweighed


async def test_what_may_follow_is_not_known_where_that_fails(
    recognizer: WhisperRecognizer, decoder: FakeDecoder
) -> None:
    heard = Transcript.typed("yes", EN_US)
    assert await recognizer.onward(SPEECH, heard) == Onward(comma=-5.0, word=-3.0)
    decoder.said = ValueError()
    assert await recognizer.onward(SPEECH, heard) is None
