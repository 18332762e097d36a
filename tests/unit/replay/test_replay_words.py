"""Errors of hearing: one way of writing counts as another, and what was misheard is told, by the kind of word."""

import pytest

from app.qa.replay.judging.score import score
from app.qa.replay.judging.words import AMOUNT, DIGITS, NAME, Errors, hearing, word_errors
from app.qa.replay.manifests.manifest import Expectation
from tests.replay.samples import result, turn


@pytest.mark.parametrize(
    ("said", "heard", "locale"),
    [
        ("$20", "twenty dollars", "en-US"),
        ("Okay, 3:30 p.m.", "ok three thirty pm", "en-US"),
        ("what colour is it", "what color is it", "en-GB"),
        ("Dr. Smith", "doctor smith", "en-US"),
        ("pay £12.50 by the 15th", "pay twelve pounds fifty by the fifteenth", "en-GB"),
        ("3000円送って", "三千円送って", "ja-JP"),
        ("cancel the cheque", "cancel the check", "en-US"),
    ],
)
def test_spelling_is_no_error(said: str, heard: str, locale: str) -> None:
    assert hearing(said, heard, locale).errors.edits == 0
    assert word_errors(said, heard, locale).edits > 0


def test_sorts_kinds_and_pairs() -> None:
    said, heard = "send 50 dollars to catherine from card 4211", "so send 15 dollars to karen card 4 2 9 1"
    found = hearing(said, heard, "en-US", "catherine-nguyen")
    assert (found.errors.substitutions, found.errors.deletions, found.errors.insertions) == (3, 1, 1)
    assert set(found.misheard) == {("5000USD", "1500USD"), ("catherine", "karen"), ("from", ""), ("1", "9"), ("", "so")}
    assert found.by_kind[NAME] == Errors(1, 1, 1)
    assert found.by_kind[AMOUNT] == Errors(1, 1, 1)
    assert found.by_kind[DIGITS] == Errors(1, 4, 1)


def test_a_run_tells_its_most_misheard_words() -> None:
    expect = Expectation(transcript="send fifty dollars to kate", payee="catherine-nguyen")
    records = [turn(case=f"c{i}", audio="a", heard="send fifteen dollars to kate", expect=expect) for i in range(3)]
    found = score([result(record) for record in records])
    assert found.misheard["en"][0] == ("5000USD", "1500USD", 3)
    assert found.ratios["wer_amounts"].value == 1.0
    assert found.ratios["wer_substitutions"].right == 3
    assert "wer_digits" not in found.ratios


def test_typed_words_are_no_hearing() -> None:
    typed = turn(heard="x", expect=Expectation(transcript="send fifty dollars"))
    assert "wer" not in score([result(typed)]).ratios
