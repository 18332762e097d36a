"""Stop the process at every named point: before and after every write and every call to the bank. Then restart.

Each scenario runs in a forked child that ends without warning at the point; the parent restarts over the same database,
lets reconciler and outbox work, and looks: no double movement, no lost promise, constant balances, and of every
transfer that settled exactly one record of its settling.
"""

import asyncio
import gc
import os
import traceback
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from tempfile import mkdtemp

import orjson
import pytest
import sqlalchemy as sa

from schemas.audit import AuditRecord
from schemas.banking import TransferState
from schemas.errors import NotCarriedOut, StepUpRequired, StoreUnavailable
from schemas.ids import CallId, ProposalId
from schemas.stepup import proposal_purpose
from services.banking.banks.sandbox import SandboxBank
from services.record.tables import records
from services.store import Store
from tests.fakes.bank import UnreliableBank
from tests.harness.invariants import at_rest
from tests.harness.money import (
    ANN,
    BILL,
    CALL,
    DUE,
    OTHER_CALL,
    POWER,
    STEP_UP_ABOVE,
    House,
    RunClock,
    build,
    open_bank,
    order,
    settle,
    states,
)  # fmt: skip
from tests.harness.mutants import FAULTS, planted
from tests.harness.rows import rows
from tests.harness.silence import Silence
from tests.harness.stores import emptied, new_sqlite

KILLED, LATE = 9, 8
TRIES = 5
Chosen = Callable[[int, str], bool]
"""Whether to kill at the n-th point, of this name."""
Scenario = Callable[[House, UnreliableBank], Awaitable[None]]


async def confirmed(house: House, wanted: object, call: CallId = CALL) -> ProposalId:
    proposal = await house.proposed(wanted, call)  # type: ignore[arg-type] # an order
    await house.ledger.confirm(ANN, call, proposal.id, proposal.seal)
    return proposal.id


async def a_transfer(house: House, _: UnreliableBank) -> None:
    await confirmed(house, order())


async def a_bill(house: House, _: UnreliableBank) -> None:
    await confirmed(house, order(DUE, POWER, bill_id=BILL))


async def a_correction_and_a_resumed_call(house: House, _: UnreliableBank) -> None:
    await house.proposed(order())
    await house.proposed(order(6_000))
    fresh = await house.ledger.resume(ANN, OTHER_CALL)
    assert fresh is not None
    await house.ledger.delivered(ANN, OTHER_CALL, fresh.id)
    await house.ledger.confirm(ANN, OTHER_CALL, fresh.id, fresh.seal)


async def a_second_factor(house: House, _: UnreliableBank) -> None:
    proposal = await house.proposed(order(STEP_UP_ABOVE + 1))
    with pytest.raises(StepUpRequired):
        await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    challenge = await house.step_up.begin(ANN, proposal_purpose(proposal.id))
    await house.step_up.verify(ANN, challenge, house.sender.codes[challenge.id])
    await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)


async def a_later_day(house: House, _: UnreliableBank) -> None:
    await confirmed(house, order(on=date(2026, 3, 5)))
    await house.outbox.drain()
    house.clock.advance(15 * 3600)
    await house.reconciler.run_once()


async def an_answer_lost(house: House, bank: UnreliableBank) -> None:
    bank.line = deque(["lost_answer"])
    await confirmed(house, order())
    await settle(house, 2)


async def a_request_lost(house: House, bank: UnreliableBank) -> None:
    bank.line = deque(["lost_request", "ok", "lost_answer", "pending"])
    await confirmed(house, order())
    await settle(house, 4)


async def silence(house: House, *, done: bool) -> None:
    """The database says nothing of a yes; when it speaks again, what was said of it is made true."""
    proposal = await house.proposed(order())
    silence = Silence(99, done, {"ledger.confirm", "ledger.take_back"})
    silence.over(house.store)
    receipt = await house.ledger.confirm(ANN, CALL, proposal.id, proposal.seal)
    assert receipt.state is TransferState.UNKNOWN
    house.store.probe(PROMISED)
    silence.writes = 0
    await settle(house, 2)


async def a_yes_nobody_knows_of(house: House, _: UnreliableBank) -> None:
    await silence(house, done=False)


async def a_yes_whose_answer_never_came(house: House, _: UnreliableBank) -> None:
    await silence(house, done=True)


