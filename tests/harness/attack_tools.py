"""What attempts on the one door have in common."""

from collections import deque
from collections.abc import Awaitable

from schemas.errors import MoneyRefused, NotFound, TellerlineError
from schemas.ids import CallId
from schemas.transfer import Proposal, TransferReceipt
from services.banking.banks.sandbox import SandboxBank
from services.store import Store
from tests.fakes.bank import UnreliableBank
from tests.harness.invariants import always
from tests.harness.money import ANN, BALANCE, CHECKING, House, RunClock, build, held, open_bank


async def an_unreliable_house(store: Store, *faults: str, **policy: object) -> tuple[House, UnreliableBank]:
    await open_bank(store)
    clock = RunClock()
    bank = UnreliableBank(SandboxBank(store, clock), deque(faults))
    return build(store, clock, bank, **policy), bank


async def a_house(store: Store, **policy: object) -> House:
    return (await an_unreliable_house(store, **policy))[0]


async def refused(attempt: Awaitable[object], *kinds: type[TellerlineError]) -> None:
    expected = kinds or (MoneyRefused, NotFound)
    try:
        outcome = await attempt
    except expected:
        return
    raise AssertionError(f"not refused: {outcome}")


async def unmoved(store: Store) -> None:
    await always(store)
    assert (await held(store))[CHECKING] == BALANCE, "money moved"


async def say_yes(house: House, proposal: Proposal, **changes: str) -> TransferReceipt:
    call, seal = changes.get("call", proposal.call), changes.get("seal", proposal.seal)
    return await house.ledger.confirm(ANN, CallId(call), proposal.id, seal)
