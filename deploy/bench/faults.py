"""`tellerline bench faults`: what callers hear, and what is booked, while the database fails around their yes."""

import asyncio
import json as json_module
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from app.qa.figures import Figure
from deploy.bench._faults.calls import Crowd, amounts, ends
from deploy.bench._faults.silent_disk import compiler
from deploy.bench._faults.table import POSTGRESQL, SQLITE, InjectedFault
from deploy.bench._faults.world import FaultWorld, embedded, shared
from deploy.postgres import Cluster, cluster, unavailable
from deploy.reporting import publish

ANSWER_S: Final = 5.0
"""The bound that every answer must keep."""
PATIENCE_S: Final = 60.0
"""Within this every promise must have ended, and the gateway be ready again."""
_BOOKED: Final = """
    SELECT t.amount_minor, count(e.id) FROM ledger_transfers t JOIN bank_postings p ON p.key = t.bank_key
    JOIN bank_entries e ON e.posting_id = p.id AND e.account_id = t.source
    WHERE p.outcome = 'done' GROUP BY t.amount_minor
"""


@dataclass(frozen=True, slots=True)
class FaultRow:
    """What one fault came to. `settled` of those told unknown were told the end."""

    database: str
    fault: str
    yeses: int
    slowest_s: float
    done: int
    unknown: int
    nothing: int
    no_word: int
    booked: int
    settled: int
    booked_twice: int
    endless: int
    contradictions: int
    ready_during: int
    ready_after_s: float

    @property
    def kept(self) -> bool:
        """Whether all that must hold did."""
        in_time = self.slowest_s <= ANSWER_S and self.ready_after_s < PATIENCE_S
        return in_time and not (self.booked_twice or self.endless or self.contradictions)


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here, and the rows beside them.")] = None,
    database: Annotated[str, typer.Option(help="`postgresql` or `sqlite` alone")] = "",
    only: Annotated[str, typer.Option(help="only faults whose name contains this")] = "",
    yeses: Annotated[int, typer.Option(help="calls with a yes under way", min=2, max=24)] = 8,
) -> None:
    """Let the database fail in every way of the table around the yeses of real calls; 1 where words were untrue."""
    rows: list[FaultRow] = []
    console = Console()
    if database != "sqlite":
        if reason := unavailable():
            console.print(f"PostgreSQL is left out: {reason}")
        else:
            with cluster(durable=True) as server:
                rows += asyncio.run(_rows(_chosen(POSTGRESQL, only), yeses, server))
    if database != "postgresql":
        rows += asyncio.run(_rows(_chosen(SQLITE, only), yeses, None))
    Console(width=200).print(_table(rows))
    publish("faults", f"{len(rows)} faults, {yeses} yeses in real calls around each", _figures(rows), json)
    if json is not None:
        json.with_suffix(".rows.json").write_text(json_module.dumps([asdict(row) for row in rows], indent=2))
    if not all(row.kept for row in rows):
        raise typer.Exit(1)


def _chosen(faults: Sequence[InjectedFault], only: str) -> list[InjectedFault]:
    """Those asked for; a disk is silenced by a library of ours, which takes a C compiler."""
    able = compiler() is not None
    return [fault for fault in faults if only in fault.name and (able or "disk silent" not in fault.name)]


async def _rows(faults: Sequence[InjectedFault], yeses: int, server: Cluster | None) -> list[FaultRow]:
    """One fault after another on one gateway, which has to outlive them; where something was not kept, on a new one."""
    rows: list[FaultRow] = []
    asked = amounts()
    while len(rows) < len(faults):
        with tempfile.TemporaryDirectory(prefix="tellerline-") as folder:
            async with embedded(Path(folder)) if server is None else shared(Path(folder), server) as world:
                while len(rows) < len(faults) and (not rows or rows[-1].kept or world.fresh):
                    world.fresh = False
                    rows.append(await _played(faults[len(rows)], list(islice(asked, yeses)), world))
                    row = rows[-1]
                    told = "kept" if row.kept else str(row)
                    Console(stderr=True, width=400).print(f"{row.database}: {row.fault}: {row.slowest_s} s, {told}")
    return rows


