"""Turn-taking over a part of the benchmark's corpus, with a recogniser that never mishears."""

import asyncio

from deploy.bench._calls.corpus import load, some, utterances
from deploy.bench._calls.heard_by import HeardBy
from deploy.bench.turns import figures_of, take_all
from schemas.call import Patience


def test_callers_who_pause_are_waited_for_and_others_answered() -> None:
    corpus = load()
    played = [*some(utterances(corpus, "simple"), 8), *some(utterances(corpus, "paused"), 16)]
    taken = asyncio.run(take_all(played, HeardBy.ORACLE, Patience()))
    assert all(".open@" in one.turns[0].rule for one in taken if one.cut), "but after what is whole to the ear"
    figures = figures_of(taken)
    assert isinstance(figures["false_cutoff_rate"], float)
    assert figures["false_cutoff_rate"] <= 1 / 16
    assert figures["whole_cutoff_rate"] == 0
    assert figures["unended"] == 0
    assert isinstance(figures["p95_ms"], float)
    assert figures["p95_ms"] <= 350
