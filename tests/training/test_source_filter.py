"""One synthesiser's speech as another speaker's: recogniser/voices/source_filter.py."""

import random  # noqa: TID251 - seeded where it is used
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

from recogniser.texts import accents, kana, phonemes
from recogniser.voices import kokoro, source_filter

SAME: Final = source_filter.DrawnSpeaker(
    pitch=1.0, tune=1.0, tract=1.0, tilt=0.0, breath=0.0, phases=1.0, rest=1.0, blur=1, unsteady=0.0, seams=0.0
)
FRAMES: Final = 64


def told() -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """What the synthesiser might say: a formant at bin 100, every third frame voiceless."""
    bins, frames = np.arange(601.0)[:, None], np.arange(FRAMES)
    hump = np.exp(-(((bins - 100) / 20) ** 2)) + 0 * frames
    pitch = np.where(frames % 3 == 0, 0.0, 200.0 * 2 ** (0.3 * np.sin(frames / 5)))
    return tuple((hump * size).astype(np.float32) for size in (1.0, 0.5, 0.3, 0.2, 2.0)), pitch.astype(np.float32)


def voiced(speaker: Any, seed: int = 3) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """By another speaker."""
    spectra, pitch = told()
    other: tuple[tuple[np.ndarray, ...], np.ndarray] = source_filter.voiced_by(
        speaker, spectra, pitch, np.random.default_rng(seed)
    )
    return other


def test_the_speaker_that_changes_nothing_changes_nothing() -> None:
    (spectra, pitch), (others, sung) = told(), voiced(SAME)
    for own, other in zip(spectra, others, strict=True):
        np.testing.assert_allclose(other, own, atol=1e-5)
    np.testing.assert_allclose(sung, pitch, rtol=1e-4)


@pytest.mark.parametrize("tract", [0.75, 1.25])
def test_a_shorter_tract_has_higher_formants(tract: float) -> None:
    harmonics = voiced(replace(SAME, tract=tract))[0][0]
    assert set(harmonics.argmax(axis=0)) <= {round(100 * tract) - 1, round(100 * tract), round(100 * tract) + 1}


def test_pitch_is_moved_where_there_is_any_and_flat_for_who_has_no_tune() -> None:
    own = told()[1]
    low = voiced(replace(SAME, pitch=0.5))[1]
    np.testing.assert_allclose(low, own / 2, rtol=1e-4)
    flat = voiced(replace(SAME, tune=0.0))[1]
    assert len(np.unique(np.round(flat[flat > 0], 2))) == 1
    assert ((flat > 0) == (own > 0)).all()


def test_a_low_voice_stays_voiced() -> None:
    sung = voiced(replace(SAME, pitch=0.01))[1]
    assert ((sung > source_filter.VOICED_HZ) == (told()[1] > 0)).all()


def test_who_is_unsteady_drags_and_hurries_but_says_everything_in_turn() -> None:
    frames = source_filter.paced(400, 0.3, np.random.default_rng(5))
    assert (np.diff(frames) >= 0).all()
    assert (frames[0], frames[-1]) == (0, 399)
    assert len(set(np.diff(frames))) > 1
    assert 0.7 * 400 < len(frames) < 1.4 * 400


def test_pieces_differ_from_one_another_and_not_within() -> None:
    steps = source_filter.stepped(200, 1.0, np.random.default_rng(7))
    shortest, longest = source_filter.PIECE
    seams = np.flatnonzero(np.diff(steps[0])) + 1
    assert steps.shape == (4, 200)
    assert ((np.diff(seams) >= shortest) & (np.diff(seams) < longest)).all()
    assert not source_filter.stepped(200, 0.0, np.random.default_rng(7)).any()


def test_blurred_rows_are_means_of_their_neighbours() -> None:
    rows = np.arange(12.0)[:, None] * np.ones(3)
    np.testing.assert_allclose(source_filter.blurred(rows, 5)[2:-2], rows[2:-2])
    spike = np.zeros((9, 1))
    spike[4] = 3.0
    np.testing.assert_allclose(source_filter.blurred(spike, 3)[3:6], 1.0)


def test_the_same_draw_is_the_same_speaker_and_another_is_not() -> None:
    drawn = [source_filter.drawn(random.Random(seed)) for seed in (1, 1, *range(2, 60))]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) == 59
    assert any(speaker.seams for speaker in drawn)
    assert not all(speaker.seams for speaker in drawn)
    assert all(0.72 <= speaker.tract <= 1.3 for speaker in drawn)


@pytest.mark.parametrize(
    ("words", "signs"),
    [
        ([["s", "eh", "n", "d"], ["m", "ah", "n", "iy"]], "sˈɛnd mˈʌni."),
        ([["ax", "b", "aw", "t"], ["pau"], ["dh", "ax"]], "əbˈWt , ðə."),
    ],
)
def test_phones_become_signs_with_the_first_full_vowel_stressed(words: list[list[str]], signs: str) -> None:
    assert kokoro.of_phones(words) == signs


def test_japanese_has_a_stress_on_every_mora_that_has_a_vowel() -> None:
    assert kokoro.of_phones(kana.words("タナカ サン ニ"), evenly=True) == "tˈɑnˌɑkˌɑ sˈɑn nˈi."


def test_every_phone_that_an_accent_can_have_has_a_sign() -> None:
    signs = kokoro.table()["phones"]
    said = {phone for traits in accents.table().values() for ways in traits.values() for way in ways for phone in way}
    heard = {phone for traits in accents.table().values() for trait in traits for phone in trait}
    assert (said | heard) - set(signs) == set()
    read = {phone for phones in phonemes.table().values() for phone in phones}
    moras = {phone for phones in kana.signs().values() for phone in phones}
    assert (read | moras) - set(signs) == set()
