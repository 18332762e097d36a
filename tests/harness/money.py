"""A small bank of two customers, alike but for their names, and a ledger over it; tests turn its clock by hand."""

import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import sqlalchemy as sa

from rules.act import MoneyPolicy, money_policy
from schemas.banking import TransferOrder
from schemas.ids import AccountId, BillId, CallId, CardId, CustomerId, PayeeId
from schemas.money import Money
from schemas.stepup import Challenge, CodeNotSent
from schemas.transfer import Proposal
from services.banking.banks import tables as t
from services.banking.banks.sandbox import SandboxBank
from services.banking.ledger import SqlLedger
from services.banking.outbox import Outbox
from services.banking.promises import Promises
from services.banking.proposals import LedgerDeps
from services.banking.reconcile import Reconciler
from services.banking.seal import Sealer
from services.banking.stepup import SecondFactor
from services.banking.tables import spending, transfers
from services.ports import CoreBank
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.audit_spool import SpooledAudit
from services.record.chain import ChainHead
from services.record.spool import left_behind, own
from services.store import Store
from services.timing.clock import ManualClock
from tests.harness.rows import rows, tamper

START = datetime(2026, 3, 4, 15, 0, tzinfo=UTC)
ANN, BOB = CustomerId("ann"), CustomerId("bob")
CALL, OTHER_CALL = CallId("call-1"), CallId("call-2")
CHECKING, SAVINGS = AccountId("ann-checking"), AccountId("ann-savings")
CARD, BILL = CardId("ann-card"), BillId("ann-power")
KIM, NEW, STRANGE, SILENT, POWER = (PayeeId(p) for p in ("kim", "new", "strange", "silent", "power"))
HOLDERS = {"kim": "Kim Reed", "new": "Kim Reed", "strange": "Somebody Else", "silent": None, "power": "Kim Reed"}
PER_TRANSFER, PER_DAY, STEP_UP_ABOVE = 50_000, 80_000, 30_000
BALANCE, DUE = 100_000, 8_000
_SPOOLS = TemporaryDirectory(prefix="tellerline-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


class RunClock(ManualClock):
    """A manual clock whose identifiers differ from those of every other run of the process."""

    runs = 0

    def __init__(self, start: datetime = START) -> None:
        super().__init__(start)
        RunClock.runs += 1
        self._run = f"{os.getpid()}-{RunClock.runs}"

    def new_id(self) -> str:
        return f"{self._run}-{super().new_id()}"


@dataclass
class FakeSender:
    """Keeps the codes it was given to send, by challenge."""

    channel: str = "the app"
    codes: dict[str, str] = field(default_factory=dict)
    fails: CodeNotSent | None = None

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:
        if self.fails is not None:
            raise self.fails
        self.codes[challenge.id] = code


class LastHead:
    """Takes heads, and keeps the newest."""

    head: ChainHead | None = None

    def publish(self, head: ChainHead, at: datetime) -> None:
        self.head = head


def _rows(customer: CustomerId) -> list[tuple[sa.Table, list[dict[str, Any]]]]:
    names = ("checking", "savings")
    usd = {"currency": "USD"}
    account = usd | {"last4": "4000", "balance_minor": BALANCE}
    payee = {"name": "Kim Reed", "kana": "", "aliases": [], "relationship": "", "bank": "Cedar", "version": 1}
    bill = {"position": 0, "name": "power", "payee_id": "power", "due_minor": DUE, "minimum_minor": 500}
    limits = {"per_transfer": PER_TRANSFER, "per_day": PER_DAY, "step_up_above": STEP_UP_ABOVE}
    opening = usd | {"booked_on": "2026-01-01", "merchant": "opening balance"}
    own: list[tuple[sa.Table, list[dict[str, Any]]]] = [
        (t.accounts, [account | {"id": f"{customer}-{n}", "position": p, "name": n} for p, n in enumerate(names)]),
        (t.cards, [{"id": f"{customer}-card", "position": 0, "name": "debit", "last4": "1187", "locked": False}]),
        (
            t.payees,
            [
                payee
                | usd
                | {"id": key, "account_last4": "1234", "is_new": key == "new", "holder": holder}
                | {"route": f"900/ext-{key}"}
                for key, holder in HOLDERS.items()
            ],
        ),
        (t.bills, [bill | usd | {"id": f"{customer}-power", "due_on": "2026-03-20"}]),
        (t.limits, [limits | usd]),
    ]
    entries = [
        opening | {"posting_id": f"open-{customer}-{n}", "account_id": account_id, "amount_minor": sign * BALANCE}
        for n in names
        for account_id, sign in ((f"{customer}-{n}", 1), ("@equity.USD", -1))
    ]
    head = {"id": customer, "name": customer.title(), "locale": "en-US", "zone": "America/New_York"}
    head["route"] = f"client-{customer}"
    scoped = [(table, [{"customer_id": customer} | row for row in rows]) for table, rows in own]
    return [(t.customers, [head]), *scoped, (t.entries, entries)]


async def open_bank(store: Store) -> None:
    """Put both customers into the sandbox's tables."""
    filled = [full for customer in (ANN, BOB) for full in _rows(customer)]
    await tamper(store, *(sa.insert(table).values(lines) for table, lines in filled))


@dataclass
class House:
    """A ledger and all it stands on."""

    store: Store
    clock: ManualClock
    sender: FakeSender
    step_up: SecondFactor
    bank: CoreBank
    ledger: SqlLedger
    reconciler: Reconciler
    outbox: Outbox
    policy: MoneyPolicy
    audit: SpooledAudit
    promises: Promises

    def let_go(self) -> None:
        """Of the spools, as a process that ends does."""
        self.promises.close()
        self.audit.release()

    async def proposed(self, wanted: TransferOrder, call: CallId = CALL, customer: CustomerId = ANN) -> Proposal:
        """A proposal whose read-back was heard."""
        proposal = await self.ledger.propose(customer, call, wanted)
        await self.ledger.delivered(customer, call, proposal.id)
        return proposal


def build(
    store: Store,
    clock: ManualClock | None = None,
    bank: CoreBank | None = None,
    folder: Path | None = None,
    **policy: object,
) -> House:
    """Assemble a house, its spools in `folder`; `policy` overrides figures of the money policy."""
    clock = clock or RunClock()
    figures = money_policy().model_copy(update=policy)
    bank = bank or SandboxBank(store, clock)
    sender = FakeSender()
    step_up = SecondFactor(store, sender, clock, figures, [b"k" * 32])
    folder = folder or Path(mkdtemp(prefix="spools-", dir=_SPOOLS.name))
    chain = ChainedAudit(store, AuditKeys(b"a" * 32), LastHead())
    audit = SpooledAudit(chain, clock, own(folder, "audit", b"p" * 32, 1 << 20))
    left = left_behind(folder, "promises", b"p" * 32, 1 << 16)
    promises = Promises(store, clock, own(folder, "promises", b"p" * 32, 1 << 16), left)
    deps = LedgerDeps(store, bank, step_up, Sealer([b"s" * 32]), clock, figures, promises, audit)
    outbox = Outbox(chain, clock)
    return House(
        store, clock, sender, step_up, bank, SqlLedger(deps), Reconciler(deps), outbox, figures, audit, promises
    )


def order(minor: int = 5_000, payee: PayeeId = KIM, **changes: Any) -> TransferOrder:
    """Fifty dollars from Ann's checking to Kim, or what `changes` make of it."""
    return replace(TransferOrder(CHECKING, payee, 1, Money(minor, "USD")), **changes)


async def settle(house: House, passes: int = 8) -> None:
    """Let the reconciler and the outbox work, an hour of waiting between their passes."""
    for _ in range(passes):
        house.clock.advance(3600)
        await house.reconciler.run_once()
        await house.outbox.drain()
        await house.audit.drain()


async def held(store: Store) -> dict[str, int]:
    """Every customer account's balance in minor units."""
    found = await rows(store, sa.select(t.accounts.c.id, t.accounts.c.balance_minor))
    return {row.id: row.balance_minor for row in found}


async def states(store: Store) -> dict[str, str]:
    """Every transfer's state by id."""
    return {row.id: row.state for row in await rows(store, sa.select(transfers.c.id, transfers.c.state))}


async def spent(store: Store) -> int:
    """What all customers' confirmed transfers come to."""
    ((total,),) = await rows(store, sa.select(sa.func.coalesce(sa.func.sum(spending.c.spent_minor), 0)))
    return int(total)


async def change(store: Store, table: sa.Table, **values: object) -> None:
    """Write into every row of a table, behind everybody's back."""
    await tamper(store, sa.update(table).values(**values))
