"""Whether what was said is the beginning of something that callers say: what a caller who pauses there goes on with."""

import pytest

from schemas.ids import EN_US, JA_JP, Locale
from schemas.intent import Context
from schemas.transcript import Transcript
from services.interpretation import InterpretationContext, interpret
from services.observability.metrics import Stamps
from services.payees import PayeeIndex
from tests.fakes.desk import NOW


@pytest.mark.parametrize(
    ("locale", "words", "begun"),
    [
        (EN_US, "could i", True),
        (EN_US, "i lost", True),
        (EN_US, "show me", True),
        (EN_US, "show me my transactions", False),
        (EN_US, "he went to the store", False),
        (JA_JP, "カードを", True),
        (JA_JP, "教えて", True),
        (JA_JP, "今日は天気がいい", False),
    ],
)
def test_begun(locale: Locale, words: str, begun: bool) -> None:
    nobody = PayeeIndex.build((), NOW.date())
    heard = Transcript.typed(words, locale)
    assert (
        interpret(heard, InterpretationContext(Context(), NOW), nobody, Stamps(lambda: 0.0)).understood.begun is begun
    )