async def records_that_wait(house: House, _: UnreliableBank) -> None:
    """A turn is put on record while the database says nothing; then what waits follows."""
    silence = Silence(1, True, {"audit.append"})
    silence.over(house.store)
    for number in range(3):
        await house.audit.append(ANN, AuditRecord("turn", CALL, house.clock.now(), {"number": number}))
        house.clock.advance(1)
    house.store.probe(RECORDED)
    await house.audit.drain()
    await confirmed(house, order())


PROMISED, RECORDED = "promise:kept", "records:kept"
SCENARIOS: tuple[Scenario, ...] = (
    a_transfer, a_bill, a_correction_and_a_resumed_call, a_second_factor, a_later_day, an_answer_lost, a_request_lost,
    a_yes_nobody_knows_of, a_yes_whose_answer_never_came, records_that_wait,
)  # fmt: skip
LONGEST = {an_answer_lost, a_request_lost, a_yes_whose_answer_never_came}


def assemble(url: str, spools: Path) -> tuple[House, UnreliableBank]:
    store, clock = Store(url, pool_size=4), RunClock()
    bank = UnreliableBank(SandboxBank(store, clock))
    return build(store, clock, bank, spools), bank


async def prepare(url: str) -> None:
    store = Store(url, pool_size=4)
    await open_bank(store)
    await store.close()


async def play(url: str, scenario: Scenario, probe: Callable[[str], None], spools: Path) -> None:
    house, bank = assemble(url, spools)
    house.store.probe = bank.probe = probe
    try:
        await scenario(house, bank)
        await house.outbox.drain()
    finally:
        await house.store.close()
        house.let_go()


def points(url: str, scenario: Scenario, spools: Path) -> list[str]:
    """The names of all points that a scenario passes, in order."""
    passed: list[str] = []
    asyncio.run(play(url, scenario, passed.append, spools))
    return passed


