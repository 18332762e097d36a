"""The one door through which money moves, wired: the ledger before its bank, and what proves a caller's will."""

from dataclasses import dataclass

from rules.act import money_policy
from services.banking.cards import BankCards
from services.banking.ledger import SqlLedger
from services.banking.promises import Promises
from services.banking.proposals import LedgerDeps
from services.banking.seal import Sealer
from services.banking.stepup import CodeSender, SecondFactor
from services.execution import Banking
from services.ports import Clock, CoreBank
from services.record.audit_spool import SpooledAudit
from services.store import Store


@dataclass(frozen=True, slots=True)
class Books:
    """What remembers what was done: the database, the log in front of the chain of records, promises to be kept."""

    store: Store
    audit: SpooledAudit
    promises: Promises


@dataclass(frozen=True, slots=True)
class MoneyServices:
    """What a call acts with, the ledger behind them, and what both are made of."""

    banking: Banking
    ledger: SqlLedger
    deps: LedgerDeps


def money_services(bank: CoreBank, books: Books, sender: CodeSender, keys: list[bytes], clock: Clock) -> MoneyServices:
    """The door to `bank`. The first of `keys` seals confirmations and codes; earlier ones still open theirs."""
    policy = money_policy()
    step_up = SecondFactor(books.store, sender, clock, policy, keys)
    deps = LedgerDeps(books.store, bank, step_up, Sealer(keys), clock, policy, books.promises, books.audit)
    ledger = SqlLedger(deps)
    return MoneyServices(Banking(bank, BankCards(bank, step_up), ledger, step_up, clock), ledger, deps)
