"""Text from a stranger never raises, anywhere on the text path, in any state of a call."""

import cProfile
import pstats
from functools import lru_cache
from itertools import islice
from pathlib import Path

import pytest

from deploy.bench.cases.garble import SEED, garble_file, garbled, spliced
from deploy.bench.cases.hostile import HostileCall, faults, places
from deploy.bench.cases.player import ConversationPlayer

MOST_CALLS = 1_000_000
"""Of functions, for one utterance: some tenths of a second."""
PIECES = Path(__file__).parents[1] / "data" / "fuzz" / "pieces.yaml"


@lru_cache
def ears(customer: str, before: str) -> HostileCall:
    return HostileCall.of(ConversationPlayer.of(customer), before)


@pytest.mark.parametrize(("customer", "before"), places(), ids=lambda said: said or "nothing")
@pytest.mark.parametrize(
    "text",
    [
        "2,3千円", "佐藤花子さんに2,3千円送って", "2,3 dollars", "send 5,1 dollars to emily", "at 1,2", "1,2,3",
        "9,9 pm", "口座番号は0000000000 # 5 ・にじゅう です", "・", "・に五千円送って", "send to ・",
        "no, %五 とdoubleyen 零", "no, canceltwo分 ٣by2triple first m a ¥", "2026-2-99999999999999999999",
        "99999999999999999999/1/2026", "1−1−さんぜん", "に送. さんに振込、今月分の",
        "口座番号は二" + "0" * 46 + " 2 ユーロ",
        "0" * 5_000, "9" * 5_000, "1." * 300, "1:" * 300, "1/" * 300, "-" * 900,
        "一" * 900, "万" * 900, "½" * 300, "", " ", "\0", "\ud800", "\u202e50\u202c dollars", "花子、" * 160,
        "反対です、すみません、やつ うの伊藤さんや and 電気代と携帯代、", "電気代と携帯代、",
        "口座にいくら残っとうか教えて、すみません、ほうです、大家さんに振り込みたい",
        "二千円送ってください、えっと違いでした、えっとました",
        "not emily, " * 45, "yes no " * 70, "あ." * 250,
    ],
)  # fmt: skip
def test_what_has_raised_before_or_might(customer: str, before: str, text: str) -> None:
    ears(customer, before).hear(text)


@pytest.mark.parametrize(("customer", "text"), [("takahashi-misaki", "あ." * 125), ("alex-morgan", "yes no " * 36)])
def test_no_words_keep_the_other_callers_waiting(customer: str, text: str) -> None:
    """Counted, not timed: pairs of parts made ten million calls of the first."""
    listening = ears(customer, "")
    listening.hear(text)
    work = cProfile.Profile()
    work.runcall(listening.hear, f"{text} ")
    assert pstats.Stats(work).total_calls < MOST_CALLS  # type: ignore[attr-defined] # typeshed lacks it


def test_the_same_strings_are_made_again() -> None:
    file = garble_file(PIECES)
    assert list(garbled(file, 50)) == list(garbled(file, 50))
    assert list(garbled(file, 50)) != list(garbled(file, 50, SEED + 1))


def test_pieces_of_sentences_are_made_again_and_join_several() -> None:
    file, sentences = garble_file(PIECES), ["send emily fifty dollars", "no wait"]
    made = list(islice(spliced(file, sentences), 50))
    assert made == list(islice(spliced(file, sentences), 50))
    assert any(joint.strip() and joint in text for joint in file.joints for text in made)


def test_five_hundred_strings_raise_nothing() -> None:
    assert list(faults(garble_file(PIECES), 500, SEED)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_million_strings_raise_nothing() -> None:
    assert list(faults(garble_file(PIECES), 1_000_000, SEED)) == []
