"""The search by ear against its definition: every transcript there is, ranked by both models."""

import itertools
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from services.asr import search
from services.asr.ctc import CtcHead, Floats
from services.asr.ngrams import Ngrams
from services.asr.search import PrefixSearch
from tests.unit.asr._language import TOKENS, counted

BLANK: Final = TOKENS
MODELLED: Final = ([[0, 1]] * 6 + [[2, 2, 1], [1]], [1, 1, 1])
POSITIONS: Final = 4
sounds: Final = arrays(np.float32, (POSITIONS, TOKENS + 1), elements=st.floats(-6, 6, width=32))


@pytest.fixture(scope="module")
def ngrams(tmp_path_factory: pytest.TempPathFactory) -> Ngrams:
    return counted(tmp_path_factory.mktemp("model"), *MODELLED)


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> CtcHead:
    path: Path = tmp_path_factory.mktemp("head") / "ctc.npz"
    np.savez(path, weight=np.eye(TOKENS + 1), bias=np.zeros(TOKENS + 1), blank=BLANK)
    return CtcHead(path)


def sound(*rows: dict[int, float]) -> Floats:
    """Log-probabilities of positions at which these labels are heard, each so probably."""
    shares = np.full((len(rows), TOKENS + 1), 1e-6)
    for at, row in enumerate(rows):
        shares[at, list(row)] = list(row.values())
    return np.log(shares / shares.sum(axis=1, keepdims=True)).astype(np.float32)


@given(logits=sounds)
@settings(max_examples=60, deadline=None)
def test_wide_enough_it_finds_every_transcript_in_the_order_of_both_models(
    logits: Floats, ngrams: Ngrams, head: CtcHead
) -> None:
    log_probs = head.log_probs(logits)

    def scores(candidates: list[list[int]]) -> list[float]:
        bonus = search.LABEL_BONUS * np.array([len(c) for c in candidates])
        return list(head.score(log_probs, candidates) + search.LANGUAGE_WEIGHT * ngrams.score(candidates) + bonus)

    with pytest.MonkeyPatch.context() as patched:
        for name, value in {"WIDTH": 1_000, "FAINTEST": -1e6, "SURE_BLANK": 0.0}.items():
            patched.setattr(search, name, value)
        found = PrefixSearch(ngrams, BLANK, []).best(log_probs)
    every = [list(row) for n in range(1, POSITIONS + 1) for row in itertools.product(range(TOKENS), repeat=n)]
    possible = sorted((s for s in scores(every) if s > -1e6), reverse=True)
    assert len({tuple(f) for f in found}) == len(found) == len(possible)
    assert scores(found) == pytest.approx(possible, abs=1e-3)


@given(logits=sounds)
@settings(max_examples=20, deadline=None)
def test_it_keeps_no_more_than_its_width(logits: Floats, ngrams: Ngrams, head: CtcHead) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(search, "WIDTH", 3)
        found = PrefixSearch(ngrams, BLANK, []).best(head.log_probs(logits))
    assert len(found) <= 3
    assert all(found)


def test_of_what_sounds_alike_it_takes_what_is_said(ngrams: Ngrams, head: CtcHead) -> None:
    heard = sound({0: 0.97, BLANK: 0.02}, {BLANK: 1.0}, {2: 0.5, 1: 0.4, BLANK: 0.1})
    assert head.greedy(heard) == [0, 2]
    assert PrefixSearch(ngrams, BLANK, []).best(heard)[:2] == [[0, 1], [0, 2]]


def test_a_label_again_is_another_only_after_blank(ngrams: Ngrams) -> None:
    held, again = ({2: 0.98, BLANK: 0.01} for _ in range(2))
    found = PrefixSearch(ngrams, BLANK, []).best
    assert found(sound(held, again, {1: 0.99}))[0] == [2, 1]
    assert found(sound(held, {BLANK: 1.0}, again, {1: 0.99}))[0] == [2, 2, 1]


def test_control_tokens_are_not_written(ngrams: Ngrams) -> None:
    found = PrefixSearch(ngrams, BLANK, [2]).best(sound({2: 0.6, 0: 0.3}, {1: 0.9}))
    assert found
    assert not any(2 in transcript for transcript in found)


def test_in_silence_there_is_nothing(ngrams: Ngrams) -> None:
    assert PrefixSearch(ngrams, BLANK, []).best(sound({BLANK: 1.0}, {BLANK: 1.0})) == []
