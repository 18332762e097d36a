"""Whether callers who speak freely are cut off, and how long they wait: people's sentences, silence by silence.

As eot-bench counts: every silence of 100 ms or more within a sentence is a hold, the one behind it the end. A policy's
false cut-offs are the holds that it would take for the end; its dead air is what it waits after the true one.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import numpy as np
import typer

from app.qa.figures import Figure
from deploy.reporting import percentile, publish

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from deploy.bench._calls.silences import HeardSilence

SCALES: Final = np.geomspace(0.05, 2.0, 120)
FIXED_MS: Final = np.arange(100.0, 2000.0, 10.0)
CUT_OFFS: Final = (0.05, 0.10)


def bench(
    folder: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Recordings and metadata.jsonl.")],
    only: Annotated[str, typer.Option(help="Those whose name holds this.")] = "",
    limit: Annotated[int, typer.Option(help="At most so many, drawn by a fixed seed; 0 for all.", min=0)] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Holds and ends of people's sentences: cut-offs, dead air, and its curve; beside a silence of fixed length."""
    from deploy.bench._calls.silences import sentences, silences

    said = sentences(folder, only)
    if limit:
        drawn = np.random.default_rng(0).permutation(len(said))[:limit]
        said = [said[k] for k in drawn]
    figures: dict[str, Figure] = {}
    found = asyncio.run(silences(said))
    for language in sorted({one.locale[:2] for one in said}):
        own = [one for one in found if said[one.utterance].locale.startswith(language)]
        figures |= {f"{language}_{name}": value for name, value in figures_of(own).items()}
    publish("ends", f"{len(said)} sentences of {folder.name}, fed in audio time", figures, json)


def figures_of(found: "Sequence[HeardSilence]") -> dict[str, Figure]:
    """What ships, and the least dead air (mean) at each share of cut-offs, by words and by silence alone."""
    holds = [one for one in found if one.lasted_ms is not None]
    ends = [one for one in found if one.lasted_ms is None]
    lasted = np.array([one.lasted_ms for one in holds])
    held, ended = (np.array([one.wait_ms for one in some]) for some in (holds, ends))
    cut = {one.utterance for one in holds if one.lasted_ms is not None and one.lasted_ms >= one.wait_ms}
    figures: dict[str, Figure] = {"sentences": len(ends), "holds": len(holds)}
    figures["sentences_cut"] = len(cut) / max(1, len(ends))
    figures["holds_cut"] = _share(lasted >= held)
    figures |= {f"dead_air_p{q}_ms": percentile(list(ended), q) for q in (50, 95)}
    figures["dead_air_ms"] = float(np.mean(ended)) if ends else 0.0
    ours = [(_share(lasted >= held * scale), float(np.mean(ended * scale))) for scale in SCALES]
    alone = [(_share(lasted >= wait), float(wait)) for wait in FIXED_MS]
    for share in CUT_OFFS:
        for name, curve in (("words", ours), ("silence", alone)):
            figures[f"dead_air_ms_at_{share:.0%}_{name}"] = min(
                (ms for rate, ms in curve if rate <= share), default=float("nan")
            )
    return figures


def _share(cut: "NDArray[np.bool_]") -> float:
    return float(cut.mean()) if cut.size else 0.0
