"""From the caller's last sound to the first response event, together with how often callers are cut off."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from app.qa.bench._curve import Point, draw
from app.qa.bench._hearing import Hearing
from app.qa.bench._report import publish

if TYPE_CHECKING:
    from app.qa.bench._corpus import Utterance

PATIENCE: Final = (0.5, 0.75, 1.0, 1.5, 2.5)
"""Points of our curve: how much every wait is stretched."""
SILENCE_MS: Final = (200, 350, 500, 800, 1200)
"""Points of the fixed silence's curve."""


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: Annotated[str | None, typer.Option(help="A running service; one is started where none is named.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus file, recordings in a folder of its name.")] = None,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    details: Annotated[Path | None, typer.Option(help="Write one line of JSON a call here.")] = None,
    recogniser: Annotated[Hearing, typer.Option(help="What hears: the service's own, or an oracle.")] = Hearing.BUNDLED,
    curve: Annotated[Path | None, typer.Option(help="Draw the curve over thresholds: FILE.svg and FILE.json.")] = None,
) -> None:
    """Play a corpus in real time over WebSockets: p50/p95/p99 to the first response, and false cut-offs."""
    from app.demo.run import service
    from app.qa.bench._corpus import load, utterances
    from app.qa.bench._rounds import by_words, figures_of, play_round, some

    loaded = load(corpus)
    simple, paused = (
        some(utterances(loaded, kind, corpus and corpus.with_suffix("")), limit) for kind in ("simple", "paused")
    )
    played = [*simple, *paused]

    def run(base: str) -> None:
        ours = asyncio.run(play_round(base, played, by_words(1.0), at_once))
        figures = figures_of(ours)
        if details is not None:
            details.write_bytes(b"\n".join(orjson.dumps(call.as_dict()) for call in ours))
        workload = f"{len(simple)} whole and {len(paused)} paused commands in real time, {at_once} at once"
        figures["recogniser"] = recogniser.value if url is None else "the running service's"
        publish("latency", workload, figures, json)
        if curve is not None:
            _draw_curve(base, played, at_once, curve)

    if url:
        run(url)
        return
    with service(*recogniser.command(corpus)) as base:
        run(base)


def _draw_curve(base: str, played: "list[Utterance]", at_once: int, target: Path) -> None:
    from app.qa.bench._rounds import by_silence, by_words, figures_of, play_round

    settings = [("words", f"x{patience:g}", by_words(patience)) for patience in PATIENCE]
    settings += [("silence", f"{milliseconds} ms", by_silence(milliseconds)) for milliseconds in SILENCE_MS]
    points = []
    for series, label, detection in settings:
        found = figures_of(asyncio.run(play_round(base, played, detection, at_once)))
        p50, p95, rate = (float(found[key] or 0.0) for key in ("p50_ms", "p95_ms", "false_cutoff_rate"))
        points.append(Point(series, label, p50, p95, rate))
    target.with_suffix(".svg").write_text(draw(points), encoding="utf-8")
    target.with_suffix(".json").write_bytes(orjson.dumps([p.as_dict() for p in points], option=orjson.OPT_INDENT_2))
