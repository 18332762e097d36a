"""`tellerline bench ledger`: confirmed transfers a second on PostgreSQL, beside bare two-insert transactions."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

import sqlalchemy as sa
import typer

from app.migrate import migrate
from app.qa.bench._report import Figure, percentile, publish
from app.qa.postgres import private_cluster, unavailable
from rules.act import money_policy
from rules.bank import DemoAccount, DemoCustomer, DemoLimits, DemoPayee
from schemas.banking import BankOutcome, BankReceipt, CustomerProfile, PayeeVerification, TransferOrder
from schemas.errors import ConfigInvalid
from schemas.ids import AccountId, CallId, CustomerId, PayeeId
from schemas.money import Money
from schemas.payee import Payee
from schemas.stepup import Challenge
from schemas.transfer import Proposal
from services.act.bank_sandbox import SandboxBank, books
from services.act.bank_seed import open_demo_bank
from services.act.ledger import Parts, SqlLedger
from services.act.seal import Sealer
from services.act.stepup import SecondFactor
from services.clock import SystemClock
from services.ports import CoreBank
from services.store import Store

T = TypeVar("T")

CUSTOMERS: Final = 64
AMOUNT: Final = Money(100, "USD")
_KEY: Final = b"benchmark benchmark benchmark !!"


class _NobodySends:
    """No transfer of the benchmark needs a second factor."""

    channel = "none"

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:
        """Never called."""
        raise NotImplementedError


class _InstantBank:
    """A core that answers at once and books nothing: what is left is the ledger's own cost."""

    def __init__(self, bank: CoreBank) -> None:
        self._bank = bank
        self._profiles: dict[CustomerId, CustomerProfile] = {}
        self._payees: dict[CustomerId, Payee] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bank, name)

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        """As it was when first asked."""
        if customer not in self._profiles:
            self._profiles[customer] = await self._bank.profile(customer)
        return self._profiles[customer]

    async def payee(self, customer: CustomerId, payee: PayeeId) -> Payee:
        """As it was when first asked."""
        if customer not in self._payees:
            self._payees[customer] = await self._bank.payee(customer, payee)
        return self._payees[customer]

    async def verify_payee(self, _customer: CustomerId, _payee: PayeeId) -> PayeeVerification:
        """A match."""
        return PayeeVerification.MATCH

    async def transfer(self, _customer: CustomerId, _order: TransferOrder, key: str) -> BankReceipt:
        """Done."""
        return BankReceipt(BankOutcome.DONE, key)


def bench(
    transfers: Annotated[int, typer.Option(help="transfers a round", min=16)] = 1_000,
    concurrency: Annotated[int, typer.Option(help="workers at once", min=1, max=64)] = 16,
    rounds: Annotated[int, typer.Option(help="rounds of bare inserts and ledger in turn", min=1)] = 3,
    database: Annotated[str, typer.Option(help="an empty PostgreSQL database; a private server unless given")] = "",
    json: Path | None = None,
) -> None:
    """Measure the ledger's own confirm (seal, limits, two commits) against two bare inserts, then with the sandbox."""
    if database:
        figures = asyncio.run(_measure(database, transfers, concurrency, rounds))
    elif reason := unavailable():
        raise ConfigInvalid(reason)
    else:
        with private_cluster(durable=True) as server:
            figures = asyncio.run(_measure(server.format(database="postgres"), transfers, concurrency, rounds))
    workload = (
        f"{rounds} x {transfers} transfers of {CUSTOMERS} customers, {concurrency} at once, PostgreSQL with fsync"
    )
    publish("ledger", workload, figures, json)


