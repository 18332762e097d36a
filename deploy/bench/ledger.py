"""`tellerline bench ledger`: confirmed transfers a second on PostgreSQL, beside bare two-insert transactions."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, TypeVar

import sqlalchemy as sa
import typer
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.migrate import migrate
from app.qa.figures import Figure
from app.qa.options import Database
from deploy.bench._ledger.customer import bench_customer
from deploy.bench._ledger.instant_bank import InstantBank
from deploy.bench._ledger.phases import phases_of
from deploy.postgres import private_cluster, unavailable
from deploy.reporting import percentile, publish
from rules.act import money_policy
from rules.bank import DemoPayee
from schemas.banking import TransferOrder, TransferState
from schemas.errors import ConfigInvalid
from schemas.ids import AccountId, CallId, CustomerId, PayeeId
from schemas.money import Money
from schemas.transfer import Proposal
from services.banking.banks.sandbox import SandboxBank, books
from services.banking.banks.seed import open_demo_bank
from services.banking.code_senders import DemoPhone
from services.banking.ledger import SqlLedger
from services.banking.outbox import Outbox
from services.banking.promises import Promises
from services.banking.proposals import LedgerDeps
from services.banking.seal import Sealer
from services.banking.stepup import SecondFactor
from services.ports import CoreBank
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.heads import FileHead
from services.record.spool import own
from services.store import Store
from services.timing.clock import SystemClock

T = TypeVar("T")

CUSTOMERS: Final = 64
ALONE: Final = 100
"""Transfers confirmed one at a time, to time the phases of one."""
AMOUNT: Final = Money(100, "USD")
_RECORD_EVERY_S: Final = 0.05
"""Far more often than a gateway does, so that recording goes on at every moment of the measurement."""
_KEY: Final = b"benchmark benchmark benchmark !!"


@dataclass(frozen=True, order=True)
class _Pace:
    """Seconds an item, by the clock and of this process's processor, and how long each item took in milliseconds."""

    wall_s: float
    cpu_s: float
    waits_ms: list[float]


def bench(
    transfers: Annotated[int, typer.Option(help="transfers a round", min=16)] = 1_000,
    concurrency: Annotated[int, typer.Option(help="workers at once", min=1, max=64)] = 16,
    rounds: Annotated[int, typer.Option(help="rounds of bare inserts and ledger in turn", min=1)] = 3,
    database: Database = "",
    json: Path | None = None,
) -> None:
    """Measure the ledger's own confirm (seal, limits, two commits) against two bare inserts, then with the sandbox."""
    import uvloop

    if not database and (reason := unavailable()):
        raise ConfigInvalid(reason)
    with ExitStack() as stack:
        url = database or stack.enter_context(private_cluster(durable=True)).format(database="postgres")
        folder = Path(stack.enter_context(TemporaryDirectory()))
        figures = uvloop.run(_measure(url, transfers, concurrency, rounds, folder))
    workload = (
        f"{rounds} x {transfers} transfers of {CUSTOMERS} customers, {concurrency} at once, PostgreSQL with fsync"
    )
    publish("ledger", workload, figures, json)


