"""Voices of one piece for each pair of phones, and the rules that time them: voices/diphones.py, prosody.py."""

import random  # noqa: TID251 - seeded where it is used
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest

from recogniser.voices import diphones, prosody, segment

RATE: Final = 22_050
LEVEL: Final = {"pau": -20.0, "a": 1.0, "b": 2.0, "c": 3.0}


def frames(levels: list[float]) -> Any:
    """Frames whose envelope is as high as told, in every bin; what is louder than a pause is voiced."""
    told = np.array(levels, np.float16)
    return diphones.Frames(np.repeat(told[:, None], 5, 1), told[:, None].astype(np.float32), told > 0)


def recording(names: str, count: int, step: float = 0.0) -> tuple[list[Any], Any]:
    """Phones of one letter (p is a pause), `count` frames each, whose envelopes rise by `step` a phone."""
    told = ["pau" if name == "p" else name for name in names]
    length = count * diphones.FRAME_S
    phones = [segment.Phone(name, at * length, (at + 1) * length) for at, name in enumerate(told)]
    return phones, frames([LEVEL[name] + at * step for at, name in enumerate(told) for _ in range(count)])


def voice(names: str, count: int = 8) -> Any:
    return diphones.drawn([recording(names, count)], 120.0, random.Random(1))


def timed(*phones: tuple[str, float]) -> list[Any]:
    """Phones by name and length in milliseconds."""
    ends = np.cumsum([length for _, length in phones]) / 1000
    return [
        segment.Phone(name, end - length / 1000, end) for (name, length), end in zip(phones, ends.tolist(), strict=True)
    ]


def levels(spoken: Any) -> list[float]:
    return [float(level) for level in spoken.envelope[:, 0]]


def test_phones_last_as_long_as_they_are_told_to() -> None:
    spoken = diphones.spoken(voice("pabcp"), timed(("pau", 20), ("a", 40), ("b", 100), ("pau", 20)), 0.0)
    assert levels(spoken) == [-20.0] * 4 + [1.0] * 8 + [2.0] * 20 + [-20.0] * 4
    assert spoken.voiced.tolist() == [level > 0 for level in levels(spoken)]


def test_a_pair_that_nobody_said_is_put_together_of_halves() -> None:
    has = voice("pabcp")
    assert ("a", "c") not in has.pairs
    spoken = diphones.spoken(has, timed(("pau", 20), ("a", 40), ("c", 40), ("pau", 20)), 0.0)
    assert levels(spoken) == [-20.0] * 4 + [1.0] * 8 + [3.0] * 8 + [-20.0] * 4


def test_a_phone_that_nobody_said_is_an_error() -> None:
    with pytest.raises(KeyError):
        diphones.spoken(voice("pabp"), timed(("pau", 20), ("c", 40)), 0.0)


def test_envelopes_that_jump_in_mid_phone_meet_half_way() -> None:
    low, high = recording("pap", 8), recording("bab", 8, step=4.0)
    drawn = diphones.drawn([low, high], 120.0, random.Random(1))
    drawn.pairs["pau", "a"] = frames([LEVEL["pau"]] * 4), frames([1.0] * 4)
    drawn.pairs["a", "pau"] = frames([5.0] * 4), frames([LEVEL["pau"]] * 4)
    told = timed(("pau", 20), ("a", 40), ("pau", 20))
    assert levels(diphones.spoken(drawn, told, 0.0))[4:12] == [1.0] * 4 + [5.0] * 4
    assert levels(diphones.spoken(drawn, told, 1.0))[4:12] == [1.5, 2.0, 2.5, 3.0, 3.0, 3.5, 4.0, 4.5]


def test_voices_of_a_donor_have_different_pieces() -> None:
    rows = [recording("pabcp", 8, step=step) for step in (0.0, 0.5, 1.0, 1.5)]
    drawn = [diphones.drawn(rows, 120.0, random.Random(seed)) for seed in range(4)]
    begun = {float(one.pairs["a", "b"][1].envelope[0, 0]) for one in drawn}
    assert len(begun) > 1


def test_formants_move_by_a_factor() -> None:
    envelope = np.zeros((2, 9))
    envelope[:, 4] = 1.0
    assert diphones._warped(envelope, 1.25).argmax(1).tolist() == [5, 5]
    assert diphones._warped(envelope, 1.0).tolist() == envelope.tolist()


def test_espeaks_phones_are_named_as_flites_and_share_its_time() -> None:
    begun = [(0, "t"), (2205, "A@"), (6615, "t"), (8820, "t"), (11025, "_:")]
    told = prosody._phones(begun, 13230, RATE)
    assert [(phone.name, round(phone.end, 2)) for phone in told] == [
        ("pau", 0.06), ("t", 0.16), ("aa", 0.26), ("r", 0.36), ("t", 0.56), ("pau", 0.66),
    ]  # fmt: skip
    assert all(before.end == after.begin for before, after in pairwise(told))


def test_a_sound_that_flite_does_not_name_is_an_error() -> None:
    with pytest.raises(KeyError):
        prosody._phones([(0, "q!")], 2205, RATE)
