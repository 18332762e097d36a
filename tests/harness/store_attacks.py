"""Attempts by way of the database, which goes away before a write, within it, or when it is done and can't say so."""

from collections.abc import Callable

from schemas.banking import TransferState
from schemas.errors import NotCarriedOut, StoreUnavailable, TellerlineError
from services.store import Store
from tests.harness.attack_tools import a_house, refused, say_yes, unmoved
from tests.harness.invariants import always, at_rest
from tests.harness.money import ANN, BALANCE, CHECKING, held, order, settle
from tests.harness.silence import Silence


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
    await refused(say_yes(house, proposal), NotCarriedOut)
    store.probe = lambda _: None
    await refused(say_yes(house, proposal))
    await settle(house)
    await unmoved(store)


async def a_yes_whose_fate_nobody_knows(store: Store) -> None:
    """The database falls silent and forgets it: the customer, told that it is looked after, is owed the end of it."""
    house = await a_house(store)
    silence = Silence()
    silence.over(store)
    proposal = await house.proposed(order(1_000))
    silence.writes, silence.only = 99, {"ledger.confirm", "ledger.take_back"}
    receipt = await say_yes(house, proposal)
    assert receipt.state is TransferState.UNKNOWN
    silence.writes = 0
    await house.reconciler.run_once()
    owed = {item.receipt.proposal: item for item in await house.ledger.owed(ANN)}
    assert proposal.id in owed, "a promise without an end"
    assert owed[proposal.id].ended
    await refused(say_yes(house, proposal))
    await house.ledger.told(ANN, owed[proposal.id].receipt)
    assert not await house.ledger.owed(ANN), "told again"
    await unmoved(store)
    await at_rest(store)


async def a_clock_that_is_set_back(store: Store) -> None:
    """A proposal's time runs out all the same; one that was made "later" than now never lives."""
    house = await a_house(store)
    clock = house.clock
    monotonic = {"at": 0.0}
    clock.monotonic = lambda: monotonic["at"]  # type: ignore[method-assign]
    for seconds, back in ((121.0, 60.0), (125.0, 125.0), (1.0, 3600.0), (500.0, 450.0), (0.0, 86_400.0 * 3650)):
        proposal = await house.proposed(order(1_000))
        clock.advance(seconds)
        monotonic["at"] += seconds
        clock.advance(-back)
        await refused(say_yes(house, proposal))
        assert await house.ledger.open_proposal(ANN) is None, "it would be offered again"
        await house.reconciler.run_once()
        clock.advance(back)
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
        except TellerlineError as error:
            raise AssertionError("said to have failed, yet it was spent") from error
        finally:
            store.probe = lambda _: None
        assert receipt.state is TransferState.UNKNOWN, f"said {receipt.state}"
        await always(store)
        await settle(house, 2)
        assert (await house.ledger.receipt(ANN, proposal.id)).state is TransferState.SUCCEEDED, "a promise was lost"
        assert (await held(store))[CHECKING] == BALANCE - 1_000 * (number + 1), "moved twice, or never"
    await at_rest(store)
