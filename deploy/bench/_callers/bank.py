"""Those who call: a customer a call, with accounts, cards, a bill, and everybody whom the dialogues name as a payee."""

from collections.abc import Iterable

from deploy.bench._callers.data import Dialogues
from rules.bank import DemoAccount, DemoBill, DemoCard, DemoCustomer, DemoLimits, DemoPayee

BILLER = "harbor-electric"


def payee_id(name: str) -> str:
    """A payee's id by name."""
    return "-".join(name.casefold().split())


def customer_id(number: int, *, changes: bool) -> str:
    """The customer of the n-th dialogue, and of the same with a change of mind in it."""
    return f"caller-{number}{'-changes' if changes else ''}"


def customers(dialogues: Dialogues, numbers: Iterable[int]) -> tuple[DemoCustomer, ...]:
    """A customer for each of these dialogues, and one for the same with a change of mind in it."""
    ids = (customer_id(number, changes=changes) for number in numbers for changes in (False, True))
    return tuple(_customer(own, dialogues.names) for own in ids)


def _customer(own: str, names: tuple[str, ...]) -> DemoCustomer:
    payees = [
        DemoPayee(id=payee_id(name), name=name, bank="Cedar Bank", last4=f"{1100 + n}", currency="USD")
        for n, name in enumerate(names)
    ]
    biller = DemoPayee(id=BILLER, name="Harbor Electric", bank="Harbor Federal", last4="8800", currency="USD")
    return DemoCustomer(
        id=f"bank.{own}",
        version=1,
        customer=own,
        name="Robin Caller",
        locale="en-US",
        zone="America/New_York",
        accounts=(
            DemoAccount(id=f"{own}-checking", name="checking", last4="4021", currency="USD", opening=1_240_000),
            DemoAccount(id=f"{own}-savings", name="savings", last4="7755", currency="USD", opening=1_850_000),
        ),
        cards=(
            DemoCard(id="debit", name="debit card", last4="1187"),
            DemoCard(id="credit", name="credit card", last4="9034"),
        ),
        payees=(*payees, biller),
        bills=(DemoBill(id="electricity", name="electricity", payee=BILLER, due=8437, currency="USD", due_in_days=9),),
        limits=(DemoLimits(currency="USD", per_transfer=500_000, per_day=1_000_000, step_up_above=100_000),),
        transactions=(),
    )
