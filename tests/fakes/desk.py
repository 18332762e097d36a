"""A desk that only pretends: bank and ledger of a conversation that is played as data."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from rules.bank import DemoCustomer, demo_customers
from schemas.banking import (
    Account,
    Bill,
    Card,
    CustomerProfile,
    Limits,
    PayeeVerification,
    Transaction,
    TransactionFilter,
    TransferOrder,
    TransferState,
)
from schemas.decision import (
    Action,
    LockCard,
    ReadTransactions,
    SubmitTransfer,
    UnlockCard,
    VerifyStepUp,
)
from schemas.errors import TellerlineError
from schemas.ids import AccountId, BillId, CallId, CardId, CustomerId, PayeeId, ProposalId
from schemas.money import Money
from schemas.payee import Payee
from schemas.stepup import Challenge
from schemas.transfer import Proposal, TransferReceipt
from services.dialogue import (
    ActionDone,
    ActionFailed,
    Event,
    Proposed,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
)

NOW: Final = datetime.fromisoformat("2026-11-18T10:00:00")
"""The caller's own moment in every conversation: a Wednesday."""
CODE: Final = "482913"
"""The one-time code that the desk takes."""


class FakeDesk:
    """Bank and ledger of one call, in memory: nothing moves without a read-back that was delivered."""

    def __init__(self, customer: DemoCustomer) -> None:
        self.accounts = _accounts(customer)
        self.cards = tuple(Card(CardId(c.id), c.name, c.last4, c.locked) for c in customer.cards)
        self.payees = {PayeeId(p.id): _payee(p) for p in customer.payees}
        today = NOW.date()
        self.bills = tuple(
            Bill(
                BillId(b.id),
                b.name,
                PayeeId(b.payee),
                Money(b.due, b.currency),
                today + timedelta(days=b.due_in_days),
                Money(b.minimum, b.currency) if b.minimum else None,
            )
            for b in customer.bills
        )
        self.transactions = tuple(
            Transaction(
                str(n),
                AccountId(t.account),
                today - timedelta(days=t.days_ago),
                Money(t.amount, customer.accounts[0].currency),
                t.merchant,
            )
            for n, t in enumerate(sorted(customer.transactions, key=lambda t: t.days_ago))
        )
        self.limits = tuple(
            Limits(li.currency, li.per_transfer, li.per_day, li.step_up_above) for li in customer.limits
        )
        self.open: Proposal | None = None
        self.delivered = False
        self.passed = False
        self.moved: list[TransferOrder] = []
        self._made = 0

    @classmethod
    def of(cls, customer: str) -> "FakeDesk":
        """The desk of a demo customer by id. Raises StopIteration for an unknown one."""
        return cls(next(c for c in demo_customers() if c.customer == customer))

    def profile(self, customer: DemoCustomer) -> CustomerProfile:
        """The caller's own things as of now."""
        return CustomerProfile(
            customer.name, self.accounts, self.cards, self.bills, self.limits, NOW, zone=customer.zone
        )

    def propose(self, order: TransferOrder, verification: PayeeVerification, step_up: bool) -> Event:
        """Seal an order; the one before is void."""
        self._made += 1
        step_up = step_up or any(
            li.currency == order.amount.currency and order.amount.minor > li.step_up_above for li in self.limits
        )
        self.open = Proposal(
            ProposalId(f"proposal-{self._made}"),
            CustomerId("caller"),
            CallId("call"),
            order,
            f"nonce-{self._made}",
            "seal",
            NOW + timedelta(minutes=2),
            verification,
            step_up,
        )
        self.delivered = False
        return Proposed(self.open)

    def perform(self, action: Action, outcome: TransferState) -> Event:
        """Carry out an action."""
        match action:
            case SubmitTransfer(proposal):
                return self._submit(proposal, outcome)
            case VerifyStepUp(response):
                self.passed = response == CODE
                return StepUpPassed() if self.passed else StepUpFailed()
            case UnlockCard(card) if not self.passed:
                return StepUpStarted(Challenge("1", card, "app", NOW))
            case LockCard(card) | UnlockCard(card):
                locked = isinstance(action, LockCard)
                self.cards = tuple(replace(c, locked=locked) if c.id == card else c for c in self.cards)
                return ActionDone(action, card=next(c for c in self.cards if c.id == card))
            case ReadTransactions(wanted):
                return ActionDone(action, transactions=self._history(wanted))
            case _:
                return ActionDone(action, accounts=self.accounts)

    def _history(self, wanted: TransactionFilter) -> tuple[Transaction, ...]:
        names = {payee.name for payee in self.payees.values()}
        return tuple(moved for moved in self.transactions if wanted.fits(moved, names))[: wanted.limit]

    def _submit(self, proposal: ProposalId, outcome: TransferState) -> Event:
        if self.open is None or self.open.id != proposal:
            return failed("confirmation_used")
        if not self.delivered:
            return failed("not_delivered")
        if self.open.step_up_required and not self.passed:
            return StepUpStarted(Challenge("1", proposal, "app", NOW))
        if outcome is not TransferState.FAILED:
            self.moved.append(self.open.order)
            self.accounts = tuple(_after(account, self.open.order) for account in self.accounts)
            later = (self.open.order.on or NOW.date()) > NOW.date()
            if later and outcome is TransferState.SUCCEEDED:
                outcome = TransferState.CONFIRMED
        self.open = None
        return TransferSettled(TransferReceipt(proposal, outcome, reference="R1"))


def _after(account: Account, order: TransferOrder) -> Account:
    """The account when an order that goes out today has gone out."""
    by = order.amount.minor * ((order.to_account == account.id) - (order.source == account.id))
    if not by or (order.on is not None and order.on > NOW.date()):
        return account
    held = replace(account.balance, minor=account.balance.minor + by)
    return replace(account, balance=held, available=held)


def failed(code: str, action: Action | None = None) -> ActionFailed:
    """The error of the tree with this code, in which an action ended, as the dialogue hears of it."""
    rest: list[type[TellerlineError]] = [TellerlineError]
    while rest:
        error = rest.pop()
        if error.code == code:
            return ActionFailed(code, error.spoken, action)
        rest.extend(error.__subclasses__())
    raise ValueError(f"no error {code}")


def _accounts(customer: DemoCustomer) -> tuple[Account, ...]:
    made = []
    for account in customer.accounts:
        held = account.opening + sum(t.amount for t in customer.transactions if t.account == account.id)
        money = Money(held, account.currency)
        made.append(Account(AccountId(account.id), account.name, account.last4, money, money))
    return tuple(made)


def _payee(row: Any) -> Payee:
    paid = NOW.date() - timedelta(days=row.last_paid_days_ago) if row.last_paid_days_ago is not None else None
    return Payee(
        PayeeId(row.id),
        row.name,
        row.kana,
        tuple(row.aliases),
        row.relationship,
        row.bank,
        row.last4,
        row.currency,
        row.version,
        paid,
        row.is_new,
    )
