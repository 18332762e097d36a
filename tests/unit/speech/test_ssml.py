"""Replies for another's voice: read by our rules, and nothing that a name holds is markup."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ids import EN_US, Locale
from services.speech.ssml import ssml, words

READ = [
    (EN_US, "Send $50.00 to Emily?", "Send fifty dollars to Emily?"),
    (EN_US, "It ends in 4821.", "four"),
    (EN_US, "Card ••••4821", "four eight two one"),
    (Locale("en-GB"), "£5.50 on 3 July", "five pounds fifty"),
    (Locale("ja-JP"), "1,500円を送ります。", "せん"),
]


@pytest.mark.parametrize(("locale", "text", "holds"), READ)
def test_amounts_and_figures_are_put_into_words(locale: Locale, text: str, holds: str) -> None:
    said = words(text, locale)
    assert holds in said or not any(map(str.isdigit, said)), said
    assert not any(map(str.isdigit, said)), said


def test_a_payee_can_not_speak_in_tags() -> None:
    document = ssml("To </speak><audio src='https://x'/>& Sons\x00\x1b?", EN_US)
    speak = ET.fromstring(document)
    assert list(speak) == []
    assert speak.text is not None
    assert "Sons" in speak.text


@given(st.text(max_size=200))
def test_whatever_is_said_is_one_document_without_markup(text: str) -> None:
    speak = ET.fromstring(ssml(text, EN_US).encode("utf-8", "surrogatepass"))
    assert speak.tag == "speak"
    assert list(speak) == []
    assert speak.get("{http://www.w3.org/XML/1998/namespace}lang") == "en-US"
