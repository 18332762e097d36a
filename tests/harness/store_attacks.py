"""Attempts by way of the database, which goes away before a write, within it, or when it is done and can't say so."""

from collections.abc import Callable

from schemas.banking import TransferState
from schemas.errors import StoreUnavailable
from services.store import Store
from tests.harness.attack_tools import a_house, refused, say_yes, unmoved
from tests.harness.invariants import always, at_rest
from tests.harness.money import ANN, BALANCE, CHECKING, held, order, settle


def failing_at(*points: str) -> Callable[[str], None]:
    """A probe by which the database is gone at these points."""

    def fail(passed: str) -> None:
        if passed in points:
            raise OSError

    return fail


async def an_outage_while_putting_on_record(store: Store) -> None:
    """Before the write, within it, and after it, when it is durable and nobody was told."""
    house = await a_house(store)
    for point in ("begin", "written", "committed"):
        await say_yes(house, await house.proposed(order(1_000)))
        store.probe = failing_at(f"audit.transfers:{point}")
        await refused(house.outbox.drain(), StoreUnavailable)
        store.probe = lambda _: None
        await house.outbox.drain()
        await at_rest(store)


async def an_outage_before_a_yes_is_spent(store: Store) -> None:
    """The caller is told that nothing moved, so nothing may: neither now nor by a yes that comes again."""
    house = await a_house(store)
    proposal = await house.proposed(order())
    store.probe = failing_at("ledger.confirm:begin")
    await refused(say_yes(house, proposal), StoreUnavailable)
    store.probe = lambda _: None
    await refused(say_yes(house, proposal))
    await settle(house)
    await unmoved(store)


async def an_outage_after_a_yes_was_spent(store: Store) -> None:
    """The yes is durable and nobody was told: said to have failed, it would move the money behind the caller's back."""
    house = await a_house(store)
    for number, gone in enumerate(
        (("ledger.confirm:committed",), ("ledger.confirm:committed", "ledger.take_back:begin"))
    ):
        proposal = await house.proposed(order(1_000))
        store.probe = failing_at(*gone)
        try:
            receipt = await say_yes(house, proposal)
        except StoreUnavailable as error:
            raise AssertionError("said to have failed, yet it was spent") from error
        finally:
            store.probe = lambda _: None
        assert receipt.state is TransferState.UNKNOWN, f"said {receipt.state}"
        await always(store)
        await settle(house, 2)
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED, "a promise was lost"
        assert (await held(store))[CHECKING] == BALANCE - 1_000 * (number + 1), "moved twice, or never"
    await at_rest(store)
