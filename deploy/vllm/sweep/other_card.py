"""Extraction on a card that is not at hand, simulated: `python -m deploy.vllm.sweep.other_card`.

What a short request waits for is mostly the host: a process that reads requests, and one that drives the card by steps.
Both are queues here, and a step takes what its host's work or its card's takes, whichever is longer. The card's part is
derived from its bandwidth and arithmetic; the host's is fitted to the rows of a card that was measured.
"""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass
from typing import Final

import numpy as np

from deploy.reporting import percentile

NEW_TOKENS: Final = 90
"""Of a prompt of some 535: the others lie in the cache."""
ANSWER: Final = 4
"""Tokens of an answer, the first of which comes with the prompt's step."""
GFLOP_A_TOKEN: Final = 9.0
REQUESTS: Final = 2_000
SEED: Final = 7


@dataclass(frozen=True)
class CardShape:
    """A step reads all weights (GB) at `bandwidth` GB/s and computes at half of `tflops`, its peak."""

    name: str
    weights: float
    bandwidth: float
    tflops: float

    def step_ms(self, tokens: int) -> float:
        """What the card takes for a step of so many tokens."""
        return max(self.weights / self.bandwidth * 1e3, tokens * GFLOP_A_TOKEN / (self.tflops / 2))


@dataclass(frozen=True)
class HostPace:
    """Milliseconds of a request where nobody waits, of reading one, of a step, of each request in it; their spread."""

    apart: float
    reading: float
    step: float
    each: float
    spread: float


CARDS: Final = (
    CardShape("H200, BF16", weights=9.1, bandwidth=4_800, tflops=990),
    CardShape("L4, BF16", weights=9.1, bandwidth=300, tflops=121),
    CardShape("L4, 4-bit weights", weights=3.6, bandwidth=300, tflops=121),
)
MEASURED: Final = {1: (34.9, 36.6), 8: (50.7, 67.4), 16: (86.9, 112.5)}
"""p50 and p95 by requests at once, on one H200 with full graphs: results/2026-11-27-h200/graphs.csv."""


def simulated(card: CardShape, host: HostPace, at_once: int, requests: int = REQUESTS) -> list[float]:
    """Milliseconds of each request where `at_once` callers ask again as soon as they have an answer. Deterministic."""
    draw = np.random.default_rng(SEED)

    def took(ms: float) -> float:
        return ms * float(draw.lognormal(0, host.spread))

    began = dict.fromkeys(range(at_once), 0.0)
    arriving = [(0.0, caller) for caller in range(at_once)]
    read_until, now, done = 0.0, 0.0, list[float]()
    waiting: list[tuple[float, int]] = []
    left: dict[int, int] = {}
    while len(done) < requests:
        while arriving and (arriving[0][0] <= now or not (waiting or left)):
            at, caller = heapq.heappop(arriving)
            read_until = max(read_until, at) + took(host.reading)
            heapq.heappush(waiting, (read_until, caller))
        if not left:
            now = max(now, waiting[0][0])
        fresh = []
        while waiting and waiting[0][0] <= now:
            fresh.append(heapq.heappop(waiting)[1])
        tokens = len(left) + NEW_TOKENS * len(fresh)
        left |= dict.fromkeys(fresh, ANSWER)
        now += max(took(host.step + host.each * len(left)), card.step_ms(tokens))
        for caller in list(left):
            left[caller] -= 1
            if not left[caller]:
                del left[caller]
                end = now + took(host.apart)
                done.append(end - began[caller])
                began[caller] = end
                heapq.heappush(arriving, (end, caller))
    return done


HOST: Final = HostPace(apart=4, reading=5.5, step=5, each=0.75, spread=0.25)
"""What `fitted` finds."""


def fitted() -> HostPace:
    """The host that explains best what was measured, of a grid: some ten seconds."""
    grid = itertools.product((4, 8, 12), (4, 4.5, 5, 5.5), (3, 4, 5, 6), (0, 0.25, 0.5, 0.75), (0.05, 0.15, 0.25, 0.35))
    return min((HostPace(*each) for each in grid), key=_off)


def _off(host: HostPace) -> float:
    off = 0.0
    for at_once, figures in MEASURED.items():
        made = simulated(CARDS[0], host, at_once, 300)
        off += sum((percentile(made, p) / figure - 1) ** 2 for p, figure in zip((50, 95), figures, strict=True))
    return off


def main() -> int:
    """Print what was measured beside what is simulated, and then the cards that were not at hand."""
    print(f"fitted: {HOST}")
    print("| card | at once | p50 ms | p95 ms | measured p50 / p95 |\n| --- | --- | --- | --- | --- |")
    for card, at_once in itertools.product(CARDS, MEASURED):
        made = simulated(card, HOST, at_once)
        beside = "{} / {}".format(*MEASURED[at_once]) if card is CARDS[0] else ""
        print(f"| {card.name} | {at_once} | {percentile(made, 50):.0f} | {percentile(made, 95):.0f} | {beside} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
