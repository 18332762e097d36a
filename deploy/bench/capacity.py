"""How many real-time calls at once one machine answers in time.

A command that the recogniser misreads waits longer by intention, however idle the machine; so that load alone is
measured, only those commands are played that were heard as complete when two calls had the machine for themselves.
"""

import asyncio
import re
from pathlib import Path
from typing import Annotated, Final

import typer

from app.qa.figures import Figure
from app.qa.options import RunningService
from deploy.reporting import publish
from schemas.call import Patience

LEVELS: Final = "1,5,10,15,20,25,30,40,50,60,80,100"
ROUNDS: Final = 3
"""Utterances of each caller at each level."""
MOST_MS: Final = 500.0
_WHOLE: Final = re.compile(r"\.(complete|courtesy)@")
"""The rules that end a turn that was heard as a whole command."""


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: RunningService = None,
    up_to: Annotated[int, typer.Option(help="No more calls at once than this.", min=1)] = 100,
    levels: Annotated[str, typer.Option(help="So many calls at once, one level after another.")] = LEVELS,
) -> None:
    """Raise the calls at once until the 95th percentile of the answers crosses 500 ms."""
    from app.demo.run import service
    from deploy.bench._calls.corpus import load, utterances
    from deploy.bench._calls.line import Way
    from deploy.bench._calls.rounds import detection, figures_of, play_round

    simple = utterances(load(), "simple")

    def run(base: str) -> None:
        alone = asyncio.run(play_round(base, simple, Way(detection(Patience())), 2))
        heard = [call.utterance for call in alone if all(_WHOLE.search(rule) for rule in call.endings)]
        figures: dict[str, Figure] = {"calls_at_p95_500_ms": 0, "commands": len(heard)}
        figures["misread"] = len(simple) - len(heard)
        for level in (level for level in map(int, levels.split(",")) if level <= up_to):
            played = [heard[i % len(heard)] for i in range(level * ROUNDS)]
            found = figures_of(asyncio.run(play_round(base, played, Way(detection(Patience())), level)))
            p95 = float(found["p95_ms"] or 0.0)
            figures |= {f"at_{level}_{q}_ms": found[f"{q}_ms"] for q in ("p50", "p95")}
            figures[f"at_{level}_unanswered"] = found["unanswered"]
            if p95 > MOST_MS or found["unanswered"]:
                break
            figures["calls_at_p95_500_ms"] = level
        publish("capacity", f"callers who speak one command after another in real time, {ROUNDS} each", figures, json)

    if url:
        run(url)
        return
    with service() as base:
        run(base)