async def _measure(url: str, count: int, concurrency: int, rounds: int) -> dict[str, Figure]:
    store = Store(url, pool_size=concurrency)
    try:
        await migrate(store)
        await _open(store)
        bare = await _bare_table(store)
        sandbox = SandboxBank(store, SystemClock())
        pairs: list[tuple[float, float]] = []
        waits: list[float] = []
        proposing: list[float] = []
        for _ in range(rounds):
            inserted = await _bare(store, bare, count, concurrency)
            proposed, confirmed = await _ledger(store, _InstantBank(sandbox), count, concurrency, waits)
            pairs.append((count / inserted, count / confirmed))
            proposing.append(count / proposed)
        _, booked = await _ledger(store, sandbox, count, concurrency, [])
        wrong = await books(store)
    finally:
        await store.close()
    best_bare, best = max(bare for bare, _ in pairs), max(confirmed for _, confirmed in pairs)
    return {
        "confirmed_per_s": best,
        "bare_two_inserts_per_s": best_bare,
        "bare_over_confirmed_ratio": best_bare / best,
        "worst_round_ratio": max(bare / confirmed for bare, confirmed in pairs),
        "confirmed_and_booked_in_sandbox_per_s": count / booked,
        "proposed_and_read_back_per_s": max(proposing),
        "confirm_p50_ms": percentile(waits, 50),
        "confirm_p95_ms": percentile(waits, 95),
        "confirm_p99_ms": percentile(waits, 99),
        "books_wrong": len(wrong),
    }


def _customer(number: int) -> CustomerId:
    return CustomerId(f"bench-{number % CUSTOMERS}")


async def _open(store: Store) -> None:
    people = []
    for number in range(CUSTOMERS):
        own = _customer(number)
        people.append(
            DemoCustomer(
                id="bench",
                version=1,
                customer=own,
                name="Bench",
                locale="en-US",
                zone="UTC",
                accounts=(DemoAccount(id=f"{own}-main", name="main", last4="0000", currency="USD", opening=10**11),),
                cards=(),
                payees=(DemoPayee(id="payee", name="Payee", bank="Bank", last4="0000", currency="USD"),),
                bills=(),
                limits=(DemoLimits(currency="USD", per_transfer=10**6, per_day=10**11, step_up_above=10**6),),
                transactions=(),
            )
        )
    await open_demo_bank(store, SystemClock(), people)


async def _bare_table(store: Store) -> sa.Table:
    """Two columns as wide as an entry's."""
    name = sa.Column("account", sa.String(128), nullable=False)
    table = sa.Table("bench_entries", sa.MetaData(), name, sa.Column("amount", sa.BigInteger, nullable=False))
    async with store.write("bench") as connection:
        await connection.execute(sa.schema.CreateTable(table, if_not_exists=True))
    return table


async def _bare(store: Store, table: sa.Table, count: int, concurrency: int) -> float:
    """Seconds for `count` transactions of two inserts, as double entry needs at the least."""

    async def one(number: int) -> None:
        async with store.write("bench") as connection:
            await connection.execute(sa.insert(table).values(account=_customer(number), amount=-AMOUNT.minor))
            await connection.execute(sa.insert(table).values(account="@clearing", amount=AMOUNT.minor))

    return await _run(range(count), one, concurrency)


async def _ledger(
    store: Store, bank: CoreBank, count: int, concurrency: int, waits: list[float]
) -> tuple[float, float]:
    """Seconds to propose and hear `count` orders, and to confirm them through to the booked end."""
    clock, policy = SystemClock(), money_policy().model_copy(update={"proposal_life_s": 3600.0})
    step_up = SecondFactor(store, _NobodySends(), clock, policy, _KEY)
    ledger = SqlLedger(Parts(store, bank, step_up, Sealer([_KEY]), clock, policy))
    proposals: list[Proposal] = []

    async def propose(number: int) -> None:
        customer, call = _customer(number), CallId(f"call-{clock.new_id()}")
        wanted = TransferOrder(AccountId(f"{customer}-main"), PayeeId("payee"), 1, AMOUNT)
        proposal = await ledger.propose(customer, call, wanted)
        await ledger.delivered(customer, call, proposal.id)
        proposals.append(proposal)

    async def confirm(proposal: Proposal) -> None:
        start = time.perf_counter()
        await ledger.confirm(proposal.customer, proposal.call, proposal.id, proposal.seal)
        waits.append((time.perf_counter() - start) * 1000)

    proposed = await _run(range(count), propose, concurrency)
    return proposed, await _run(proposals, confirm, concurrency)


async def _run(items: Sequence[T], work: Callable[[T], Awaitable[None]], concurrency: int) -> float:
    """Seconds that `concurrency` workers need for all items."""
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await work(item)

    start = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return time.perf_counter() - start
