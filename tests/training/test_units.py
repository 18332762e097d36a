"""A voice of recordings: voices/segment.py finds their phones, voices/units.py says new sentences with them."""

import random  # noqa: TID251 - seeded where it is used
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from recogniser.voices import segment, units

PITCH: Final = {"pau": 0.0, "a": 200.0, "b": 400.0, "c": 800.0}
LENGTH_S: Final = 0.1
RATE: Final = 16_000


def frames(names: str, each: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Features of phones of one letter, `each` frames long, a dimension for each letter; p is a pause."""
    rows = [np.eye(4)["pabc".index(name)] for name in names for _ in range(each)]
    return np.array(rows) * 3 + rng.normal(0, 0.3, (len(rows), 4))


def phones(names: str) -> list[str]:
    return ["pau" if name == "p" else name for name in names]


def begun(rng: np.random.Generator) -> Any:
    known = [segment.Phone(name, i * 0.12, (i + 1) * 0.12) for i, name in enumerate(phones("pabcbap"))]
    return segment.Model.begun([(frames("pabcbap", 12, rng), known)])


def test_phones_are_found_where_they_are() -> None:
    rng = np.random.default_rng(1)
    model = begun(rng)
    heard = np.concatenate([frames("p", 5, rng), frames("a", 20, rng), frames("c", 7, rng), frames("p", 9, rng)])
    found = model.segment(heard, phones("pacp"))
    assert [(phone.name, round(phone.begin * 100), round(phone.end * 100)) for phone in found] == [
        ("pau", 0, 5), ("a", 5, 25), ("c", 25, 32), ("pau", 32, 41),
    ]  # fmt: skip
    assert found[1].middle == pytest.approx(0.15)


def test_a_pause_that_nobody_made_is_left_out() -> None:
    rng = np.random.default_rng(2)
    found = begun(rng).segment(frames("abc", 10, rng), phones("papbpcp"))
    assert [phone.name for phone in found] == ["a", "b", "c"]
    found = begun(rng).segment(frames("apbc", 10, rng), phones("papbpcp"))
    assert [phone.name for phone in found] == ["a", "pau", "b", "c"]


def test_a_speaker_is_learnt_from_what_was_said() -> None:
    rng = np.random.default_rng(3)
    model, shift = begun(rng), np.array([0.0, 0.8, 0.8, 0.8])
    heard = [(frames("pabcp", 15, rng) + shift, phones("pabcp")) for _ in range(60)]
    learnt = model.refitted(heard)
    row = learnt.row["a"]
    assert learnt.means[row : row + 3, 1].mean() == pytest.approx(3.8, abs=0.2)
    assert model.means[row : row + 3, 1].mean() == pytest.approx(3.0, abs=0.2)


def test_phones_that_a_speaker_hardly_said_stay_as_they_were() -> None:
    rng = np.random.default_rng(6)
    model = begun(rng)
    learnt = model.refitted([(frames("pap", 6, rng), phones("pap"))])
    assert (learnt.means == model.means).all()
    assert (learnt.variances == model.variances).all()


def test_no_phone_is_told_by_an_accident_of_two_like_frames() -> None:
    known = [segment.Phone("a", 0.0, 0.1), segment.Phone("b", 0.1, 0.2)]
    model = segment.Model.begun([(np.repeat(np.eye(4)[1:3], 10, 0), known)])
    assert model.variances.min() == segment.LEAST_VARIANCE


def test_too_few_frames_for_the_phones_are_refused() -> None:
    rng = np.random.default_rng(4)
    with pytest.raises(ValueError, match="too few"):
        begun(rng).segment(frames("a", 5, rng), phones("abc"))


def recording(names: str) -> Any:
    """A tone for each phone; the features say which one."""
    told = [segment.Phone(n, i * LENGTH_S, (i + 1) * LENGTH_S) for i, n in enumerate(phones(names))]
    wave = [np.sin(2 * np.pi * PITCH[n] * np.arange(int(LENGTH_S * RATE)) / RATE) for n in phones(names)]
    return units.PhonedRecording(
        np.concatenate(wave).astype(np.float32), told, frames(names, 10, np.random.default_rng(5))
    )


def heard(sound: NDArray[np.float32]) -> list[float]:
    """The strongest frequency of each whole 50 ms, silence apart."""
    parts = sound[: sound.size // 800 * 800].reshape(-1, 800)
    return [float(np.abs(np.fft.rfft(part)).argmax() * RATE / 800) for part in parts if np.abs(part).max() > 0.1]


def test_what_was_said_is_said_again() -> None:
    voice = units.UnitVoice([recording("pabcp")])
    pieces = voice.pieces(phones("pabcp"), random.Random(1))
    assert [(piece.first, piece.last, piece.joined) for piece in pieces] == [(0, 4, False)]
    assert heard(voice.say(phones("pabcp"), random.Random(1))) == [200, 200, 400, 400, 800, 800]


def test_little_of_the_quiet_around_a_sentence_stays() -> None:
    said = units.UnitVoice([recording("ppppapppp")])
    pauses = [segment.Phone("pau", 0.0, 0.4), segment.Phone("a", 0.4, 0.5), segment.Phone("pau", 0.5, 0.9)]
    long = units.PhonedRecording(said.recordings[0].sound, pauses, said.recordings[0].features)
    sound = units.UnitVoice([long]).say(phones("pap"), random.Random(1))
    assert sound.size == pytest.approx((0.1 + 2 * units.AROUND_S) * RATE, abs=2)


def test_pieces_are_joined_in_the_middle_of_a_phone() -> None:
    voice = units.UnitVoice([recording("pabp"), recording("pbcp")])
    pieces = voice.pieces(phones("pabcp"), random.Random(1))
    assert [(len(p.recording.phones), p.first, p.last, p.joined) for p in pieces] == [(4, 0, 2, False), (4, 1, 3, True)]
    said = voice.say(phones("pabcp"), random.Random(1))
    assert said.size == pytest.approx(5 * LENGTH_S * RATE, abs=units.FADE + 2 * units.SHIFT)
    assert sorted(set(heard(said))) == [200, 400, 800]


def test_phones_that_never_met_stand_side_by_side() -> None:
    voice = units.UnitVoice([recording("pap"), recording("pcp")])
    pieces = voice.pieces(phones("pacp"), random.Random(1))
    assert [(p.first, p.last, p.joined) for p in pieces] == [(0, 1, False), (1, 2, False)]
    assert sorted(set(heard(voice.say(phones("pacp"), random.Random(1))))) == [200, 800]


def test_a_phone_that_nobody_said_is_refused() -> None:
    voice = units.UnitVoice([recording("pap")])
    with pytest.raises(KeyError, match="b"):
        voice.say(phones("pabp"), random.Random(1))


def test_of_many_pieces_the_one_that_goes_on_most_alike_is_taken() -> None:
    first, alike, unlike = (recording(names) for names in ("pab", "bcp", "bcp"))
    strange = units.PhonedRecording(unlike.sound, unlike.phones, unlike.features + 5)
    for order in ([first, alike, strange], [first, strange, alike]):
        pieces = units.UnitVoice(order).pieces(phones("pabcp"), random.Random(1))
        assert pieces[1].recording is alike


def test_waves_meet_where_pieces_are_joined() -> None:
    wave = np.sin(2 * np.pi * 250 * np.arange(RATE) / RATE).astype(np.float32)
    for late in (0, 10, 23, 32, 40):
        joined = units.spoken([(wave, 0, 4000), (wave, 4000 + late, 8000)])
        assert np.abs(np.diff(joined)).max() <= np.abs(np.diff(wave)).max() * 1.1
        around = joined[4000 - 4 * units.FADE :][: 8 * units.FADE]
        assert np.abs(around[: around.size // 64 * 64].reshape(-1, 64)).max(1).min() > 0.95  # nothing is cancelled out


def test_pieces_may_be_bounded() -> None:
    voice = units.UnitVoice([recording("pabcp")])
    names = phones("pabcp")
    assert [(p.first, p.last) for p in voice.pieces(names, random.Random(1), 2)] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert [(p.first, p.last) for p in voice.pieces(names, random.Random(1))] == [(0, 4)]
