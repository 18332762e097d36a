"""How a text is read to an engine: texts/reading.py; and which voices train: voices/engines.py."""

import pytest

from recogniser.texts import reading


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("m a r i a", "M eigh R i eigh"),
        ("that's a g", "that's eigh G"),
        ("z two six a", "Z two six eigh"),
        ("a three oh m", "a three oh M"),
        ("send a hundred dollars", "send a hundred dollars"),
        ("a five pound note", "a five pound note"),
    ],
)
def test_a_is_a_letter_among_letters_and_digits_and_a_word_elsewhere(text: str, read: str) -> None:
    words = text.split()
    assert " ".join(reading.read(words, i) for i in range(len(words))) == read


def test_no_voice_trains_that_is_kept_for_tests() -> None:
    pytest.importorskip("soundfile", reason="the training's own environment has it: make asr-test")
    from recogniser.evaluate import acceptance
    from recogniser.voices import engines

    assert not acceptance.HELD_OUT.keys() & {voice for table in engines.TRAIN.values() for voice in table}
