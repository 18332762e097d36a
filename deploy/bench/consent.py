"""`tellerline bench consent`: every yes with all that may stand beside it, while money, a card or a person waits."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench.cases.consents import ConsentsFile, ConsentTally
    from deploy.bench.cases.waiting import Scenes

ANSWERS: Final = Path("tests/data/consent")


def bench(
    folder: Annotated[Path, typer.Argument(help="yeses and all else, a YAML file each language")] = ANSWERS,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    every: Annotated[int, typer.Option(help="hear one of so many", min=1)] = 20,
    show: Annotated[int, typer.Option(help="list so many of the yeses that were asked again", min=0)] = 0,
) -> None:
    """Hear every pair of a yes and something else, both ways round, and every yes with courtesies, as text.

    Done against the words is what moved, was locked, unlocked or handed over without having been asked for.
    """
    from deploy.bench.cases.consents import consents
    from deploy.bench.cases.waiting import Scenes

    figures: dict[str, Figure] = {}
    against = 0
    for language in ("en", "ja"):
        file, scenes = consents(folder / f"{language}.yaml"), Scenes(language)
        begun = time.process_time()
        pairs, yeses = hear(file, scenes, every, " " if language == "en" else "")
        for said in (*pairs.against, *yeses.against):
            typer.echo(f"{said.awaited}: {said.text!r} did what it did not say", err=True)
        for said in yeses.asked[:show]:
            typer.echo(f"{said.awaited}: {said.text!r} was asked again", err=True)
        against += len(pairs.against) + len(yeses.against)
        figures |= {
            f"{language}_pairs": pairs.count,
            f"{language}_done_against_the_words": len(pairs.against) + len(yeses.against),
            f"{language}_did_what_was_asked_for": pairs.done,
            f"{language}_plain_yeses": yeses.count,
            f"{language}_plain_yeses_taken_at_once_percent": round(100 * yeses.done / max(1, yeses.count), 2),
            f"{language}_plain_yeses_asked_again": len(yeses.asked),
            f"{language}_cpu_s": round(time.process_time() - begun, 1),
        }
    publish("consent", f"yeses and all else of {folder}, one of {every}", figures, json)
    raise typer.Exit(1 if against else 0)


def hear(file: "ConsentsFile", scenes: "Scenes", every: int, gap: str) -> "tuple[ConsentTally, ConsentTally]":
    """What became of one of `every` pairs, and of as many plain yeses."""
    from deploy.bench.cases.consents import ConsentTally, mixed, plain

    pairs, yeses = ConsentTally(), ConsentTally()
    for number, said in enumerate(mixed(file, gap)):
        if number % every == 0:
            pairs.take(scenes, said)
    for number, said in enumerate(plain(file, gap)):
        if number % every == 0:
            yeses.take(scenes, said)
    return pairs, yeses
