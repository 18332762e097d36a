"""Side by side on the same audio and the same recogniser: ours, silero with a fixed silence, and pipecat's pipeline.

pipecat runs in an environment of its own (`make bench-peers` makes it from deploy/lock/pipecat.txt). Its time ends when
it would ask its language model, ours only when the decided answer's first event has arrived: the comparison favours it.
"""

import asyncio
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from app.qa.bench._report import Figure, percentile, publish
from schemas.call import Patience

SCRIPT: Final = Path("deploy/bench/pipecat_peer.py")


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: Annotated[str | None, typer.Option(help="A running service; one is started where none is named.")] = None,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    fixed: Annotated[int, typer.Option(help="The fixed silence, in ms.", min=60, max=5000)] = 500,
    pipecat: Annotated[Path | None, typer.Option(help="The Python of an environment that has pipecat.")] = None,
) -> None:
    """Compare our latency and false cut-offs with a fixed silence's and pipecat's: figures and ratios."""
    from app.demo.run import service
    from app.qa.bench._corpus import load, some, utterances
    from app.qa.bench._rounds import detection, figures_of, play_round

    loaded = load()
    played = [u for kind in ("simple", "paused") for u in some(utterances(loaded, kind), limit)]

    def run(base: str) -> None:
        ours, silence = (
            figures_of(asyncio.run(play_round(base, played, detection(patience), at_once)))
            for patience in (Patience(), Patience(fixed_ms=fixed))
        )
        figures: dict[str, Figure] = {key: ours[key] for key in ("p50_ms", "p95_ms", "p99_ms", "false_cutoff_rate")}
        figures |= compared(figures, silence, f"fixed_{fixed}ms")
        if pipecat is not None:
            figures |= compared(figures, _pipecat(pipecat, at_once, limit), "pipecat")
        publish("peers", f"{len(played)} commands in real time, {at_once} at once, in turn", figures, json)

    if url:
        run(url)
        return
    with service() as base:
        run(base)


def _pipecat(python: Path, at_once: int, limit: int) -> dict[str, Figure]:
    """Pipecat's figures, by its script in its own environment."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "calls.jsonl"
        command = [str(python), str(SCRIPT), "--out", str(out), "--at-once", str(at_once), "--limit", str(limit)]
        subprocess.run(command, check=True)  # noqa: S603 - the environment that the user named, our own script
        calls: list[dict[str, Any]] = [orjson.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    first = [call["first_ms"] for call in calls if not call["pause_s"] and call["first_ms"] is not None]
    paused = [bool(call["cut"]) for call in calls if call["pause_s"]]
    figures: dict[str, Figure] = {f"p{q}_ms": percentile(first, q) for q in (50, 95, 99)}
    return figures | {
        "false_cutoff_rate": sum(paused) / max(1, len(paused)),
        "unanswered": sum(call["first_ms"] is None for call in calls),
    }


def compared(ours: dict[str, Figure], peer: dict[str, Figure], name: str) -> dict[str, Figure]:
    """The peer's headline figures, and how many times ours its latencies are."""
    found: dict[str, Figure] = {f"{name}_unanswered": peer["unanswered"]}
    for key in ("p50_ms", "p95_ms", "p99_ms", "false_cutoff_rate"):
        mine, other = ours[key], peer[key]
        found[f"{name}_{key}"] = other
        if key.endswith("_ms") and isinstance(mine, float) and isinstance(other, float):
            found[f"{name}_{key.removesuffix('_ms')}_ratio"] = other / mine
    return found
