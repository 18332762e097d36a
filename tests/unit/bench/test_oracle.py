"""The recogniser that never mishears: the sound says where it stands, whatever the pipeline does to it."""

from functools import partial

import numpy as np

from app.client import FRAME, Microphone
from deploy.bench._calls.corpus import LEAD_S, Part, PlayedUtterance
from deploy.bench._calls.oracle import Oracle, stamped, stamps
from schemas.audio import SAMPLE_RATE, AudioFormat, Samples
from schemas.ids import EN_US, JA_JP
from schemas.transcript import Decode
from services.audio.ingest import Ingest

PARTS = (Part("send five", 0.0, 1.0), Part("hundred dollars", 2.0, 3.4))
SAID = PlayedUtterance("send five | hundred dollars", "en-US", "alex-morgan", "v", np.zeros(0, np.float32), PARTS, 1.0)
JAPANESE = PlayedUtterance(
    "残高を", "ja-JP", "takahashi-misaki", "v", np.zeros(0, np.float32), (Part("残高を", 0, 0.6),)
)


def played(utterance: PlayedUtterance, seconds: float) -> Samples:
    """What the service has heard of a call so far, in whole VAD frames."""
    microphone, ingest = Microphone(utterance.key, partial(stamped, utterance.key)), Ingest(AudioFormat())
    frames = [microphone.frame() for _ in range(round((LEAD_S + seconds) * SAMPLE_RATE / FRAME))]
    return np.concatenate([ingest.push(frame, None) for frame in frames])


async def heard(samples: Samples, utterance: PlayedUtterance = SAID) -> str:
    locale = JA_JP if utterance is JAPANESE else EN_US
    return (await Oracle([SAID, JAPANESE]).transcribe(samples, locale, Decode.FINAL)).text


async def test_words_are_heard_once_they_have_ended() -> None:
    whole = played(SAID, 4.0)
    assert await heard(played(SAID, 0.2)) == ""
    assert await heard(played(SAID, 0.7)) == "send"
    assert await heard(played(SAID, 1.5)) == "send five"
    assert await heard(whole) == "send five hundred dollars"
    assert await heard(played(JAPANESE, 0.5), JAPANESE) == "残高"


async def test_what_was_cut_off_before_is_not_heard() -> None:
    begin = round((LEAD_S + 1.8) * SAMPLE_RATE)
    assert await heard(played(SAID, 4.0)[begin:]) == "hundred dollars"


async def test_a_pause_left_out_and_silence_put_behind_change_nothing() -> None:
    whole, at = played(SAID, 4.0), round((LEAD_S + 1.2) * SAMPLE_RATE)
    for gap in (1_111, 4_321, 8_000):
        line = np.concatenate((whole[5_000:at], whole[at + gap :], np.zeros(4_800, np.float32)))
        assert await heard(line) == "send five hundred dollars"


async def test_sound_without_stamps_is_silence() -> None:
    noise = np.random.default_rng(1).normal(0, 0.01, 32_000).astype(np.float32)
    transcript = await Oracle([SAID]).transcribe(noise, EN_US, Decode.FINAL)
    assert (transcript.text, transcript.no_speech_prob) == ("", 1.0)


def test_a_stamp_cut_in_half_is_not_read() -> None:
    whole = played(SAID, 1.0)
    for cut in range(0, FRAME, 7):
        for end in (whole.size, whole.size - cut):
            found = list(stamps(np.concatenate((whole[cut:end], np.zeros(400, np.float32)))))
            assert {key for key, _ in found} == {SAID.key}
            numbers = [number for _, number in found]
            assert numbers == list(range(numbers[0], numbers[-1] + 1))
