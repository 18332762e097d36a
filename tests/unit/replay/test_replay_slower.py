"""A busy machine is no slower stage, and a stage that is half as slow again is one, on a busy machine too."""

import numpy as np
import pytest

from app.qa.replay.comparing.compare_scores import slower
from app.qa.replay.records.record import Stage, TurnResult
from tests.replay.samples import result, turn

TURNS = 200
WAITS = ("tool_validation", "between stages")
STAGES = {
    "normalization": 0.17,
    "fuzzy_lookup": 0.32,
    "understanding": 1.6,
    "tool_validation": 5.7,
    "between stages": 4.3,
}
EAR, REST = "the ear's work", "the turn's work"


def played(
    seed: int, load: float = 1.0, slow: dict[str, float] | None = None, *, sound: bool = True
) -> tuple[TurnResult, ...]:
    """Turns on a machine that is `load` times as busy, as measured: what is short passes, a few of it late; what waits
    or is long takes `load` times as long, now more and now less; the processor's own time hardly grows."""
    slow, random, found = slow or {}, np.random.default_rng(seed), []
    of = np.random.default_rng(7)  # of every turn its own length, the same in both runs
    for i in range(TURNS):
        length, hum = of.lognormal(0, 0.5), random.lognormal(0, 0.25)
        ms = {}
        for name, middle in (STAGES | ({"asr": 115.0} if sound else {})).items():
            felt = load * hum if name in WAITS or name == "asr" else 1.0
            late = random.exponential(10 * (load - 1)) if felt == 1.0 and random.random() < 0.15 else 0.0
            ms[name] = middle * length * felt * random.lognormal(0, 0.15) * slow.get(name, 1.0) + late
        stages = tuple(Stage(name=name, start_ms=0, ms=taken) for name, taken in ms.items() if name != "between stages")
        work = {EAR: 110.0, REST: 9.0} if sound else {REST: 9.0}
        grown = 1 + 0.02 * (load - 1)
        work = {
            name: middle * length * grown * random.lognormal(0, 0.1) * slow.get(name, 1.0)
            for name, middle in work.items()
        }
        plain = result(turn(case=f"c{i:03}", locale="ja-JP" if i % 3 else "en-US"))
        timing = {"stages": stages, "total_ms": sum(ms.values()), "work": work}
        found.append(plain.model_copy(update={"timing": plain.timing.model_copy(update=timing)}))
    return tuple(found)


@pytest.mark.parametrize("sound", [True, False])
@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 2), (1, 4), (1, 10), (4, 1), (3, 5), (10, 1)])
def test_a_busy_machine_is_no_slower_stage(before: float, after: float, sound: bool) -> None:
    for seed in range(5):
        assert slower(played(2 * seed, before, sound=sound), played(2 * seed + 1, after, sound=sound)) == ()


@pytest.mark.parametrize(("before", "after"), [(1, 1), (1, 4), (4, 4), (4, 1), (1, 8)])
@pytest.mark.parametrize("name", [EAR, REST])
def test_half_as_slow_again_is_seen_whatever_else_the_machine_does(name: str, before: float, after: float) -> None:
    for seed in range(5):
        found = slower(played(2 * seed, before), played(2 * seed + 1, after, {name: 1.5}))
        assert [late.stage for late in found] == [name]


@pytest.mark.parametrize("name", ["asr", "tool_validation"])
def test_a_stage_that_waits_half_as_long_again_is_seen_on_a_machine_that_is_as_busy(name: str) -> None:
    for load in (1.0, 4.0):
        assert name in {late.stage for late in slower(played(0, load), played(1, load, {name: 1.5}))}


@pytest.mark.parametrize("load", [1.0, 4.0])
def test_a_stage_that_waits_in_one_language_alone_is_seen(load: float) -> None:
    before, after = played(0, load), list(played(1, load))
    for i in range(0, TURNS, 3):
        stages = [s.model_copy(update={"ms": s.ms + 20.0}) for s in after[i].timing.stages if s.name == "normalization"]
        others = [stage for stage in after[i].timing.stages if stage.name != "normalization"]
        timing = after[i].timing.model_copy(update={"stages": (*stages, *others)})
        after[i] = after[i].model_copy(update={"timing": timing})
    assert [(late.stage, late.where) for late in slower(before, after)] == [("normalization", "median, en-US")]


def test_a_few_turns_that_are_late_are_chance() -> None:
    before, after = played(0), list(played(1))
    for i in range(0, TURNS, 20):
        slow = after[i].timing.model_copy(update={"work": {name: 3 * ms for name, ms in after[i].timing.work.items()}})
        after[i] = after[i].model_copy(update={"timing": slow})
    assert slower(before, after) == ()
    assert slower(before[:10], played(1, slow={REST: 3.0})[:10]) == (), "of ten turns nothing is said"
