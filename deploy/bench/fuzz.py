"""`tellerline bench fuzz`: hostile strings through the whole text path, in every state of a call; none may raise."""

import time
from pathlib import Path
from typing import Annotated, Final

import typer

from deploy.reporting import publish

PIECES: Final = Path("tests/data/fuzz/pieces.yaml")
_SHOWN: Final = 10


def bench(
    pieces: Annotated[Path, typer.Argument(help="pieces and frames, a YAML file")] = PIECES,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    count: Annotated[int, typer.Option(help="strings", min=1)] = 1_000_000,
    seed: Annotated[int | None, typer.Option(help="another seed than the usual one")] = None,
) -> None:
    """Hear `count` strings, each in one language and one state of a call. Exit 1 if any raised.

    By turns they are made of `pieces`, and of sentences of people that are cut and joined anywhere.
    """
    from deploy.bench.cases.garble import SEED, garble_file
    from deploy.bench.cases.hostile import faults

    begun = time.process_time()
    raised = 0
    for text, error in faults(garble_file(pieces), count, SEED if seed is None else seed):
        raised += 1
        if raised <= _SHOWN:
            typer.echo(f"{text!r}: {type(error).__name__}: {error}", err=True)
    figures = {"strings": count, "raised": raised, "cpu_s": round(time.process_time() - begun, 1)}
    publish("fuzz", f"strings of {pieces} and of what people say through the text path", figures, json)
    raise typer.Exit(1 if raised else 0)
