"""The simulation of fleets does what a line of people does, and is the same each time."""

from collections.abc import Callable

import numpy as np
import pytest

from deploy.scale.__main__ import percentiles
from deploy.scale.simulation import FINAL, PARTIAL, Costs, Fleet, Host, Pool, Spread, World, simulate

ALONE = Costs(asked=0.0, frames=0.0, silence=Spread(0.2, 0.2001), turn=Spread(0.01, 0.01001))


def world() -> World:
    return World(Costs(), Fleet(0, 1, 1), np.random.default_rng(1))


def noted(at: World, done: dict[str, float], name: str) -> Callable[[], None]:
    return lambda: done.update({name: round(at.now, 6)})


def test_a_caller_alone_waits_for_the_silence_and_the_turn() -> None:
    assert percentiles(simulate(ALONE, Fleet(1, 1, 1), 60).waits)[0] == pytest.approx(210, abs=1)


def test_threads_share_cores_fairly() -> None:
    at, done = world(), dict[str, float]()
    host = Host(at, 1)
    host.work(1.0, noted(at, done, "short"))
    host.work(2.0, noted(at, done, "long"))
    at.run(10)
    assert done == {"short": 2.0, "long": 3.0}
    assert host.use(10) == pytest.approx(0.3)


def test_a_final_goes_before_partials_and_who_is_not_wanted_is_left_out() -> None:
    at, done = world(), dict[str, float]()
    pool = Pool(Host(at, 1), 1)
    pool.ask(PARTIAL, 1.0, noted(at, done, "under way"))
    pool.ask(PARTIAL, 1.0, noted(at, done, "waiting"))
    pool.ask(PARTIAL, 1.0, noted(at, done, "given up")).clear()
    pool.ask(FINAL, 1.0, noted(at, done, "final"))
    at.run(10)
    assert done == {"under way": 1.0, "final": 2.0, "waiting": 3.0}


def test_too_few_of_either_is_felt() -> None:
    enough, *few = (simulate(Costs(), Fleet(200, g, r), 10).waits for g, r in ((8, 8), (4, 8), (8, 1)))
    assert all(percentiles(waits)[1] > 2 * percentiles(enough)[1] for waits in few)


def test_the_same_seed_gives_the_same_calls() -> None:
    assert simulate(Costs(), Fleet(5, 1, 1), 10).waits == simulate(Costs(), Fleet(5, 1, 1), 10).waits
