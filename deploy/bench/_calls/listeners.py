"""The ear beside the mouth: the same calls with and without others who only listen, turn about."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

from app.client import SOUND, demo_token, line, session, typed
from app.qa.figures import Figure
from deploy.bench._calls.corpus import PlayedUtterance
from deploy.bench._calls.line import Measured, Way
from deploy.bench._calls.rounds import figures_of, play_round

TURNS: Final = 3
"""Times that the calls are played in either way."""
CUSTOMER: Final = "alex-morgan"
LOCALE: Final = "en-US"
ORDER: Final = "send {} dollars to Priya Raman"
_FIRST: Final = 211
_STEP: Final = 37
"""Amounts that differ, so that no read-back is known from before."""
_SHOWN: Final = ("p50_ms", "p95_ms", "final_p50_ms", "final_p95_ms", "decode_p50_ms", "decode_p95_ms", "unanswered")


class Listeners:
    """`heard_s`: seconds of sound that they were given; `orders`: read-backs that were said to their end."""

    def __init__(self) -> None:
        self.heard_s = 0.0
        self.orders = 0


@asynccontextmanager
async def listening(base: str, callers: int) -> AsyncIterator[Listeners]:
    """So many callers at a time who type an order and listen to its read-back: they give the ear nothing to do."""
    found, amounts, token = Listeners(), count(_FIRST, _STEP), await demo_token(base, CUSTOMER)

    async def one() -> None:
        while True:
            async with line(base, token, session(LOCALE, "estimated", spoken=True), live=False) as opened:
                await opened.send(typed(ORDER.format(next(amounts))))
                async for event in opened.events():
                    if event["type"] == SOUND:
                        found.heard_s += event["duration_ms"] / 1000
                    elif event["type"] == "response.done":
                        found.orders += 1
                        break

    tasks = [asyncio.create_task(one()) for _ in range(callers)]
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        failed = [one for one in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(one, Exception)]
        if failed:
            raise failed[0]


async def beside_listeners(
    base: str, played: Sequence[PlayedUtterance], way: Way, at_once: int, listeners: int
) -> tuple[dict[str, Figure], list[Measured]]:
    """What the calls came to beside listeners and alone, by how much longer they took, and those beside them."""
    alone: list[Measured] = []
    beside: list[Measured] = []
    heard_s, orders = 0.0, 0
    for _ in range(TURNS):
        alone += await play_round(base, played, way, at_once)
        async with listening(base, listeners) as others:
            beside += await play_round(base, played, way, at_once)
        heard_s, orders = heard_s + others.heard_s, orders + others.orders
    by_themselves, with_others = figures_of(alone), figures_of(beside)
    figures: dict[str, Figure] = {"read_backs_heard": orders, "sound_heard_s": heard_s}
    figures |= {f"alone_{name}": by_themselves[name] for name in _SHOWN}
    figures |= {f"beside_{name}": with_others[name] for name in _SHOWN}
    for name in _SHOWN[:-1]:
        figures[f"times_{name.removesuffix('_ms')}"] = float(with_others[name] or 0) / float(by_themselves[name] or 1)
    return figures, beside
