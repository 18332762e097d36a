"""`tellerline bench gate`: faults that must turn replay's gate red, their cause named, and changes that must not."""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench._gate.changes import SeededChange
    from deploy.bench._gate.judge import Verdict


MOST_MISSED: Final = 1


def bench(
    manifest: Annotated[Path, typer.Argument(help="the corpus")] = Path("tests/data/corpus/manifest.jsonl.xz"),
    only: Annotated[str, typer.Option(help="changes whose name has these words")] = "",
    part: Annotated[str, typer.Option(help="K/N: the K-th of N equal parts of all changes")] = "1/1",
    every: Annotated[int, typer.Option(min=1, help="play every n-th case by its sound")] = 8,
    told: Annotated[Path | None, typer.Option(help="write what the gate said of each change here, JSON lines")] = None,
    json: Annotated[Path | None, typer.Option(help="write the figures here")] = None,
) -> None:
    """Put each change into a copy of code, rules, weights and corpus, replay it, compare it. Exit 1 where one slips."""
    from deploy.bench._gate.changes import read
    from deploy.bench._gate.corpus import cases_of
    from deploy.bench._gate.judge import Gate
    from deploy.corpus.typed import typed_cases

    cases = cases_of(manifest)
    faults, harmless = (wanted(read(name), only, part) for name in ("faults.yaml", "harmless.yaml"))
    with tempfile.TemporaryDirectory() as folder:
        words = [*distinct(cases), *typed_cases()]
        gate = Gate(Path(folder), {"words": words, "sound": cases[::every]}, manifest.parent.resolve())
        for played in sorted({change.played for change in (*faults, *harmless)}):
            if (base := gate.begin(played)).red:
                typer.echo(f"the baseline is red itself:\n{base.summary}", err=True)
                raise typer.Exit(2)
        found = [_tried(gate.try_out(change), change in faults, told) for change in (*faults, *harmless)]
    red, green = found[: len(faults)], found[len(faults) :]
    figures = _figures(red, green)
    slipped = len(red) - sum(v.red and v.told() for v in red) > MOST_MISSED
    workload = f"{len(words)} calls by their words, {len(cases[::every])} by their sound"
    publish("gate", workload, figures, json)
    if slipped or any(v.refused for v in found) or any(v.red for v in green):
        raise typer.Exit(1)


def distinct(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of calls in which the same is said, by other voices or over other lines, the first."""
    said = {
        orjson.dumps([case["locale"], [turn["expect"].get("transcript") for turn in case["turns"]]]): case
        for case in reversed(cases)
    }
    return list(said.values())[::-1]


def wanted(changes: Iterable["SeededChange"], words: str, part: str) -> list["SeededChange"]:
    """The changes whose name has these words, and of them a part."""
    which, parts = map(int, part.split("/"))
    return [change for change in changes if words in change.name][which - 1 :: parts]


def _tried(verdict: "Verdict", fault: bool, told: Path | None) -> "Verdict":
    """Say at once what came of it."""
    good = verdict.red and verdict.told() if fault else not verdict.red
    state = "?" if verdict.refused else "red" if verdict.red else "green"
    sys.stderr.write(
        f"{'✓' if good and not verdict.refused else '✗'} {state:6}{verdict.change.name} {verdict.refused}\n"
    )
    if told is not None:
        line: dict[str, Any] = {"name": verdict.change.name, "red": verdict.red, "named": verdict.told()}
        with told.open("ab") as file:
            file.write(orjson.dumps(line | {"summary": verdict.summary, "refused": verdict.refused}) + b"\n")
    return verdict


def _figures(red: list["Verdict"], green: list["Verdict"]) -> dict[str, Figure]:
    return {
        "faults": len(red),
        "faults_red": sum(v.red for v in red),
        "faults_red_and_named": sum(v.red and v.told() for v in red),
        "faults_named_by_their_outcome": sum(v.red and v.told(outcome=True) for v in red),
        "harmless": len(green),
        "harmless_green": sum(not v.red and not v.refused for v in green),
        "not_put_in": sum(bool(v.refused) for v in (*red, *green)),
    }
