"""`tellerline bench callers`: whole calls by callers who have only what people said."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from deploy.bench import CHECKOUT
from deploy.bench._calls.heard_by import HeardBy
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench._callers.play import PlayedTask

VOICE: Final = "RHVoice-test -p bdl -R 16000 -o {}"
"""One that the bundled recogniser was never trained on."""
DIALOGUES: Final = Path(__file__).parent / "corpus" / "callers.jsonl"


def bench(  # noqa: PLR0913, PLR0917 - one for each option
    file: Annotated[Path, typer.Argument(help="dialogues: goals with the callers' own sentences")] = DIALOGUES,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    part: Annotated[str, typer.Option(help="even, odd or all of the dialogues")] = "all",
    limit: Annotated[int, typer.Option(help="at most so many dialogues; 0 for all", min=0)] = 0,
    at_once: Annotated[int, typer.Option(help="calls at a time", min=1, max=64)] = 4,
    show: Annotated[bool, typer.Option(help="list every task that needed more sentences than it should")] = False,
    spoken: Annotated[bool, typer.Option(help="speak in real time instead of typing")] = False,
    voice: Annotated[str, typer.Option(help="program that speaks its standard input into the file {}")] = VOICE,
    recogniser: Annotated[HeardBy, typer.Option(help="who hears what is spoken")] = HeardBy.BUNDLED,
    details: Annotated[Path | None, typer.Option(help="write a line of JSON a task")] = None,
) -> None:
    """Type or speak every dialogue to a service started for it, each transfer again with a change of mind.

    Success: the order wanted was booked, once, or the balance asked for was told. Understood at once: the opening led
    ahead. No sentence too many: nothing was asked again, offered or corrected. Wrong read-backs differ from what had
    been said; an old order again is one just refused or changed. A customer a call; one-time codes are looked up.
    """
    from app.demo.run import service
    from deploy.bench._callers.aloud import Aloud
    from deploy.bench._callers.data import read
    from deploy.bench._callers.play import play
    from deploy.bench._callers.score import figures

    dialogues = read(file)
    numbers = _chosen(len(dialogues.dialogues), part, limit)
    with TemporaryDirectory() as folder:
        notes = Path(folder) if spoken and recogniser is HeardBy.ORACLE else None
        aloud, told = Aloud(voice, notes) if spoken else None, [folder] if notes else []
        with service("-m", "deploy.bench._callers.serve", str(file), *told, PYTHONPATH=CHECKOUT) as base:
            played = asyncio.run(play(base, dialogues, numbers, at_once, aloud))
    if details is not None:
        details.write_bytes(b"\n".join(orjson.dumps(_row(one)) for one in played))
    for one in played if show else ():
        _listed(one)
    found = figures(played)
    how = f"spoken ({voice.split(' -o')[0]}, {recogniser})" if spoken else "typed"
    publish("callers", f"{len(numbers)} dialogues ({part}) of {file.name}, {how}, {at_once} calls at once", found, json)
    amiss = sum(int(v or 0) for key, v in found.items() if key.endswith(("wrong_money", "double_money")))
    raise typer.Exit(1 if amiss else 0)


def _chosen(count: int, part: str, limit: int) -> range:
    """The numbers of the dialogues of a part, at most `limit` where there is one."""
    numbers = range(count)[{"even": slice(0, None, 2), "odd": slice(1, None, 2)}.get(part, slice(None))]
    return numbers[:limit] if limit else numbers


def _row(one: "PlayedTask") -> dict[str, object]:
    from deploy.bench._callers.score import class_of

    outcome = one.outcome
    return {
        "dialogue": one.dialogue,
        "n": outcome.task.n,
        "class": class_of(one),
        "goal": outcome.goal.model_dump(),
        "success": outcome.success,
        "at_once": outcome.at_once,
        "spare": outcome.spare,
        "why": outcome.why,
        "wrong_read_backs": outcome.wrong_read_backs,
        "old_order_again": outcome.old_order_again,
        "wrong_money": outcome.wrong_money,
        "turns": [
            {"said": said, "heard": a.text, "kind": a.kind, "intent": a.intent, "route": a.route, "rule": a.rule}
            for said, a in one.heard
        ],
    }


def _listed(one: "PlayedTask") -> None:
    from deploy.bench._callers.score import class_of

    if one.outcome.spare:
        return
    goal = one.outcome.goal.model_dump(exclude_defaults=True)
    typer.echo(f"{one.dialogue} {one.outcome.task.n} {class_of(one)} {goal} {one.outcome.why}", err=True)
    for said, answer in one.heard:
        typer.echo(f"    {said}\n        {answer.text}  [{answer.rule} {answer.route}]", err=True)
