"""What the overload benchmark makes of a load, and how its callers fare at a door that has no place."""

from pathlib import Path

import numpy as np

from deploy.bench._calls.corpus import PlayedUtterance
from deploy.bench._calls.open_loop import Load, arrivals
from deploy.bench.overload import figures_of
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.served import served

SAID = PlayedUtterance("send it", "en-US", "alex-morgan", "v", np.zeros(0, np.float32), ())


def test_the_queue_that_is_longest_is_named() -> None:
    load = Load(refused_ms=[4.0, 6.0], queues={"decodes": [0.0, 4.0], "openings": [1.0, 0.0]})
    found = figures_of(load)
    assert found["longest_queue"] == "decodes"
    assert (found["waiting_decodes"], found["waiting_openings_most"]) == (2.0, 1.0)
    assert (found["admitted"], found["refused"], found["refusal_p50_ms"]) == (0, 2, 5.0)


def test_where_nothing_waited_no_queue_is_named() -> None:
    assert figures_of(Load(queues={"decodes": [0.0]}))["longest_queue"] == "none"


async def test_callers_who_find_no_place_are_refused_with_a_time_and_queues_are_looked_at(tmp_path: Path) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), max_calls=1) as running:
        with running.gateway.admission.enter():
            load = await arrivals(running.http, [SAID], 10.0, 1.0)
    assert not load.admitted
    assert len(load.refused_ms) > 3
    assert (load.untold, load.broken) == (0, 0)
    assert load.queues["openings"] == [0.0] * len(load.queues["openings"])
