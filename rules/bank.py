"""The demo bank's customers: plainly fictional people, with dates relative to the day the data is loaded."""

from collections.abc import Iterable
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rules.load import ROOT, RuleFile, load
from schemas.money import EXPONENTS

Text = Annotated[str, Field(min_length=1, max_length=100)]
Key = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
Last4 = Annotated[str, Field(pattern=r"^\d{4}$")]
Minor = Annotated[int, Field(ge=0, le=10**12)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DemoAccount(_Row):
    """An account with its opening balance in minor units."""

    id: Key
    name: Text
    last4: Last4
    currency: Currency
    opening: Minor


class DemoCard(_Row):
    """A card."""

    id: Key
    name: Text
    last4: Last4
    locked: bool = False


class DemoPayee(_Row):
    """A payee. `holder` is whom the payee's bank names: the payee's own name unless given, null where it is silent."""

    id: Key
    name: Text
    kana: str = Field(default="", max_length=100)
    aliases: tuple[Text, ...] = Field(default=(), max_length=8)
    relationship: str = Field(default="", max_length=40)
    bank: Text
    last4: Last4
    currency: Currency
    version: int = Field(default=1, ge=1)
    last_paid_days_ago: int | None = Field(default=None, ge=0, le=3650)
    is_new: bool = False
    holder: str | None = ""


class DemoBill(_Row):
    """An open bill, due in so many days, paid to a payee."""

    id: Key
    name: Text
    payee: Key
    due: Annotated[int, Field(gt=0)]
    minimum: Annotated[int, Field(gt=0)] | None = None
    currency: Currency
    due_in_days: int = Field(ge=0, le=60)


class DemoTransaction(_Row):
    """A booked movement so many days ago; negative amounts left the account."""

    account: Key
    days_ago: int = Field(ge=0, le=400)
    amount: int
    merchant: Text


class DemoLimits(_Row):
    """Limits of a currency, in minor units."""

    currency: Currency
    per_transfer: Minor
    per_day: Minor
    step_up_above: Minor


class DemoCustomer(RuleFile):
    """A customer of the demo bank with all that is theirs; `opening` balances are those before `transactions`."""

    customer: Key
    name: Text
    locale: str
    zone: str
    accounts: tuple[DemoAccount, ...] = Field(min_length=1, max_length=10)
    cards: tuple[DemoCard, ...] = Field(max_length=10)
    payees: tuple[DemoPayee, ...] = Field(max_length=200)
    bills: tuple[DemoBill, ...] = Field(max_length=20)
    limits: tuple[DemoLimits, ...] = Field(min_length=1, max_length=5)
    transactions: tuple[DemoTransaction, ...] = Field(max_length=500)

    @model_validator(mode="after")
    def _refers_only_to_itself(self) -> "DemoCustomer":
        ZoneInfo(self.zone)
        owned = {account.id: account.opening for account in self.accounts}
        for row in sorted(self.transactions, key=lambda row: -row.days_ago):
            owned[row.account] += row.amount
            if owned[row.account] < 0:
                raise ValueError(f"{row.account} is overdrawn {row.days_ago} days ago")
        for ids in (self.accounts, self.cards, self.payees, self.bills):
            _unique(row.id for row in ids)
        known = {payee.id for payee in self.payees}
        if strangers := [bill.id for bill in self.bills if bill.payee not in known]:
            raise ValueError(f"bills of unknown payees: {strangers}")
        named = [{row.currency for row in rows} for rows in (self.accounts, self.payees, self.bills, self.limits)]
        if unknown := set[str]().union(*named) - set(EXPONENTS):
            raise ValueError(f"unknown currencies {unknown}")
        return self


def _unique(ids: Iterable[str]) -> None:
    seen = list(ids)
    if len(seen) != len(set(seen)):
        raise ValueError("an id is used twice")


def demo_customers() -> tuple[DemoCustomer, ...]:
    """Every demo customer, by file name. Raises RulesInvalid."""
    names = sorted(path.name for path in (ROOT / "demo" / "bank").glob("*.yaml"))
    return tuple(load(f"demo/bank/{name}", DemoCustomer) for name in names)


def usual_customer(locale: str) -> str | None:
    """Who calls in a locale where nobody is named: the first demo customer who speaks it. Raises RulesInvalid."""
    return next((found.customer for found in demo_customers() if found.locale == locale), None)
