"""What callers feel at 0.5 to 3 times a service's capacity, where they come in an open loop over real WebSockets.

Capacity is in calls at once: the service is started with so many places (TELLERLINE_MAX_CALLS), as an operator would
from `tellerline bench capacity`. A rate of arrivals is the places times the factor over the length of a call alone.
"""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench._calls.open_loop import Load

FACTORS: Final = (0.5, 1.0, 1.5, 2.0, 3.0)
MEASURED: Final = 10
"""Calls, one at a time, of which a call's usual length is taken."""


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    places: Annotated[int, typer.Option(help="Calls at once that the machine carries.", min=1)] = 15,
    seconds: Annotated[float, typer.Option(help="How long each load lasts.", min=5)] = 300.0,
) -> None:
    """Load a service of our own at 0.5, 1, 1.5, 2 and 3 times its capacity, each for some minutes."""
    from app.demo.run import service

    figures: dict[str, Figure] = {"places": places, "seconds_each": seconds}
    with service(TELLERLINE_MAX_CALLS=str(places)) as base:
        figures |= asyncio.run(_loads(base, places, seconds))
    publish("overload", f"whole commands, one a call, at random moments, {places} places", figures, json)


async def _loads(base: str, places: int, seconds: float) -> dict[str, Figure]:
    from deploy.bench._calls.corpus import load, utterances
    from deploy.bench._calls.open_loop import arrivals

    said = utterances(load(), "simple")
    alone = await arrivals(base, said, 0.2, MEASURED / 0.2)
    length_s = sum(alone.lengths_s) / len(alone.lengths_s)
    figures: dict[str, Figure] = {"call_s": length_s}
    calm = 0.0
    for factor in FACTORS:
        found = figures_of(await arrivals(base, said, factor * places / length_s, seconds))
        calm = calm or float(found["p99_ms"] or 0.0)
        found["p99_times_calm"] = float(found["p99_ms"] or 0.0) / calm
        figures |= {f"at_{factor:g}_{name}": value for name, value in found.items()}
    return figures


def figures_of(load: "Load") -> dict[str, Figure]:
    """Of one load: what admitted callers waited, how soon the others were refused, and what waited inside."""
    from deploy.reporting import is_binding, percentile

    waits = [c.first_ms for c in load.admitted if c.first_ms is not None and not any(map(is_binding, c.endings))]
    figures: dict[str, Figure] = {"admitted": len(load.admitted), "refused": len(load.refused_ms)}
    figures |= {"broken": load.broken, "refused_without_a_time": load.untold}
    figures["unanswered"] = sum(c.first_ms is None and not c.polite for c in load.admitted)
    figures |= {f"p{q}_ms": percentile(waits, q) for q in (50, 95, 99)}
    figures |= {f"refusal_p{q}_ms": percentile(load.refused_ms, q) for q in (50, 99)}
    means = {name: sum(seen) / len(seen) for name, seen in load.queues.items() if seen}
    figures |= {f"waiting_{name}": mean for name, mean in sorted(means.items())}
    figures |= {f"waiting_{name}_most": max(seen) for name, seen in sorted(load.queues.items()) if seen}
    figures["longest_queue"] = max(means, key=lambda name: means[name]) if any(means.values()) else "none"
    return figures
