"""`tellerline bench echo`: how much of our own voice is taken for the caller, and how much of the caller for ours."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray

from app.qa.figures import Figure
from deploy.bench._calls.room import echo, heard, loudness, mixed
from deploy.reporting import publish
from schemas.audio import SAMPLE_RATE, Samples
from services.audio.files import read_file
from services.audio.vad import SileroVad, VadState

LEVELS_DB: Final = [-6.0, -12.0, -20.0]
RECORDINGS: Final = Path(__file__).parent / "corpus" / "latency"
_CALLERS: Final = ("rhvoice", "pico")
_LATE_S: Final = (0.06, 0.15, 0.3, 0.5)
_LOUD_DB: Final = -22.0
_OVER_S: Final = 2.2
"""When the caller begins to speak over us."""


def bench(
    count: Annotated[int, typer.Option(help="Replies at each level.", min=1, max=1000)] = 24,
    db: Annotated[list[float], typer.Option(help="How much louder than our voice its echo is.")] = LEVELS_DB,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Mix our replies into a caller's microphone by a simple room, with and without a caller who speaks over them."""
    voices, vad = sorted(RECORDINGS.glob("*.opus")), SileroVad()
    callers = [path for path in voices if path.name.startswith(_CALLERS)]
    ours = [path for path in voices if path not in callers]
    figures: dict[str, Figure] = {}
    for level in db:
        rounds = [_round(vad, _said(ours, seed, 3), _said(callers, seed, 1), level, seed) for seed in range(count)]
        silenced, kept = np.sum([one[:2] for one in rounds], axis=0), np.sum([one[2:] for one in rounds], axis=0)
        figures[f"at_{-level:.0f}_db_silenced_percent"] = 100 * float(silenced[0] / silenced[1])
        figures[f"at_{-level:.0f}_db_caller_kept_percent"] = 100 * float(kept[0] / kept[1])
    vad.close()
    publish("echo", f"{count} replies a level, synthetic voices in a room, frames of speech", figures, json)


def _round(vad: SileroVad, ours: Samples, caller: Samples, db: float, seed: int) -> tuple[int, int, int, int]:
    """Frames of our echo silenced, and of them all; frames of a caller over it kept, and of them all."""
    back = echo(ours, _LATE_S[seed % len(_LATE_S)], db, seed)
    over = np.concatenate((np.zeros(round(_OVER_S * SAMPLE_RATE), dtype=np.float32), caller))
    alone, both = mixed(back), mixed(back, over)
    there, wanted = _speech(vad, alone), _speech(vad, mixed(over, np.zeros_like(both)))
    left, found = _speech(vad, heard(ours, alone)), _speech(vad, heard(ours, both))
    return int((there & ~left).sum()), int(there.sum()), int((wanted & found).sum()), int(wanted.sum())


def _said(paths: Sequence[Path], seed: int, count: int) -> Samples:
    draw, pause = np.random.default_rng(seed), np.zeros(SAMPLE_RATE // 5, dtype=np.float32)
    chosen = [loudness(read_file(paths[at].read_bytes()), _LOUD_DB) for at in draw.choice(len(paths), count)]
    return np.concatenate([part for one in chosen for part in (one, pause)])


def _speech(vad: SileroVad, samples: Samples) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.array(vad.probabilities(VadState(), samples)) > 0.5  # noqa: PLR2004 - likelier than not
    return found
