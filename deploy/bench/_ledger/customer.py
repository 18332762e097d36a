"""A customer of benchmarks that move money: no limit is in the way, and there is one payee."""

from rules.bank import DemoAccount, DemoCustomer, DemoLimits, DemoPayee

RICH = 10**11
"""Minor units that are enough for every transfer of a benchmark."""


def bench_customer(own: str, payee: DemoPayee) -> DemoCustomer:
    """A customer of this name, whose one account is called after it."""
    return DemoCustomer(
        id="bench",
        version=1,
        customer=own,
        name="Bench",
        locale="en-US",
        zone="UTC",
        accounts=(DemoAccount(id=f"{own}-main", name="checking", last4="0000", currency="USD", opening=RICH),),
        cards=(),
        payees=(payee,),
        bills=(),
        limits=(DemoLimits(currency="USD", per_transfer=10**6, per_day=RICH, step_up_above=10**6),),
        transactions=(),
    )
