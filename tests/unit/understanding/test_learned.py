"""The learned reader: what it sees of words, its file, and what its arithmetic makes of them."""

import lzma

import numpy as np
import pytest

import rules.load
from deploy.understanding.arithmetic import Rows, fitted
from deploy.understanding.samples import TrainingSentence, samples
from schemas.errors import RulesInvalid
from schemas.ids import Locale, RuleId
from schemas.intent import Annotation
from schemas.span import MoneyValue, Span, SpanKind
from schemas.transcript import Transcript
from services.understanding.learned import reader
from services.understanding.learned.features import BUCKETS, MAX_PIECES, features, masked
from services.understanding.learned.reader import FAMILIES, LearnedReader

EN, JA = Locale("en-US"), Locale("ja-JP")
MAX_BYTES = 80_000


def heard(text: str, *spans: Span, locale: Locale = EN) -> Annotation:
    return Annotation(Transcript.typed(text, locale), spans)


def money(start: int, end: int, surface: str) -> Span:
    return Span(SpanKind.MONEY, surface, start, end, MoneyValue(5000, "USD"), RuleId("test@1"))


def test_values_are_masked() -> None:
    assert masked(heard("Send $50 now", money(5, 8, "$50"))).split() == ["send", "#", "now"]


def test_the_same_words_with_another_value_look_the_same() -> None:
    one = features(heard("send $50 now", money(5, 8, "$50")), (), spaced=True)
    other = features(heard("send $7 now", money(5, 7, "$7")), (), spaced=True)
    assert one == other != features(heard("send now"), (), spaced=True)


def test_what_a_rule_met_is_seen() -> None:
    words = heard("残高", locale=JA)
    assert features(words, (RuleId("veto.past"),), spaced=False) != features(words, (), spaced=False)


def test_pieces_of_long_words_have_a_bound() -> None:
    found = features(heard("word " * 2_000 + "".join(map(chr, range(0x4E00, 0x5E00)))), (), spaced=True)
    assert 0 < len(found) <= MAX_PIECES


def test_the_file_is_small_and_reads_both_languages() -> None:
    assert len(rules.load.read(reader.PATH)) <= MAX_BYTES
    for language in ("en", "ja"):
        learned = LearnedReader.of(language)
        assert learned is not None
        assert learned.weights.shape == (BUCKETS, len(FAMILIES))
        assert learned.logits([]).shape == (len(FAMILIES),)
    assert LearnedReader.of("id") is None


@pytest.mark.parametrize("content", [b"{}\n", b'{"id": "x"}\nabc', b"\n"])
def test_a_broken_file_is_refused(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(reader, "read", lambda _: lzma.compress(content))
    with pytest.raises(RulesInvalid):
        reader._readers.__wrapped__()


def test_the_arithmetic_tells_two_families_apart() -> None:
    rows = Rows.of([[1, 2], [1, 3], [4, 2], [4, 3]] * 5)
    right = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 5, np.float32)
    weights, biases = fitted(rows, right, np.ones_like(right), 1e-4, 200)
    assert (((rows.times(weights) + biases) > 0) == (right > 0)).all()
    assert np.abs(weights[2:4]).max() < np.abs(weights[1]).max() / 10  # what tells nothing weighs next to nothing


def test_no_sentence_that_is_kept_apart_is_learned_from() -> None:
    for language in ("en", "ja"):
        every = samples(language)
        apart = {sample.text.casefold() for sample in every if sample.apart}
        assert len(apart) >= 190
        assert apart.isdisjoint(sample.text.casefold() for sample in every if not sample.apart)
        assert all(isinstance(sample, TrainingSentence) and sample.families for sample in every)