async def _played(fault: InjectedFault, asked: Sequence[int], world: FaultWorld) -> FaultRow:
    async with AsyncExitStack() as stack:
        crowd = Crowd(world.gateway.base, stack)
        await crowd.open(asked)
        if fault.after_s < 0:
            await fault.begin(world)
            await asyncio.sleep(-fault.after_s)
        await crowd.agree()
        if fault.after_s >= 0:
            await asyncio.sleep(fault.after_s)
            await fault.begin(world)
        began = time.monotonic()
        during, *_ = await asyncio.gather(_ready_during(world), crowd.answered(), crowd.bystander())
        await asyncio.sleep(max(0.0, fault.for_s - (time.monotonic() - began)))
        crowd.hang_up_on_half()
        await fault.end(world)
        ready_after_s = await _ready_again(world)
        told = await crowd.learn(PATIENCE_S)
        booked = {int(amount): times for amount, times in await world.rows(_BOOKED) if amount in asked}
    return _judged(fault, world, crowd, told, booked, during, ready_after_s)


async def _ready_during(world: FaultWorld) -> int:
    await asyncio.sleep(2.0)
    return await world.gateway.ready()


async def _ready_again(world: FaultWorld) -> float:
    began = time.monotonic()
    while await world.gateway.ready() != 200:  # noqa: PLR2004 - OK
        if time.monotonic() - began > PATIENCE_S:
            break
        await asyncio.sleep(0.2)
    return time.monotonic() - began


def _judged(
    fault: InjectedFault,
    world: FaultWorld,
    crowd: Crowd,
    told: dict[int, str],
    booked: dict[int, int],
    during: int,
    after_s: float,
) -> FaultRow:
    answers = Counter(buyer.told for buyer in crowd.buyers)
    followed = [buyer for buyer in crowd.buyers if buyer.followed]
    untrue = sum(
        _contradict(buyer.words, told.get(buyer.amount, ""), moved=buyer.amount in booked) for buyer in crowd.buyers
    )
    return FaultRow(
        database="sqlite" if world.cluster is None else "postgresql",
        fault=fault.name,
        yeses=len(crowd.buyers),
        slowest_s=round(max(crowd.answers_s), 2),
        done=answers["done"],
        unknown=answers["unknown"],
        nothing=answers["nothing moved"] + answers["unsure"],
        no_word=answers["no word"],
        booked=len(booked),
        settled=sum(buyer.amount in told for buyer in followed),
        booked_twice=sum(count > 1 for count in booked.values()),
        endless=sum(buyer.amount not in told for buyer in followed),
        contradictions=untrue,
        ready_during=during,
        ready_after_s=round(after_s, 1),
    )


def _contradict(words: Sequence[str], end: str, *, moved: bool) -> bool:
    """Whether what one caller heard of their yes is untrue, or of two minds."""
    said = " ".join(words)
    went = "on its way" in said or end == "went through"
    nothing = "no money was moved" in said or "nothing was sent" in said or end == "was not carried out"
    asked_again = "try again" in said
    after_deed = asked_again and (went or "following it up" in said)
    twice = said.count("on its way") + len([one for one in ends(words).values() if one == "went through"]) > 1
    return (went and not moved) or (nothing and moved) or (went and nothing) or after_deed or twice


def _figures(rows: Sequence[FaultRow]) -> dict[str, Figure]:
    return {
        "faults": len(rows),
        "kept": sum(row.kept for row in rows),
        "yeses": sum(row.yeses for row in rows),
        "slowest_answer_s": max((row.slowest_s for row in rows), default=0.0),
        "told_unknown": sum(row.unknown for row in rows),
        "told_unknown_then_the_end": sum(row.settled for row in rows),
        "booked": sum(row.booked for row in rows),
        "booked_twice": sum(row.booked_twice for row in rows),
        "promises_without_an_end": sum(row.endless for row in rows),
        "contradictory_words": sum(row.contradictions for row in rows),
    }


def _table(rows: Sequence[FaultRow]) -> Table:
    heads = ("database", "fault", "yeses", "slowest s", "done", "unknown", "nothing", "no word", "booked", "settled",
             "twice", "endless", "contradictory", "ready", "ready after s")  # fmt: skip
    table = Table(*heads)
    for row in rows:
        table.add_row(*(str(value) for value in asdict(row).values()), style=None if row.kept else "red")
    return table
