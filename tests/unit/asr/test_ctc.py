"""The CTC head against its definition: the sum over every path that collapses to the labels."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from services.asr.ctc import CtcHead

BLANK = 3


@pytest.fixture
def head(tmp_path: Path) -> CtcHead:
    path = tmp_path / "ctc.npz"
    np.savez(path, weight=np.eye(4, dtype=np.float16), bias=np.zeros(4, dtype=np.float16), blank=BLANK)
    return CtcHead(path)


def collapsed(path: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(s for i, s in enumerate(path) if s != BLANK and (i == 0 or path[i - 1] != s))


def test_the_score_is_the_sum_over_all_paths(head: CtcHead) -> None:
    log_probs = head.log_probs(np.random.default_rng(1).normal(0, 1, (5, 4)).astype(np.float32))
    candidates = [[], [0], [0, 1], [1, 1], [2, 0, 2]]
    scores = head.score(log_probs, candidates)
    for candidate, score in zip(candidates, scores, strict=True):
        paths = [p for p in product(range(4), repeat=5) if collapsed(p) == tuple(candidate)]
        total = np.logaddexp.reduce([sum(log_probs[t, s] for t, s in enumerate(p)) for p in paths])
        assert score == pytest.approx(total, abs=1e-4)


def test_what_does_not_fit_is_impossible(head: CtcHead) -> None:
    log_probs = head.log_probs(np.zeros((2, 4), dtype=np.float32))
    assert head.score(log_probs, [[0, 1, 2]])[0] < -1e8


def test_log_probs_sum_to_one(head: CtcHead) -> None:
    log_probs = head.log_probs(np.random.default_rng(2).normal(0, 9, (7, 4)).astype(np.float32))
    assert np.exp(log_probs).sum(axis=1) == pytest.approx(np.ones(7), abs=1e-5)


def test_greedy_drops_blanks_and_repeats(head: CtcHead) -> None:
    best = [3, 0, 0, 3, 0, 1, 1, 3]
    log_probs = head.log_probs(np.eye(4, dtype=np.float32)[best] * 9)
    assert head.greedy(log_probs) == [0, 0, 1]


def test_where_a_label_is_heard_is_where_blank_is_unlikely(head: CtcHead) -> None:
    log_probs = np.log(np.array([[0.1, 0.1, 0.1, 0.7], [0.3, 0.3, 0.3, 0.1]], dtype=np.float32))
    assert head.new(log_probs) == pytest.approx([0.3, 0.9])
