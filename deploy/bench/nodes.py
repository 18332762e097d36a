"""`tellerline bench nodes`: what a decode's way through Ray costs, and what callers feel when a node dies."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final

import sqlalchemy as sa
import typer

from app.qa.figures import Figure
from deploy.postgres import private_cluster, unavailable
from deploy.reporting import percentile, publish
from schemas.errors import ConfigInvalid

if TYPE_CHECKING:
    from deploy.bench._nodes.kept import Kept

ORDER: Final = "send {} dollars to rosa quill"


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    calls: Annotated[int, typer.Option(help="Calls at once, each with a read-back.", min=2, max=200)] = 40,
) -> None:
    """Kill a gateway's process, then a whole node, under calls that wait for a yes; then have everyone say it."""
    try:
        from deploy.bench._nodes.crossing import crossing
        from deploy.bench._nodes.nodes import service_on_nodes
    except ModuleNotFoundError as error:
        raise ConfigInvalid("Ray is not installed: `make ray` makes an environment with it") from error
    if reason := unavailable():
        raise ConfigInvalid(reason)
    names = [f"caller-{number}" for number in range(calls)]
    figures = crossing()
    with private_cluster(durable=True) as place, TemporaryDirectory(prefix="tl-", dir="/tmp") as folder:
        url = place.format(database="postgres")
        asyncio.run(_opened(url, names))
        with service_on_nodes(2, Path(folder), _settings(url)) as nodes:
            bases = [node.base for node in nodes]
            figures |= _lost("process", 12, url, names, bases, partial(nodes[0].kill, "ServeReplica:gateway"))
            nodes[0].await_ready()
            figures |= _lost("node", 13, url, names, bases, nodes[0].kill)
    publish("nodes", f"{calls} typed calls with a read-back, two gateways on two nodes of Ray", figures, json)


def _settings(url: str) -> dict[str, str]:
    from tests.harness.processes import SHARED

    mine = {"ENVIRONMENT": "demo", "LOG_LEVEL": "ERROR", "CALLS_PER_MINUTE": "1000000", "DATABASE_URL": url}
    return {f"TELLERLINE_{name}": value for name, value in {**SHARED, **mine}.items()}


def _lost(
    what: str, dollars: int, url: str, names: Sequence[str], bases: Sequence[str], kill: Callable[[], None]
) -> dict[str, Figure]:
    """One loss, and how often each customer's order of so many dollars was booked in the end."""
    from deploy.bench._nodes.kept import through_a_loss

    async def run() -> dict[str, Figure]:
        kept = await through_a_loss(ORDER.format(dollars), names, bases, kill)
        return _figures(kept, await _booked(url, 100 * dollars))

    return {f"{what}_{name}": value for name, value in asyncio.run(run()).items()}


def _figures(kept: "Kept", booked: dict[str, int]) -> dict[str, Figure]:
    found: dict[str, Figure] = {"calls_lost": kept.lost, "resumed": len(kept.resumed_s)}
    found |= {f"resumed_p{q}_ms": 1000 * percentile(kept.resumed_s, q) for q in (50, 95)}
    found |= {f"told_{state}": count for state, count in sorted(kept.states.items())}
    twice = sum(times > 1 for times in booked.values())
    return found | {"booked_once": len(booked) - twice, "booked_twice": twice}


async def _opened(url: str, names: Sequence[str]) -> None:
    """A bank with these customers, each of whom knows one payee."""
    from app.migrate import migrate
    from deploy.bench._ledger.customer import bench_customer
    from rules.bank import DemoPayee
    from services.banking.banks.seed import open_demo_bank
    from services.store import Store
    from services.timing.clock import SystemClock

    payee = DemoPayee(id="rosa-quill", name="Rosa Quill", bank="Harbor Bank", last4="0000", currency="USD")
    store = Store(url, pool_size=2)
    try:
        await migrate(store)
        await open_demo_bank(store, SystemClock(), [bench_customer(name, payee) for name in names])
    finally:
        await store.close()


async def _booked(url: str, minor: int) -> dict[str, int]:
    """Of each customer for whom the bank moved this amount, how often it did."""
    from schemas.banking import BankOutcome
    from services.banking.banks.tables import entries, postings
    from services.store import Store

    moved = (
        sa.select(postings.c.customer_id, sa.func.count())
        .join(entries, entries.c.posting_id == postings.c.id)
        .where(postings.c.outcome == BankOutcome.DONE, entries.c.amount_minor == -minor)
        .group_by(postings.c.customer_id)
    )
    store = Store(url, pool_size=1)
    try:
        return dict(await store.transact("bench", lambda connection: [*connection.execute(moved).tuples()]))
    finally:
        await store.close()
