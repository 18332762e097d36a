"""`tellerline bench frames`: orders with words around them that change nothing, or take them back, and noise inside."""

from collections import Counter, defaultdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench.cases.exchanges import ExchangeOutcome

FRAMES: Final = Path("tests/data/frames")
NOISE: Final = Path("tests/data/noise")
SWAPS: Final = Path("tests/data/swaps")
ORDERS: Final = Path("tests/data/corrections")


def bench(
    each: Annotated[int, typer.Argument(help="orders of each file of corrections", min=1)] = 3,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
) -> None:
    """Put orders that are right by themselves into every frame, noise into them, or other amounts and days.

    `wrong` is what is read back otherwise than meant; what noise, or another value, made wrong is told.
    """
    from deploy.bench.cases.frames import shares

    figures: dict[str, Figure] = {}
    for path in sorted(FRAMES.glob("*.yaml")):
        for name, outcomes in _played(path, each).items():
            figures |= {f"{path.stem}_{name}_{what}_percent": share for what, share in shares(outcomes).items()}
            figures[f"{path.stem}_{name}_utterances"] = outcomes.total()
    publish("frames", "orders that are right by themselves, with words around them", figures, json)


def _played(path: Path, each: int) -> "dict[str, Counter[ExchangeOutcome]]":
    """Outcomes in a language's frames that keep an order, and in those that undo it; of noise, and of other values."""
    from deploy.bench.cases.disturbed import disturbed, noise
    from deploy.bench.cases.exchanges import ExchangeOutcome, exchange_files, exchanges, judge
    from deploy.bench.cases.frames import frames, orders, tried
    from deploy.bench.cases.player import ConversationPlayer
    from deploy.bench.cases.swapped import swapped, swaps

    inside, values = noise(NOISE / path.name), swaps(SWAPS / path.name)
    found = defaultdict[str, "Counter[ExchangeOutcome]"](Counter)
    for file in exchange_files(ORDERS, path.stem):
        customer, lines = exchanges(file)
        player = ConversationPlayer.of(customer)
        for line in islice(orders(lines), each):
            for keeps, judged in tried(player, line, frames(path), path.stem):
                found["keeping" if keeps else "undoing"][judged.outcome] += 1
        for line in islice((line for line in lines if line.order), each):
            right = judge(player, line).outcome is ExchangeOutcome.RIGHT
            others = [("disturbed", other) for other in disturbed(line, inside)]
            others += [("swapped", other) for other in swapped(player, line, values)]
            for kind, judged in ((kind, judge(player, other)) for kind, other in others if right):
                found[kind][judged.outcome] += 1
                if judged.outcome is ExchangeOutcome.WRONG:
                    typer.echo(f"{' / '.join(line.turns)} | {judged.exchange.turns[-1]}: {judged.said}")
    return found