async def _measure(url: str, count: int, concurrency: int, rounds: int, folder: Path) -> dict[str, Figure]:
    store, plain = Store(url, pool_size=concurrency), create_async_engine(url, pool_size=concurrency)
    try:
        await migrate(store)
        await _open(store)
        bare = await _bare_table(store)
        sandbox = SandboxBank(store, SystemClock())
        instant = InstantBank(sandbox)
        await _ledger(store, instant, CUSTOMERS, concurrency)  # every statement compiled and every plan made
        taken: list[tuple[_Pace, ...]] = []
        for _ in range(rounds):
            lean, usual = await _bare(store, plain, bare, count, concurrency)
            taken.append((lean, usual, *await _ledger(store, instant, count, concurrency)))
        *_, booked = await _ledger(store, sandbox, count // 2, concurrency)
        outbox = Outbox(ChainedAudit(store, AuditKeys(_KEY), FileHead(folder / "audit.head")), SystemClock())
        recorded_s = await _drain(outbox)
        *_, beside = await _while(outbox, _ledger(store, instant, count, concurrency))
        phases = await phases_of(store, lambda: _ledger(store, instant, ALONE, 1))
        wrong = await books(store)
    finally:
        await plain.dispose()
        await store.close()
    return {
        **_best(taken),
        "confirmed_and_booked_in_sandbox_per_s": 1 / booked.wall_s,
        "recorded_per_s": 1 / recorded_s,
        "confirmed_while_recorded_per_s": 1 / beside.wall_s,
        **phases,
        "books_wrong": len(wrong),
    }


def _best(taken: Sequence[tuple[_Pace, ...]]) -> dict[str, Figure]:
    """Of each kind the fastest round: bare inserts in the leanest and the usual way, and the ledger's three steps."""
    lean, usual, proposed, delivered, confirmed = (min(paces) for paces in zip(*taken, strict=True))
    return {
        "confirmed_per_s": 1 / confirmed.wall_s,
        "bare_two_inserts_per_s": 1 / lean.wall_s,
        "bare_over_confirmed_ratio": confirmed.wall_s / lean.wall_s,
        "worst_round_ratio": max(confirmed.wall_s / lean.wall_s for lean, *_, confirmed in taken),
        "usual_two_inserts_per_s": 1 / usual.wall_s,
        "usual_over_confirmed_ratio": confirmed.wall_s / usual.wall_s,
        "proposed_per_s": 1 / proposed.wall_s,
        "delivered_per_s": 1 / delivered.wall_s,
        **{
            f"{name}_cpu_ms": pace.cpu_s * 1000
            for name, pace in (("confirm", confirmed), ("bare", lean), ("usual", usual), ("propose", proposed))
        },
        **{f"confirm_p{q}_ms": percentile([w for *_, pace in taken for w in pace.waits_ms], q) for q in (50, 95, 99)},
    }


def _customer(number: int) -> CustomerId:
    return CustomerId(f"bench-{number % CUSTOMERS}")


async def _open(store: Store) -> None:
    payee = DemoPayee(id="payee", name="Payee", bank="Bank", last4="0000", currency="USD")
    people = [bench_customer(_customer(number), payee) for number in range(CUSTOMERS)]
    await open_demo_bank(store, SystemClock(), people)


async def _bare_table(store: Store) -> sa.Table:
    """Two columns as wide as an entry's."""
    name = sa.Column("account", sa.String(128), nullable=False)
    table = sa.Table("bench_entries", sa.MetaData(), name, sa.Column("amount", sa.BigInteger, nullable=False))
    await store.execute("bench", sa.schema.CreateTable(table, if_not_exists=True))
    return table


async def _bare(store: Store, plain: AsyncEngine, table: sa.Table, count: int, concurrency: int) -> tuple[_Pace, _Pace]:
    """`count` transactions of two inserts, as double entry needs at the least: the leanest way we have, and the usual.

    The leanest goes in as the ledger does (`Store.transact`); the usual as SQLAlchemy's documentation has it.
    """
    insert = sa.insert(table)
    entries = [{"account": "customer", "amount": -AMOUNT.minor}, {"account": "@clearing", "amount": AMOUNT.minor}]

    def both(connection: sa.Connection) -> None:
        for entry in entries:
            connection.execute(insert, entry)

    async def lean(_: int) -> None:
        await store.transact("bench", both)

    async def usual(_: int) -> None:
        async with plain.begin() as connection:
            for entry in entries:
                await connection.execute(insert, entry)

    return await _run(range(count), lean, concurrency), await _run(range(count), usual, concurrency)


async def _ledger(store: Store, bank: CoreBank, count: int, concurrency: int) -> tuple[_Pace, _Pace, _Pace]:
    """The paces of proposing `count` orders, hearing them, and confirming them through to the booked end."""
    with TemporaryDirectory() as folder, closing(own(Path(folder), "promises", _KEY, 1 << 16)) as spool:
        return await _paces(store, bank, count, concurrency, Promises(store, SystemClock(), spool))


class _AllRecorded:
    """Nothing waits: what is measured is the ledger alone."""

    waiting = False


async def _paces(
    store: Store, bank: CoreBank, count: int, concurrency: int, promises: Promises
) -> tuple[_Pace, _Pace, _Pace]:
    clock, policy = SystemClock(), money_policy().model_copy(update={"proposal_life_s": 3600.0})
    step_up = SecondFactor(store, DemoPhone(), clock, policy, [_KEY])
    ledger = SqlLedger(LedgerDeps(store, bank, step_up, Sealer([_KEY]), clock, policy, promises, _AllRecorded()))
    proposals: list[Proposal] = []

    async def propose(number: int) -> None:
        customer, call = _customer(number), CallId(f"call-{clock.new_id()}")
        wanted = TransferOrder(AccountId(f"{customer}-main"), PayeeId("payee"), 1, AMOUNT)
        proposals.append(await ledger.propose(customer, call, wanted))

    async def hear(proposal: Proposal) -> None:
        await ledger.delivered(proposal.customer, proposal.call, proposal.id)

    async def confirm(proposal: Proposal) -> None:
        receipt = await ledger.confirm(proposal.customer, proposal.call, proposal.id, proposal.seal)
        assert receipt.state is TransferState.SUCCEEDED

    proposed = await _run(range(count), propose, concurrency)
    delivered = await _run(proposals, hear, concurrency)
    return proposed, delivered, await _run(proposals, confirm, concurrency)


async def _drain(outbox: Outbox) -> float:
    """Put all that waits on record; seconds a record."""
    start, done = time.perf_counter(), 0
    while taken := await outbox.drain():
        done += taken
    return (time.perf_counter() - start) / done


async def _while(outbox: Outbox, work: Awaitable[T]) -> T:
    """`work`, with the outbox putting what settles on record all the while."""

    async def recording() -> None:
        while True:
            await outbox.drain()
            await asyncio.sleep(_RECORD_EVERY_S)

    beside = asyncio.create_task(recording())
    try:
        return await work
    finally:
        beside.cancel()


async def _run(items: Sequence[T], work: Callable[[T], Awaitable[None]], concurrency: int) -> _Pace:
    """Have `concurrency` workers do all items."""
    waiting, waits = iter(items), []

    async def worker() -> None:
        for item in waiting:
            began = time.perf_counter()
            await work(item)
            waits.append((time.perf_counter() - began) * 1000)

    start, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    wall, cpu = time.perf_counter() - start, time.process_time() - used
    return _Pace(wall / len(items), cpu / len(items), waits)
