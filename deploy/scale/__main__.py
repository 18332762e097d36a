"""`python -m deploy.scale`: the simulation beside what was measured, then how many of each, its price, what breaks."""

import math
from typing import Final

import numpy as np
from rich.console import Console
from rich.table import Table

from deploy.scale.simulation import Costs, Fleet, ReckonedCaller, Spread, World, simulate

MEASURED: Final = {1: (170, 175), 5: (173, 219), 10: (191, 278), 15: (237, 341), 20: (314, 697)}
"""`tellerline bench capacity` on two cores (deploy/figures.md): calls at once, p50 and p95 in ms."""
BENCH: Final = Costs(asked=0.0, reply_and_thought=Spread(0.4, 0.8))
"""Its callers: each says the next command as soon as the last one is answered."""
BESIDE: Final = 0.02
"""What they take on the same cores: 8 ms were measured for listening; the rest is fitted, for calls that are opened."""
ROUNDS_S: Final = 10.0
CELL: Final = 1_000
GOAL_MS: Final = 350.0
USED: Final = 0.7
"""Share of its time that anything may be busy: what is left is for one that died, and for a quarter more calls."""
MODEL_A_SECOND: Final = 220
"""Extractions of one H100 while p95 keeps 180 ms."""
TRANSFER_EVERY_S: Final = 90.0
TRANSFERS_A_SECOND: Final = 762
"""Of one PostgreSQL with four gateways."""
CORE_AN_HOUR: Final = 0.04
CARD_AN_HOUR: Final = 3.0
"""US dollars, assumed as list prices."""


def percentiles(waits: list[float]) -> tuple[float, float]:
    """Median and 95th percentile, in ms."""
    return float(np.percentile(waits, 50)) * 1000, float(np.percentile(waits, 95)) * 1000


def bench(calls: int, seeds: int = 6) -> tuple[float, float]:
    """The benchmark as the simulation has it: one process on two cores, all begin at once."""
    waits: list[float] = []
    for seed in range(seeds):
        fleet = Fleet(calls, 1, 2, shared=True, beside=BESIDE, together=True)
        world = World(BENCH, fleet, np.random.default_rng(seed))
        for _ in range(calls):
            ReckonedCaller(world, world.gateways[0])
        world.run(ROUNDS_S)
        waits += world.waits
    return percentiles(waits)


def cell(costs: Costs, calls: int = CELL) -> tuple[Fleet, World]:
    """The smallest fleet for a cell whose p95 keeps the goal, nothing busier than it may be."""
    gateways = recognizers = 1
    while True:
        fleet = Fleet(calls, gateways, recognizers)
        world = simulate(costs, fleet, 10.0)
        busy = max(pool.host.use(10.0) for pool in world.gateways), world.recognizer.host.use(10.0)
        if max(busy) <= USED and percentiles(world.waits)[1] <= GOAL_MS:
            return fleet, world
        gateways = max(gateways + (busy[0] > USED), math.ceil(gateways * min(busy[0], 1.0) / USED))
        recognizers = max(recognizers + (busy[1] > USED), math.ceil(recognizers * min(busy[1], 1.0) / USED))


def checked(console: Console) -> None:
    """The simulation against the benchmark."""
    table = Table("calls at once", "measured p50 / p95 ms", "simulated", title="One plain process, two cores")
    for calls, (p50, p95) in MEASURED.items():
        found = bench(calls)
        table.add_row(str(calls), f"{p50} / {p95}", f"{found[0]:.0f} / {found[1]:.0f}")
    console.print(table)


def fleets(console: Console, costs: Costs) -> None:
    """A table of fleets."""
    fleet, world = cell(costs)
    turns = len(world.waits) / 10.0 / CELL
    table = Table("calls", "gateways", "recogniser cores", "vLLM H100", "$ an hour", "transfers a second")
    for calls in (1_000, 10_000, 100_000):
        cells = calls // CELL
        cards = math.ceil(calls * turns * costs.asked / (MODEL_A_SECOND * USED)) + 1
        cores = cells * (fleet.gateways + fleet.recognizer_cores)
        table.add_row(
            f"{calls:,}",
            f"{cells * fleet.gateways:,}",
            f"{cells * fleet.recognizer_cores:,}",
            str(cards),
            f"{cores * CORE_AN_HOUR + cards * CARD_AN_HOUR:,.0f}",
            f"{calls / TRANSFER_EVERY_S:,.0f} of {TRANSFERS_A_SECOND}",
        )
    console.print(table)
    p50, p95 = percentiles(world.waits)
    console.print(f"p50 / p95 {p50:.0f} / {p95:.0f} ms; {turns:.3f} turns a second and call")
    for more in (1.25, 1.5, 2.0):
        grown = simulate(costs, Fleet(int(CELL * more), fleet.gateways, fleet.recognizer_cores), 10.0)
        busy = max(pool.host.use(10.0) for pool in grown.gateways), grown.recognizer.host.use(10.0)
        wait = f"p95 {percentiles(grown.waits)[1]:.0f} ms"
        console.print(f"{more:g} times the calls: {wait}; gateways {busy[0]:.0%}, recognisers {busy[1]:.0%} busy")


if __name__ == "__main__":
    checked(Console())
    fleets(Console(), Costs())
