"""From the caller's last sound to the first response event, together with how often callers are cut off."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from app.line import Transport
from app.qa.figures import Figure, publish
from deploy.bench import CHECKOUT
from deploy.bench._curve import write_curve
from deploy.bench._hearing import Hearing
from schemas.call import Patience

if TYPE_CHECKING:
    from deploy.bench._line import Measured


def bench(  # noqa: PLR0913, PLR0917 - one for each option
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: Annotated[str | None, typer.Option(help="A running service; one is started where none is named.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus file, recordings in a folder of its name.")] = None,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    details: Annotated[Path | None, typer.Option(help="Write one line of JSON a call here.")] = None,
    recogniser: Annotated[Hearing, typer.Option(help="What hears: the service's own, or an oracle.")] = Hearing.BUNDLED,
    transport: Annotated[Transport, typer.Option(help="The door that is called at.")] = Transport.CALLS,
    spoken: Annotated[bool, typer.Option(help="Listen to replies as sound, until the first of it is heard.")] = False,
    curve: Annotated[Path | None, typer.Option(help="Draw the curve over thresholds: FILE.svg and FILE.json.")] = None,
) -> None:
    """Play a corpus in real time over WebSockets: p50/p95/p99 to the first response, and false cut-offs."""
    from app.demo.run import service
    from deploy.bench._corpus import load, some, utterances
    from deploy.bench._line import Way
    from deploy.bench._rounds import detection, figures_of, play_round

    loaded = load(corpus)
    simple, paused = (
        some(utterances(loaded, kind, corpus and corpus.with_suffix("")), limit) for kind in ("simple", "paused")
    )
    played = [*simple, *paused]

    def play(base: str, patience: Patience) -> "tuple[dict[str, Figure], list[Measured]]":
        calls = asyncio.run(play_round(base, played, Way(detection(patience), transport, spoken), at_once))
        return figures_of(calls), calls

    def run(base: str) -> None:
        figures, ours = play(base, Patience())
        if details is not None:
            details.write_bytes(b"\n".join(orjson.dumps(call.as_dict()) for call in ours))
        workload = f"{len(simple)} whole and {len(paused)} paused commands in real time, {at_once} at once, {transport}"
        figures["recogniser"] = recogniser.value if url is None else "the running service's"
        publish("latency", workload, figures, json)
        if curve is not None:
            write_curve(curve, "first response", lambda patience: play(base, patience)[0])

    if url:
        run(url)
        return
    with service(*recogniser.command(corpus), PYTHONPATH=CHECKOUT) as base:
        run(base)
