"""What Fineract's answers mean: read strictly, since each of them stands for somebody's money."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

import httpx

from schemas.banking import Account, BankOutcome, BankReceipt, Transaction
from schemas.errors import BankGarbage, BankUnavailable, InFlight
from schemas.ids import AccountId
from schemas.money import EXPONENTS, MAX_MINOR, Money

Json = dict[str, Any]

_SAVINGS_DEPOSIT: Final = 100
"""Fineract's code for the deposit of a plain savings account."""
_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_DECLINES: Final = {
    "error.msg.savingsaccount.transaction.insufficient.account.balance": "insufficient_funds",
    "error.msg.savingsaccount.transaction.insufficient.account.balance.withdraw": "insufficient_funds",
    "error.msg.savings.account.debit.transaction.not.allowed": "account_blocked",
    "error.msg.saving.account.blocked.transaction.not.allowed": "account_blocked",
}
_SIGNS: Final = (
    dict.fromkeys(("deposit", "interestPosting", "dividendPayout"), 1)
    | dict.fromkeys(
        ("withdrawal", "withdrawalFee", "annualFee", "payCharge", "overdraftInterest", "withholdTax"), -1,
    )
    | dict.fromkeys(
        ("waiveCharge", "accrual", "initiateTransfer", "approveTransfer", "withdrawTransfer", "rejectTransfer",
         "writtenoff", "escheat", "onHold", "release"), 0,
    )
)  # fmt: skip
"""All kinds of savings transactions that Fineract has, and what each does to the balance."""


def receipt_of(key: str, status: int, text: bytes) -> BankReceipt:
    """What an answer to a transfer means. Only a body that says so is a yes, only a domain error a no.

    A transfer's reference is its key: the id that Fineract answers is another than the one it later lists it under.
    Raises InFlight, BankGarbage, BankUnavailable.
    """
    if status in {httpx.codes.CONFLICT, httpx.codes.TOO_EARLY}:
        raise InFlight
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status in {401, 404, 408, 429}:
        raise BankUnavailable(f"the bank answered {status}")
    body = body_of(text)
    if status == httpx.codes.OK:
        number = body.get("resourceId")
        if isinstance(number, bool) or not _NUMBER.fullmatch(str(number)):
            raise BankGarbage("a transfer without an id")
        return BankReceipt(BankOutcome.DONE, key)
    errors = body.get("errors")
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    code = first.get("userMessageGlobalisationCode") or body.get("userMessageGlobalisationCode")
    if status not in {400, 403} or not isinstance(code, str):
        raise BankGarbage(f"the bank answered {status} without a reason")
    return BankReceipt(BankOutcome.DECLINED, reason=_DECLINES.get(code, "declined"))


def body_of(text: bytes) -> Json:
    """An answer's JSON object, its decimals exact. Raises BankGarbage."""
    try:
        body = json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise BankGarbage("an answer that is no JSON") from error
    if not isinstance(body, dict):
        raise BankGarbage("an answer that is no object")
    return body


def rows_of(body: Json, name: str) -> Sequence[Json]:
    """The objects of a list in an answer; none where it has no such list. Raises BankGarbage."""
    rows = body.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BankGarbage(f"malformed {name}")
    return rows


def current(row: Json) -> bool:
    """Whether an account is active, and a plain savings account: deposits for a term stand in the same list."""
    status, kind = row.get("status"), row.get("depositType")
    term = isinstance(kind, dict) and kind.get("id") != _SAVINGS_DEPOSIT
    return isinstance(status, dict) and status.get("active") is True and not term


def account_of(row: Json) -> Account:
    """An account with its balance, which Fineract leaves out where there is none. Raises BankGarbage."""
    try:
        balance, number = _money(row.get("accountBalance", 0), row["currency"]["code"]), str(row["accountNo"])
        return Account(AccountId(str(row["id"])), str(row["productName"])[:100], number[-4:], balance, balance)
    except (KeyError, TypeError) as error:
        raise BankGarbage("a malformed account") from error


def day_of(row: Json) -> date:
    """The day of a transaction. Raises BankGarbage."""
    try:
        return date(*row["date"])
    except (KeyError, TypeError, ValueError) as error:
        raise BankGarbage("a malformed day") from error


def booked(row: Json) -> bool:
    """Whether a transaction counts: neither was it taken back, nor does it take another back."""
    return not row.get("reversed") and not row.get("isReversal")


def sent_under(row: Json) -> str:
    """The key of the transfer that a transaction belongs to; "" where it is none that has one."""
    transfer = row.get("transfer")
    described = transfer.get("transferDescription") if isinstance(transfer, dict) else None
    return described if isinstance(described, str) else ""


def transaction_of(account: AccountId, row: Json, names: Mapping[str, str]) -> Transaction | None:
    """A booked transaction, negative where money left; none where no money moved. Raises BankGarbage.

    `names` are those of who was paid, by key: of a transfer's other side Fineract lists nothing.
    """
    try:
        kind, amount = row["transactionType"], _money(row["amount"], row["currency"]["code"])
        sign = _SIGNS[kind["code"].removeprefix("savingsAccountTransactionType.")]
        if not sign or not booked(row):
            return None
        note = str(names.get(sent_under(row)) or row.get("note") or kind.get("value") or "")
        moved = Money(sign * amount.minor, amount.currency)
        return Transaction(str(int(row["id"])), account, day_of(row), moved, note[:200])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BankGarbage("a malformed transaction") from error


def _money(value: object, currency: object) -> Money:
    """An amount in major units as Money. Raises BankGarbage where it has too many digits or is no number."""
    if not isinstance(currency, str) or currency not in EXPONENTS or isinstance(value, bool):
        raise BankGarbage("an amount in no currency we know")
    try:
        minor = Decimal(str(value)).scaleb(EXPONENTS[currency])
    except ArithmeticError as error:  # no number, or one past all exponents
        raise BankGarbage("an amount that is no number") from error
    if not minor.is_finite() or minor != minor.to_integral_value() or abs(minor) > MAX_MINOR:
        raise BankGarbage("an amount that is not whole")
    return Money(int(minor), currency)


def major_units(money: Money) -> Decimal:
    """An amount as Fineract is sent it."""
    return Decimal(money.minor).scaleb(-EXPONENTS[money.currency])
