"""`tellerline bench dialogue`: conversations as data through the real stages, and the text path's latency."""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import percentile, publish

if TYPE_CHECKING:
    from deploy.bench.cases.player import ConversationPlayer, PlayTally

CONVERSATIONS: Final = Path("tests/conversations")
_OWN: Final = 20
"""Payees that a demo customer has anyway, at most."""
_COLD: Final = (
    "import time; t = time.perf_counter(); "
    "from services.understanding.fast import Understander; from schemas.ids import Locale; "
    "m = time.perf_counter(); c = time.process_time(); Understander.for_locale(Locale('{locale}')); "
    "print((time.perf_counter() - m) * 1000, (time.process_time() - c) * 1000)"
)


def bench(
    folder: Annotated[Path, typer.Argument(help="conversations, a YAML file each set")] = CONVERSATIONS,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    payees: Annotated[int, typer.Option(help="payees in each book", min=0, max=10_000)] = 10_000,
    repeat: Annotated[int, typer.Option(help="plays of each conversation for the latency", min=1, max=50)] = 2,
) -> None:
    """Play every conversation; latency is of normalise + payee search + understand + decide, an utterance at a time."""
    from deploy.bench.cases.player import ConversationPlayer

    figures: dict[str, Figure] = {}
    players: dict[str, ConversationPlayer] = {}
    failed = 0
    for language in ("en", "ja"):
        played, count = _play(folder, language, players, payees, repeat)
        failing = len({failure.where.partition("[")[0] for failure in played.failures})
        failed += failing
        for failure in played.failures:
            typer.echo(f"{failure.where} {failure.said!r}: {failure.what}", err=True)
        figures |= {
            f"{language}_conversations": count,
            f"{language}_turns": played.turns,
            f"{language}_passed_percent": round(100 * (count - failing) / max(1, count), 2),
            f"{language}_text_path_p50_ms": percentile(played.micros, 50) / 1000,
            f"{language}_text_path_p99_ms": percentile(played.micros, 99) / 1000,
            f"{language}_text_path_cpu_p50_ms": percentile(played.cpu_micros, 50) / 1000,
            f"{language}_text_path_cpu_p99_ms": percentile(played.cpu_micros, 99) / 1000,
        }
    for language, locale in (("en", "en-US"), ("ja", "ja-JP")):
        wall, cpu = _cold(locale)
        figures |= {f"{language}_rules_cold_start_ms": wall, f"{language}_rules_cold_start_cpu_ms": cpu}
    publish("dialogue", f"conversations of {folder}, {payees} payees in each book", figures, json)
    raise typer.Exit(1 if failed else 0)


def _play(
    folder: Path, language: str, players: "dict[str, ConversationPlayer]", payees: int, repeat: int
) -> "tuple[PlayTally, int]":
    """A language's conversations: what came of the first play of each, the latencies of all, and how many there are."""
    from deploy.bench._crowd import crowd
    from deploy.bench.cases.conversations import conversations
    from deploy.bench.cases.player import ConversationPlayer, PlayTally

    played, count = PlayTally(), 0
    for file in conversations(folder / language):
        if file.customer not in players:
            players[file.customer] = ConversationPlayer.of(file.customer, crowd(language, max(0, payees - _OWN)))
        player = players[file.customer]
        for conversation in file.conversations:
            count += 1
            player.play(conversation, played)
            for _ in range(repeat - 1):
                again = PlayTally()
                player.play(conversation, again)
                played.micros.extend(again.micros)
                played.cpu_micros.extend(again.cpu_micros)
    return played, count


def _cold(locale: str) -> tuple[float, float]:
    """Milliseconds, by clock and by CPU, to load and compile a locale's grammar in a fresh process, imports apart."""
    done = subprocess.run(
        [sys.executable, "-c", _COLD.format(locale=locale)], capture_output=True, check=True, text=True
    )
    wall, cpu = done.stdout.split()
    return float(wall), float(cpu)
