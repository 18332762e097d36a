"""Callers who come whether or not others are done: each is let in and measured, or refused and timed."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import httpx
import numpy as np
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import InvalidStatus

from app.client import demo_token
from deploy.bench._calls.corpus import PlayedUtterance
from deploy.bench._calls.line import Measured, Way, measure
from deploy.bench._calls.rounds import detection
from schemas.call import Patience

LOOK_EVERY_S: Final = 1.0
SEED: Final = 47


@dataclass
class Load:
    """What came of one rate of arrivals. Times are in ms."""

    admitted: list[Measured] = field(default_factory=list)
    refused_ms: list[float] = field(default_factory=list)
    untold: int = 0
    """Refusals without a time to come back."""
    broken: int = 0
    """Neither admitted nor refused."""
    lengths_s: list[float] = field(default_factory=list)
    """How long admitted calls lasted."""
    queues: dict[str, list[float]] = field(default_factory=dict)
    """What waited, looked at once a second."""


async def arrivals(base: str, said: Sequence[PlayedUtterance], a_second: float, seconds: float) -> Load:
    """Callers at random moments, `a_second` of them, for so long; the calls are then waited for."""
    load, chance = Load(), np.random.default_rng(SEED)
    tokens = {customer: await demo_token(base, customer) for customer in {one.customer for one in said}}
    began, due = time.monotonic(), 0.0
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(_look(base, load))
        callers: list[asyncio.Task[None]] = []
        for number in count():
            due += float(chance.exponential(1 / a_second))
            if due > seconds:
                break
            await asyncio.sleep(max(0.0, began + due - time.monotonic()))
            one = said[number % len(said)]
            callers.append(group.create_task(_call(base, tokens[one.customer], one, load)))
        await asyncio.gather(*callers)
        looking.cancel()
    return load


async def _call(base: str, token: str, said: PlayedUtterance, load: Load) -> None:
    began = time.monotonic()
    try:
        load.admitted.append(await measure(base, token, said, Way(detection(Patience()))))
        load.lengths_s.append(time.monotonic() - began)
    except InvalidStatus as refusal:
        load.refused_ms.append((time.monotonic() - began) * 1000)
        load.untold += "Retry-After" not in refusal.response.headers
    except (OSError, EOFError, TimeoutError):
        load.broken += 1


async def _look(base: str, load: Load) -> None:
    async with httpx.AsyncClient(timeout=10.0) as client:
        while True:
            text = (await client.get(f"{base}/metrics")).text
            for family in text_string_to_metric_families(text):
                for sample in family.samples:
                    if sample.name == "tellerline_waiting":
                        load.queues.setdefault(sample.labels["queue"], []).append(sample.value)
            await asyncio.sleep(LOOK_EVERY_S)
