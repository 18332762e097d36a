"""From the caller's last sound to the first response event, together with how often callers are cut off."""

import asyncio
import re
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from app.qa.figures import Figure
from app.qa.options import RunningService
from deploy.bench import CHECKOUT
from deploy.bench._calls.curve import write_curve
from deploy.bench._calls.heard_by import HeardBy
from deploy.bench._telephone.telephone import Door
from deploy.reporting import publish
from schemas.call import Patience

if TYPE_CHECKING:
    from app.client import Transport
    from deploy.bench._calls.corpus import PlayedUtterance
    from deploy.bench._calls.line import Measured


def bench(  # noqa: PLR0913, PLR0917 - one for each option
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: RunningService = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus file, recordings in a folder of its name.")] = None,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    details: Annotated[Path | None, typer.Option(help="Write one line of JSON a call here.")] = None,
    recogniser: Annotated[HeardBy, typer.Option(help="What hears: the service's own, or an oracle.")] = HeardBy.BUNDLED,
    transport: Annotated[Door, typer.Option(help="The door called at; a telephone beside the native.")] = Door.CALLS,
    about: Annotated[str, typer.Option(help="Only commands whose words match this regular expression.")] = "",
    spoken: Annotated[bool, typer.Option(help="Listen to replies as sound, until the first of it is heard.")] = False,
    recorded: Annotated[bool, typer.Option(help="Callers agree to be recorded, and to a shadow with it.")] = False,
    listeners: Annotated[int, typer.Option(help="So many others listen to read-backs, turn about with nobody.")] = 0,
    curve: Annotated[Path | None, typer.Option(help="Draw the curve over thresholds: FILE.svg and FILE.json.")] = None,
) -> None:
    """Play a corpus in real time over WebSockets: p50/p95/p99 to the first response, and false cut-offs."""
    from app.demo.run import service

    played = [*(simple := _commands("simple", corpus, limit, about)), *_commands("paused", corpus, limit, about)]
    if (native := transport.native) is None:
        if url or curve or details or spoken or recorded or listeners or recogniser is HeardBy.ORACLE:
            raise typer.BadParameter("a telephone is called at a service of its own, by the bundled recogniser")
        _on_telephone(transport, played, at_once, json)
        return
    rounds = _Rounds(played, native, spoken, recorded, at_once, listeners)

    def run(base: str) -> None:
        figures, ours = rounds.play(base, Patience())
        if details is not None:
            details.write_bytes(b"\n".join(orjson.dumps(call.as_dict()) for call in ours))
        workload = f"{len(simple)} whole, {len(played) - len(simple)} paused commands, {at_once} at once, {transport}"
        figures["recogniser"] = recogniser.value if url is None else "the running service's"
        publish("latency", workload, figures, json)
        if curve is not None:
            write_curve(curve, "first response", lambda patience: rounds.play(base, patience)[0])

    with nullcontext(url) if url else service(*recogniser.command(corpus), PYTHONPATH=CHECKOUT) as base:
        run(base)


def _commands(kind: str, corpus: Path | None, limit: int, about: str) -> "list[PlayedUtterance]":
    """Commands said in one go, or those with a pause within."""
    from deploy.bench._calls.corpus import load, some, utterances

    found = utterances(load(corpus), kind, corpus and corpus.with_suffix(""))
    return some([said for said in found if re.search(about, said.words)], limit)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The same utterances, played by native calls again and again."""

    played: "list[PlayedUtterance]"
    native: "Transport"
    spoken: bool
    recorded: bool
    at_once: int
    listeners: int

    def play(self, base: str, patience: Patience) -> "tuple[dict[str, Figure], list[Measured]]":
        """One round at `patience`: its figures, and its calls; with listeners, rounds with and without them."""
        from deploy.bench._calls.line import Way
        from deploy.bench._calls.listeners import beside_listeners
        from deploy.bench._calls.rounds import detection, figures_of, play_round

        way = Way(detection(patience), self.native, self.spoken, self.recorded)
        if self.listeners:
            return asyncio.run(beside_listeners(base, self.played, way, self.at_once, self.listeners))
        calls = asyncio.run(play_round(base, self.played, way, self.at_once))
        return figures_of(calls), calls


def _on_telephone(door: Door, played: "list[PlayedUtterance]", at_once: int, json: Path | None) -> None:
    """The same calls at the native door and on a telephone, in one run."""
    from deploy.bench._telephone.beside import figures_beside, play_beside
    from deploy.bench._telephone.telephone import telephones

    with telephones(60) as (base, place):
        calls = asyncio.run(play_beside(base, place, door, played, at_once))
    workload = f"{len(played)} commands over G.711 in real time, {at_once} at once, native and {door}"
    publish("latency", workload, figures_beside(calls, door), json)
