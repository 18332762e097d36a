"""`tellerline bench exchanges`: corrections within one breath, and orders with a part that no default may stand for."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.bench._figures import publish

FOLDERS: Final = ("tests/data/corrections", "tests/data/unread")


def bench(
    folders: Annotated[list[Path] | None, typer.Argument(help="folders with a YAML file each language")] = None,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    failures: Annotated[bool, typer.Option(help="list the seen lines that were not right")] = False,
) -> None:
    """Have every exchange, and judge what is read back. Exit 1 if anything else than what was meant was read back."""
    from deploy.bench.cases.exchanges import ExchangeOutcome, exchanges, judge
    from deploy.bench.cases.player import ConversationPlayer

    figures: dict[str, Figure] = {}
    wrong = 0
    for folder in folders or map(Path, FOLDERS):
        for path in sorted(folder.glob("*.yaml")):
            customer, lines = exchanges(path)
            player = ConversationPlayer.of(customer)
            judged = [judge(player, line) for line in lines]
            for unseen in (False, True):
                part = [each for each in judged if each.exchange.unseen is unseen]
                name = f"{folder.name}_{path.stem}_{'unseen' if unseen else 'tuned'}"
                counts = Counter(each.outcome for each in part)
                held = counts[ExchangeOutcome.RIGHT] + counts[ExchangeOutcome.ASKED]
                figures |= {
                    f"{name}_exchanges": len(part),
                    f"{name}_right_or_asked_percent": round(100 * held / len(part), 1) if part else None,
                    f"{name}_lost": counts[ExchangeOutcome.LOST],
                    f"{name}_wrong": counts[ExchangeOutcome.WRONG],
                }
                wrong += counts[ExchangeOutcome.WRONG]
            for each in judged:
                if (
                    failures
                    and not each.exchange.unseen
                    and each.outcome in {ExchangeOutcome.WRONG, ExchangeOutcome.LOST}
                ):
                    typer.echo(
                        f"{each.outcome.upper()} {each.exchange.group}: {' / '.join(each.exchange.turns)} → {each.said}"
                    )
    publish("exchanges", "corrections within one breath, and orders of which no part may be defaulted", figures, json)
    raise typer.Exit(1 if wrong else 0)
