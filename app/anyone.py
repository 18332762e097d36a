"""Nobody in particular: the accounts, cards and bills that the text path supposes."""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile, load
from rules.locales import unsupported
from schemas.banking import Account, Bill, Card, CustomerProfile, Limits
from schemas.ids import AccountId, BillId, CardId, Locale, PayeeId
from schemas.money import Money


class Anyone(BaseModel):
    """What a caller of a locale is taken to have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    zone: str
    currency: str
    accounts: tuple[str, ...]
    cards: tuple[str, ...]
    bills: tuple[str, ...]
    balance: int
    limit: int


class AnyoneRules(RuleFile):
    """rules/qa/anyone.yaml."""

    locales: dict[str, Anyone]


def anyone(locale: Locale, as_of: datetime) -> CustomerProfile:
    """The profile of nobody in particular. Raises UnsupportedLocale."""
    known = load("qa/anyone.yaml", AnyoneRules).locales.get(locale)
    if known is None:
        raise unsupported()
    held = Money(known.balance, known.currency)
    due_on = (as_of + timedelta(days=7)).date()
    return CustomerProfile(
        name="",
        accounts=tuple(Account(AccountId(name), name, f"000{n}", held, held) for n, name in enumerate(known.accounts)),
        cards=tuple(Card(CardId(name), name, f"100{n}", locked=False) for n, name in enumerate(known.cards)),
        bills=tuple(
            Bill(BillId(name), name, PayeeId(f"@{name}"), Money(known.limit // 1000, known.currency), due_on)
            for name in known.bills
        ),
        limits=(Limits(known.currency, known.limit, known.limit, known.limit),),
        as_of=as_of,
        zone=known.zone,
    )


def billers(locale: Locale) -> tuple[tuple[PayeeId, str], ...]:
    """The payees behind the supposed bills: id and name."""
    known = load("qa/anyone.yaml", AnyoneRules).locales.get(locale)
    return tuple((PayeeId(f"@{name}"), name) for name in known.bills) if known else ()