def killed_at(url: str, scenario: Scenario, stop_at: tuple[str, int], spools: Path) -> set[str] | None:
    """Run the scenario in a child that ends at the n-th passing of a point; the points it passed.

    None where the scenario came to its end first, or met a deadline: how often the background looks, and whether the
    machine stands still for a second, is a matter of time.
    """
    seen, raised = spools / "seen.txt", spools / "raised.txt"
    counts: Counter[str] = Counter()

    def stop(point: str) -> None:
        counts[point] += 1
        if (point, counts[point]) == stop_at:
            seen.write_text("\n".join(counts))
            os._exit(KILLED)

    child = os.fork()
    if child == 0:
        gc.disable()  # to go through the heap of all tests before takes longer than a deadline
        try:
            asyncio.run(play(url, scenario, stop, spools))
            os._exit(0)
        except BaseException as error:  # noqa: BLE001 - told where the parent sees it
            raised.write_text(traceback.format_exc())
            os._exit(LATE if isinstance(error, NotCarriedOut | StoreUnavailable | TimeoutError) else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    assert ended in {KILLED, LATE, 0}, raised.read_text()
    return set(seen.read_text().splitlines()) if ended == KILLED else None


async def restarted(url: str, seen: set[str], spools: Path) -> None:
    """Restart over the database and the spools, let reconciler, outbox and records work, and look."""
    house, _ = assemble(url, spools)
    house.clock.advance(15 * 3600)  # past the next midnight, while keys may still be sent again
    try:
        await settle(house, 3)
        await at_rest(house.store)
        if "ledger.confirm:committed" in seen:
            ended = set((await states(house.store)).values())
            assert TransferState.SUCCEEDED.value in ended, "a spent confirmation came to nothing"
        if seen & {"ledger.confirm:committed", PROMISED}:
            assert any(item.ended for item in await house.ledger.owed(ANN)), "nobody will be told how it ended"
        turns = await rows(house.store, sa.select(records.c.facts).where(records.c.event == "turn"))
        numbers = [orjson.loads(row.facts)["number"] for row in turns]
        assert numbers == list(range(len(numbers))), f"records out of order, or twice: {numbers}"
        assert RECORDED not in seen or len(numbers) == len(range(3)), "records were lost"
    finally:
        await house.store.close()
        house.let_go()


def is_read(point: str) -> bool:
    """Whether nothing can have changed at a point: the bank was only asked."""
    return point.startswith(("bank.profile:", "bank.payee:", "bank.verify_payee:"))


def everywhere(_number: int, _point: str) -> bool:
    return True


def some(scenario: Scenario, usual: set[str]) -> Chosen:
    """Every third point, and of all scenarios but the longest each that is none of the `usual`."""
    return lambda number, point: number % 3 == 0 or (point not in usual and scenario not in LONGEST)


def at_the_settling(_number: int, point: str) -> bool:
    return point.startswith(("ledger.settle:", "audit.transfers:"))


def sweep(
    fresh: Callable[[], str], scenario: Scenario, folder: Path, *, reads: bool, chosen: Chosen = everywhere
) -> list[str]:
    """Kill the scenario at each passing of each `chosen` point, also at mere `reads`; returns all points."""
    passed = points(fresh(), scenario, Path(mkdtemp(dir=folder)))
    assert {"ledger.confirm:committed", PROMISED} & set(passed)
    numbered = [(point, passed[: n + 1].count(point)) for n, point in enumerate(passed) if reads or not is_read(point)]
    swept = [one for number, one in enumerate(numbered) if chosen(number, one[0])]
    assert swept
    for point, times in swept:
        for _ in range(TRIES):
            url, spools = fresh(), Path(mkdtemp(dir=folder))
            seen = killed_at(url, scenario, (point, times), spools)
            if seen is not None:
                break
        assert seen is not None, f"{point} was never passed {times} times again"
        try:
            asyncio.run(restarted(url, seen, spools))
        except AssertionError as error:
            raise AssertionError(f"killed at {point}, time {times}: {error}") from error
    return passed


@pytest.fixture
def fresh(sqlite_template: Path, quick_folder: Path) -> Callable[[], str]:
    """Makes an SQLite database with a bank that just opened, a new one at each call."""
    asyncio.run(prepare(new_sqlite(sqlite_template, quick_folder, "opened.db")))
    made = iter(range(10_000))
    return lambda: new_sqlite(quick_folder / "opened.db", quick_folder, f"{next(made)}.db")


@pytest.mark.timeout(900)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_killed_at_every_point(scenario: Scenario, fresh: Callable[[], str], quick_folder: Path) -> None:
    """A transfer at all; others at every third of its points, and at all of their own; the longest at every third."""
    usual = set() if scenario is a_transfer else set(points(fresh(), a_transfer, Path(mkdtemp(dir=quick_folder))))
    passed = sweep(fresh, scenario, quick_folder, reads=False, chosen=some(scenario, usual))
    writes = {point.partition(":")[0] for point in passed}
    booked = {"ledger.propose", "ledger.confirm", "bank.transfer", "ledger.settle", "audit.transfers"}
    assert booked <= writes or {"ledger.propose", "promise", "ledger.owe"} <= writes


@pytest.mark.timeout(900)
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.startswith("a settling is")])
def test_the_sweep_sees_a_record_that_a_crash_parts_from_its_settling(
    fault: str, fresh: Callable[[], str], quick_folder: Path
) -> None:
    with planted(*FAULTS[fault]), pytest.raises(AssertionError, match="record"):
        sweep(fresh, a_transfer, quick_folder, reads=False, chosen=at_the_settling)


def opened_postgresql(server: str) -> str:
    """The server's database with a bank that just opened."""
    url = asyncio.run(emptied(server))
    asyncio.run(prepare(url))
    return url


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("scenario", SCENARIOS[1:], ids=lambda scenario: scenario.__name__)
def test_killed_at_the_other_points(scenario: Scenario, fresh: Callable[[], str], quick_folder: Path) -> None:
    assert sweep(fresh, scenario, quick_folder, reads=False, chosen=lambda number, _point: number % 3 > 0)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_killed_at_every_point_on_postgresql(scenario: Scenario, postgres_server: str, quick_folder: Path) -> None:
    assert sweep(lambda: opened_postgresql(postgres_server), scenario, quick_folder, reads=True)


TURNING_POINTS = (
    "ledger.confirm:begin", "ledger.confirm:committed", "bank.transfer:written", "bank.transfer:after",
    "ledger.settle:committed", "audit.transfers:written", "audit.transfers:committed",
)  # fmt: skip


@pytest.mark.parametrize("point", TURNING_POINTS)
def test_killed_at_the_turning_points_on_postgresql(point: str, postgres_server: str, quick_folder: Path) -> None:
    url = opened_postgresql(postgres_server)
    seen = killed_at(url, a_transfer, (point, 1), quick_folder)
    assert seen is not None
    asyncio.run(restarted(url, seen, quick_folder))
