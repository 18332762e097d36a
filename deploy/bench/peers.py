"""Side by side on the same audio and the same recogniser: ours, silero with a fixed silence, and pipecat's pipeline.

pipecat runs in an environment of its own (`make bench-peers` makes it from deploy/lock/pipecat.txt). Where they can not
be measured alike the comparison favours the peer: pipecat's time ends when it would ask its language model, in the
process that plays to it, ours when the decided answer's first event has come over the wire; and the fixed silence is
counted from the last sound that our listener finds, some 50 ms before a VAD's probability falls.
"""

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
import typer

from app.qa.figures import Figure
from app.qa.options import RunningService
from deploy.bench._calls.curve import Point, draw
from deploy.reporting import percentile, publish
from schemas.call import Patience

SCRIPT: Final = Path(__file__).with_name("_pipecat_peer.py")
LATENCIES: Final = ("p50_ms", "p95_ms", "p99_ms")
RATES: Final = ("false_cutoff_rate", "whole_cutoff_rate", "words_right_rate", "unanswered")


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: RunningService = None,
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    fixed: Annotated[int, typer.Option(help="The fixed silence, in ms.", min=60, max=5000)] = 500,
    pipecat: Annotated[Path | None, typer.Option(help="The Python of an environment that has pipecat.")] = None,
    chart: Annotated[Path | None, typer.Option(help="Draw latencies against false cut-offs as SVG here.")] = None,
) -> None:
    """Compare our latency and false cut-offs with a fixed silence's and pipecat's: figures and ratios."""
    from app.demo.run import service
    from deploy.bench._calls.corpus import load, some, utterances
    from deploy.bench._calls.line import Way
    from deploy.bench._calls.rounds import detection, figures_of, play_round

    loaded = load()
    played = [u for kind in ("simple", "paused") for u in some(utterances(loaded, kind), limit)]

    def run(base: str) -> None:
        ours, silence = (
            figures_of(asyncio.run(play_round(base, played, Way(detection(patience)), at_once)))
            for patience in (Patience(), Patience(fixed_ms=fixed))
        )
        peers = {f"fixed_{fixed}ms": silence}
        if pipecat is not None:
            peers["pipecat"] = _pipecat(pipecat, at_once, limit)
        figures: dict[str, Figure] = {key: ours[key] for key in (*LATENCIES, *RATES)}
        for name, peer in peers.items():
            figures |= compared(ours, peer, name)
        publish("peers", f"{len(played)} commands in real time, {at_once} at once, in turn", figures, json)
        if chart is not None:
            points = [point for name, found in {"tellerline": ours, **peers}.items() for point in _points(name, found)]
            chart.write_text(draw(points, "p50 and p95, last sound to first response, ms"), encoding="utf-8")

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
        subprocess.run(command, check=True)
        return pipecat_figures([orjson.loads(line) for line in out.read_text(encoding="utf-8").splitlines()])


def pipecat_figures(calls: Sequence[Mapping[str, Any]]) -> dict[str, Figure]:
    """The script's calls as figures, by the same rules as ours: latency of whole commands, cut-offs of paused ones."""
    from deploy.bench._calls.rounds import rate, same_words

    whole, paused = ([call for call in calls if bool(call["pause_s"]) is wanted] for wanted in (False, True))
    first = [call["first_ms"] for call in whole if call["first_ms"] is not None]
    figures: dict[str, Figure] = {key: percentile(first, q) for key, q in zip(LATENCIES, (50, 95, 99), strict=True)}
    figures["false_cutoff_rate"] = rate(call["cut"] for call in paused)
    figures["whole_cutoff_rate"] = rate(call["cut"] for call in whole)
    figures["words_right_rate"] = rate(same_words("".join(call["heard"]), call["words"]) for call in whole)
    return figures | {"calls": len(calls), "unanswered": sum(call["first_ms"] is None for call in calls)}


def compared(ours: Mapping[str, Figure], peer: Mapping[str, Figure], name: str) -> dict[str, Figure]:
    """The peer's headline figures, and how many times ours its latencies are."""
    found: dict[str, Figure] = {f"{name}_{key}": peer[key] for key in (*LATENCIES, *RATES)}
    for key in LATENCIES:
        mine, other = ours[key], peer[key]
        if isinstance(mine, float) and isinstance(other, float):
            found[f"{name}_{key.removesuffix('_ms')}_ratio"] = other / mine
    return found


def _points(name: str, found: Mapping[str, Figure]) -> Iterator[Point]:
    """A system's median and its tail, at the height of its false cut-offs."""
    p50, p95, p99, cut = (float(found[key] or 0) for key in (*LATENCIES, "false_cutoff_rate"))
    for label, ms in (("p50", p50), ("p95", p95)):
        yield Point(name, label, p50, ms, p99, cut, int(found["calls"] or 0))
