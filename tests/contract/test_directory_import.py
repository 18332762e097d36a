"""A bank's customers come in by file: faults by line, the same file twice changes nothing, on each kind of database."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.directory import DirectoryLine
from services.banking.banks.directory import Directory
from services.banking.directory_import import Changes, DirectoryImport, LineFault, batches, households
from services.store import Store
from tests.harness.money import START, RunClock

ROOT = Path(__file__).parents[2]
EXAMPLE = [orjson.loads(line) for line in (ROOT / "deploy/examples/customers.jsonl").read_bytes().splitlines()]
ASHA = "C-1001"


async def brought(store: Store, lines: list[dict[str, Any]]) -> tuple[list[LineFault], Changes]:
    """All faults, or what was written."""
    records = [(number, DirectoryLine.model_validate(line).root) for number, line in enumerate(lines, 1)]
    families, faults = households(records)
    bringing, changes = DirectoryImport(store, START.date()), Changes()
    for batch in batches(families):
        missing, _ = await bringing.check(batch)
        faults += missing
    for batch in batches(families) if not faults else ():
        changes.update(await bringing.write(batch))
    return faults, changes


async def test_the_same_file_twice_changes_nothing(store: Store) -> None:
    faults, changes = await brought(store, EXAMPLE)
    assert not faults
    assert changes["customer", "new"] == 2
    assert changes["payee", "new"] == 3
    faults, again = await brought(store, EXAMPLE)
    assert not faults
    assert {what for _, what in again} == {"as before"}


async def test_what_was_brought_is_what_a_call_sees(store: Store) -> None:
    await brought(store, EXAMPLE)
    directory = Directory(store, RunClock())
    payees = {payee.id: payee for payee in await directory.payees(ASHA)}
    assert (payees["rowan-pike"].relationship, payees["rowan-pike"].aliases) == ("brother", ("Ro",))
    (card,) = await directory.cards(ASHA)
    assert (card.last4, card.locked) == ("2210", False)
    (bill,) = await directory.bills(ASHA)
    assert (bill.payee_id, str(bill.due)) == ("clearwell", "41.62 GBP")
    (naoko,) = await directory.payees("C-2001")
    assert naoko.kana == "モリ ナオコ"


@pytest.mark.parametrize("changed", ["name", "bank", "account_last4", "holder", "route"])
async def test_a_payee_behind_which_something_changed_gets_a_new_version(store: Store, changed: str) -> None:
    await brought(store, EXAMPLE)
    payee = next(line for line in EXAMPLE if line.get("id") == "rowan-pike")
    other = {"account_last4": "4411"}.get(changed, "Another")
    await brought(store, [payee | {changed: other}])
    assert (await Directory(store, RunClock()).payee(ASHA, "rowan-pike")).version == 2


async def test_a_payee_that_comes_back_has_a_version_it_never_had(store: Store) -> None:
    """As often as it is removed, and whatever came back."""
    payee = next(line for line in EXAMPLE if line.get("id") == "rowan-pike")
    gone = {"type": "remove", "customer": ASHA, "kind": "payee", "id": "rowan-pike"}
    versions = []
    for lines in ([*EXAMPLE], [payee | {"route": "9/9"}], [gone], [payee], [gone], [payee]):
        await brought(store, lines)
        versions += [p.version for p in await Directory(store, RunClock()).payees(ASHA) if p.id == "rowan-pike"]
    assert versions == [1, 2, 3, 4]


async def test_what_a_file_leaves_open_stays(store: Store) -> None:
    await brought(store, EXAMPLE)
    directory = Directory(store, RunClock())
    await directory.set_card_lock(ASHA, "asha-debit", True)
    before = await directory.payee(ASHA, "rowan-pike")
    payee = {k: v for k, v in next(x for x in EXAMPLE if x.get("id") == "rowan-pike").items() if k != "last_paid"}
    await brought(store, [payee | {"last_paid": "2025-11-02"}])  # a file older than what is known
    card = next(line for line in EXAMPLE if line.get("id") == "asha-debit")
    await brought(store, [payee, card])
    assert (await directory.cards(ASHA))[0].locked
    assert await directory.payee(ASHA, "rowan-pike") == replace(before)


async def test_what_is_removed_is_gone_and_again_is_harmless(store: Store) -> None:
    await brought(store, EXAMPLE)
    gone = {"type": "remove", "customer": ASHA, "kind": "bill", "id": "asha-water"}
    assert (await brought(store, [gone]))[1]["bill", "removed"] == 1
    assert await Directory(store, RunClock()).bills(ASHA) == []
    assert (await brought(store, [gone]))[1]["bill", "as before"] == 1


async def test_what_comes_after_a_removal_stands_last(store: Store) -> None:
    card = next(line for line in EXAMPLE if line["type"] == "card")
    gone = {"type": "remove", "customer": ASHA, "kind": "card", "id": card["id"]}
    for lines in ([*EXAMPLE, card | {"id": "z"}], [gone], [card | {"id": "a"}, card | {"id": "0"}]):
        await brought(store, lines)
    assert [one.id for one in await Directory(store, RunClock()).cards(ASHA)] == ["z", "a", "0"]


async def test_lines_that_do_not_fit_are_told_and_nothing_is_written(store: Store) -> None:
    bill = next(line for line in EXAMPLE if line["type"] == "bill")
    lines = [
        *EXAMPLE,
        EXAMPLE[0],
        bill | {"id": "b2", "payee": "nobody"},
        bill | {"id": "b3", "minimum_minor": 9999999},
    ]
    payee = next(line for line in EXAMPLE if line["type"] == "payee")
    lines += [payee | {"id": f"p{days}", "last_paid": str(START.date() + timedelta(days))} for days in (1, 2)]
    lines += [{"type": "card", "customer": "C-9", "id": "c", "name": "card", "last4": "0000"}]
    faults, _ = await brought(store, lines)
    count = len(EXAMPLE)
    told = {fault.line: fault.said for fault in faults}
    assert "line 1" in told[count + 1]
    assert "nobody" in told[count + 2]
    assert "least" in told[count + 3]
    assert count + 4 not in told, "of tomorrow, which somewhere has begun"
    assert "last_paid" in told[count + 5]
    assert "C-9" in told[count + 6]
    assert await Directory(store, RunClock()).payees(ASHA) == []


async def test_a_bill_can_not_outlive_its_payee(store: Store) -> None:
    await brought(store, EXAMPLE)
    gone = {"type": "remove", "customer": ASHA, "kind": "payee", "id": "clearwell"}
    bill = next(line for line in EXAMPLE if line["type"] == "bill")
    faults, _ = await brought(store, [gone, bill])
    assert [fault.line for fault in faults] == [2]
