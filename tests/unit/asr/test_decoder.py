"""Bounds, cuts and joins of decodes."""

import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE
from schemas.transcript import Hypothesis
from services.asr.decoder import Decoded, joined, max_length, split, token_limit


@pytest.mark.parametrize(("tokens", "prompt"), [(24, 4), (5, 4), (120, 4), (3, 200)])
def test_max_length_allows_the_tokens_asked_for(tokens: int, prompt: int) -> None:
    asked = max_length(tokens, prompt)
    assert min(asked // 2, asked - prompt) >= tokens


def test_the_token_limit_grows_with_the_speech_and_ends() -> None:
    assert token_limit(0.3, 120) >= 8
    assert token_limit(3, 120) > token_limit(1, 120)
    assert token_limit(600, 120) == 120


def test_short_speech_is_not_cut() -> None:
    samples = np.zeros(3 * SAMPLE_RATE, dtype=np.float32)
    assert [p.size for p in split(samples, 11.0)] == [samples.size]


def test_long_speech_is_cut_where_it_is_quiet_and_nothing_is_lost() -> None:
    samples = np.random.default_rng(1).normal(0, 0.1, 25 * SAMPLE_RATE).astype(np.float32)
    quiet = slice(int(8.0 * SAMPLE_RATE), int(8.3 * SAMPLE_RATE))
    samples[quiet] = 0.0
    pieces = split(samples, 11.0)
    assert np.array_equal(np.concatenate(pieces), samples)
    assert all(0 < p.size <= 11 * SAMPLE_RATE for p in pieces)
    assert quiet.start <= pieces[0].size <= quiet.stop


def test_pieces_are_joined_rank_by_rank() -> None:
    first = Decoded((Hypothesis("one", -0.1), Hypothesis("won", -0.4)), 0.2)
    second = Decoded((Hypothesis("two", -0.3),), 0.05)
    whole = joined([first, second], " ")
    assert [h.text for h in whole.hypotheses] == ["one two", "won two"]
    assert whole.hypotheses[0].avg_logprob == pytest.approx(-0.2)
    assert whole.no_speech_prob == pytest.approx(0.05)
