"""Side by side: a peer's calls are judged by the same rules as ours, and ratios say how many times ours."""

from typing import Any

import pytest

from deploy.bench.peers import compared, pipecat_figures


def call(words: str, *heard: str, pause_s: float = 0.0, first_ms: float | None = 400.0, cut: bool = False) -> Any:
    return {"words": words, "heard": list(heard), "pause_s": pause_s, "first_ms": first_ms, "cut": cut}


CALLS = [
    call("what's my balance", "What's my balance?", first_ms=300.0),
    call("lock my debit card", "lock my", "debit card", first_ms=500.0, cut=True),
    call("pay my bill", "play my bill", first_ms=None),
    call("send | fifty dollars", "send", "fifty dollars", pause_s=0.3, cut=True, first_ms=2000.0),
    call("send | fifty dollars", "send fifty dollars", pause_s=0.3),
    call("send | fifty dollars", "send fifty dollars", pause_s=0.6),
    call("send | fifty dollars", "send fifty dollars", pause_s=0.8),
]


def test_a_peers_calls_become_figures_as_ours_do() -> None:
    figures = pipecat_figures(CALLS)
    assert figures["p50_ms"] == pytest.approx(400.0)  # of the whole commands that were answered
    assert figures["false_cutoff_rate"] == pytest.approx(1 / 4)
    assert figures["whole_cutoff_rate"] == pytest.approx(1 / 3)
    assert figures["words_right_rate"] == pytest.approx(2 / 3)
    assert (figures["unanswered"], figures["calls"]) == (1, 7)


def test_ratios_say_how_many_times_ours_a_peers_latency_is() -> None:
    peer = pipecat_figures(CALLS)
    found = compared(peer | {"p50_ms": 200.0}, peer, "pipecat")
    assert found["pipecat_p50_ratio"] == pytest.approx(2.0)
    assert found["pipecat_p95_ratio"] == pytest.approx(1.0)
    assert found["pipecat_false_cutoff_rate"] == peer["false_cutoff_rate"]
    assert not any(key.endswith("rate_ratio") for key in found)
