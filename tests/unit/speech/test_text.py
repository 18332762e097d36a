"""What is said for what replies write: forms by form, and where in the text the words stand."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ids import Locale
from services.response.phrases import outlines
from services.speech.text import MAX_CHARS, prepare, spoken

CASES = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[2] / "data/speech/said.tsv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("locale", "text", "said"), CASES)
def test_a_form_is_read_as_people_read_it(locale: str, text: str, said: str) -> None:
    assert spoken(text, Locale(locale)) == said


@given(st.text(max_size=200), st.sampled_from(["en-US", "en-GB", "ja-JP", "id-ID"]))
def test_any_text_is_said_from_end_to_end_without_a_gap(text: str, locale: str) -> None:
    said = prepare(text, Locale(locale))
    assert [piece.start for piece in said] == [0, *(piece.end for piece in said)][: len(said)]
    assert (said[-1].end if said else 0) == len(text)
    assert all(piece.start < piece.end for piece in said)


@given(st.text("0123456789,.$£%-:/ 円月日年時分", max_size=60), st.sampled_from(["en-US", "en-GB", "ja-JP"]))
def test_no_figure_is_left_to_an_engine(text: str, locale: str) -> None:
    assert not any(character in "0123456789" for character in spoken(text, Locale(locale)))


def test_a_text_has_a_bound() -> None:
    assert prepare("1 " * MAX_CHARS, Locale("en-US"))[-1].end == MAX_CHARS


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_every_reply_is_said_without_figures_or_signs(lang: str) -> None:
    locale = Locale({"en": "en-US", "ja": "ja-JP"}[lang])
    for id_, text in outlines(lang).items():
        assert not set("0123456789$%&@#") & set(spoken(text, locale)), id_
