"""How English is said: recogniser/texts/accents.py and phonemes.py, and their tables."""

import random  # noqa: TID251 - seeded where it is used
from typing import Final

import pytest

from recogniser.texts import accents, phonemes

VOWELS: Final = frozenset(
    {"aa", "ae", "ah", "ao", "aw", "ax", "ay", "eh", "er", "ey", "ih", "iy", "ow", "oy", "uh", "uw"}
)
CONSONANTS: Final = frozenset("bdfgklmnprstvwyz") | {"ch", "dh", "hh", "jh", "ng", "sh", "th", "zh"}
PHONES: Final = VOWELS | CONSONANTS | {"pau"}
THIS_WIND: Final = ["pau", "dh", "ih", "s", "w", "ih", "n", "d", "pau"]


def test_the_longest_trait_goes_first_and_each_is_applied_once() -> None:
    traits = {("dh",): ("d",), ("d", "pau"): ("t", "pau"), ("w",): ("v",), ("v",): ("w",)}
    assert accents.said(THIS_WIND, traits) == ["pau", "d", "ih", "s", "v", "ih", "n", "t", "pau"]


def test_a_phone_may_be_dropped_or_become_several() -> None:
    assert accents.said(["pau", "hh", "ng", "pau"], {("hh",): (), ("ng",): ("n", "g")}) == ["pau", "n", "g", "pau"]
    assert accents.said(THIS_WIND, {}) == THIS_WIND


def test_an_accent_is_drawn_with_its_traits_and_keeps_to_them() -> None:
    accent = accents.drawn(random.Random(5))
    assert accent(THIS_WIND) == accent(THIS_WIND)
    drawn = {tuple(accents.drawn(random.Random(seed))(THIS_WIND)) for seed in range(40)}
    assert len(drawn) > 10


def test_the_table_names_phones_that_voices_have_and_keeps_pauses_at_the_ends() -> None:
    for traits in accents.table().values():
        for heard, ways in traits.items():
            assert PHONES.issuperset(heard)
            for way in ways:
                assert PHONES.issuperset(way)
                assert heard[0] != "pau" or way[0] == "pau"
                assert heard[-1] != "pau" or way[-1] == "pau"


def test_every_sound_of_espeak_has_phones() -> None:
    assert all(PHONES.issuperset(said) for said in phonemes.table().values())


def test_what_espeak_prints_is_told_in_phones_with_a_pause_at_each_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: "h_@_l_'oU_:\n D_@2 t_'aI_d\n")
    said = phonemes.by_espeak("hello, the tide", "en-gb")
    assert said == ["pau", "hh", "ax", "l", "ow", "pau", "dh", "ax", "t", "ay", "d", "pau"]


def test_an_unknown_sound_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: "h_Q_l\n")
    with pytest.raises(KeyError):
        phonemes.by_espeak("hello", "en-gb")
