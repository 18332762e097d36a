from typing import Final

import numpy as np

from schemas.audio import Samples
from services.asr.encodings import KEPT, Encodings

SOUNDS: Final = [np.full(4, k, dtype=np.float32) for k in range(KEPT + 1)]


def test_the_last_sounds_are_encoded_once_and_older_ones_let_go_of() -> None:
    encoded: list[float] = []

    def encode(samples: Samples) -> float:
        encoded.append(float(samples[0]))
        return encoded[-1]

    kept = Encodings(encode)
    assert [kept.of(sound) for sound in SOUNDS] == encoded
    for sound in SOUNDS[1:]:
        assert kept.of(sound) == sound[0]
    assert encoded == [float(k) for k in range(KEPT + 1)]
    kept.of(SOUNDS[0])
    assert encoded[-1] == 0.0, "the oldest was let go of"


def test_another_array_is_another_sound_though_it_holds_the_same() -> None:
    kept = Encodings(lambda samples: samples.copy())
    assert kept.of(SOUNDS[0]) is not kept.of(SOUNDS[0].copy())
