"""`tellerline bench exchanges`: corrections within one breath, and orders with a part that no default may stand for."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import percentile, publish

if TYPE_CHECKING:
    from deploy.bench.cases.exchanges import JudgedExchange, TurnPace

FOLDERS: Final = ("tests/data/corrections", "tests/data/unread")
_OWN: Final = 20
"""Payees that a demo customer has anyway, at most."""


def bench(
    folders: Annotated[
        list[Path] | None, typer.Argument(help="folders with a YAML file each language", exists=True, file_okay=False)
    ] = None,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    failures: Annotated[bool, typer.Option(help="list the seen lines that were not right")] = False,
    repeat: Annotated[int, typer.Option(help="plays of each for the text path's latency", min=0, max=50)] = 0,
    payees: Annotated[int, typer.Option(help="payees in each book of these plays", min=0, max=10_000)] = 10_000,
) -> None:
    """Have every exchange, and judge what is read back. Exit 1 if anything else than what was meant was read back.

    Latency is of normalise + payee search + understand + decide, an utterance at a time, the best of `repeat` plays.
    """
    from deploy.bench.cases.exchanges import ExchangeOutcome, exchange_files, exchanges, judge, name_of
    from deploy.bench.cases.player import ConversationPlayer

    figures: dict[str, Figure] = {}
    wrong = 0
    for folder in folders or map(Path, FOLDERS):
        for path in exchange_files(folder):
            customer, lines = exchanges(path)
            player = ConversationPlayer.of(customer)
            judged = [judge(player, line) for line in lines]
            figures |= _figures(f"{folder.name}_{name_of(path)}", judged)
            wrong += sum(each.outcome is ExchangeOutcome.WRONG for each in judged)
            for each in judged:
                if (
                    failures
                    and not each.exchange.unseen
                    and each.outcome in {ExchangeOutcome.WRONG, ExchangeOutcome.LOST}
                ):
                    typer.echo(
                        f"{each.outcome.upper()} {each.exchange.group}: {' / '.join(each.exchange.turns)} → {each.said}"
                    )
    if repeat:
        figures |= _latency([*(folders or map(Path, FOLDERS))], payees, repeat)
    publish("exchanges", "corrections within one breath, and orders of which no part may be defaulted", figures, json)
    raise typer.Exit(1 if wrong else 0)


def _figures(name: str, judged: "list[JudgedExchange]") -> dict[str, Figure]:
    """A file's figures, those of the unseen lines apart."""
    from deploy.bench.cases.exchanges import ExchangeOutcome

    figures: dict[str, Figure] = {}
    for unseen in (False, True):
        part = [each for each in judged if each.exchange.unseen is unseen]
        kind = f"{name}_{'unseen' if unseen else 'tuned'}"
        counts = Counter(each.outcome for each in part)
        held = counts[ExchangeOutcome.RIGHT] + counts[ExchangeOutcome.ASKED]
        figures |= {
            f"{kind}_exchanges": len(part),
            f"{kind}_right_or_asked_percent": round(100 * held / len(part), 1) if part else None,
            f"{kind}_lost": counts[ExchangeOutcome.LOST],
            f"{kind}_wrong": counts[ExchangeOutcome.WRONG],
        }
    return figures


def _latency(folders: list[Path], payees: int, repeat: int) -> dict[str, Figure]:
    """Percentiles of the text path over every turn, by folder and language."""
    from deploy.bench._crowd import crowd
    from deploy.bench.cases.exchanges import exchange_files, exchanges, pace
    from deploy.bench.cases.player import ConversationPlayer

    players: dict[str, ConversationPlayer] = {}
    paces: defaultdict[str, list[TurnPace]] = defaultdict(list)
    for path in (path for folder in folders for path in exchange_files(folder)):
        customer, lines = exchanges(path)
        spoken = path.stem.partition("_")[0]
        if customer not in players:
            players[customer] = ConversationPlayer.of(customer, crowd(spoken, max(0, payees - _OWN)))
        for line in lines:
            paces[f"{path.parent.name}_{spoken}"] += pace(players[customer], line, repeat)
    figures: dict[str, Figure] = {}
    for name, each in paces.items():
        figures[f"{name}_turns"] = len(each)
        for q in (50, 95, 99):
            figures[f"{name}_text_path_p{q}_ms"] = percentile([turn.micros for turn in each], q) / 1000
            figures[f"{name}_text_path_cpu_p{q}_ms"] = percentile([turn.cpu_micros for turn in each], q) / 1000
    return figures
