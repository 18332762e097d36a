"""A line that drops after the read-back: the next call hears it again, and one yes is one booking."""

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.client import typed
from schemas.decision import Reply
from schemas.ids import CustomerId, Locale, RuleId
from services.banking.tables import transfers
from services.response import speak
from services.store import Store
from tests.harness.calls import calling, gateway, heard
from tests.harness.gateway import Caller
from tests.harness.rows import tamper
from tests.harness.served import Served

ALEX = "alex-morgan"
ORDERS = {
    "en-US": (ALEX, "send fifty dollars to catherine nguyen", "yes", "You have yet to answer this."),
    "ja-JP": ("takahashi-misaki", "大家さんに三千円送って", "はい", "こちらのご返答をまだ伺っておりません。"),
}
LOCALES = pytest.mark.parametrize("locale", ORDERS)


async def ordered(running: Served, locale: str, call: Caller) -> str:
    """The read-back of a transfer, once the ledger knows that it was heard."""
    customer, order, *_ = ORDERS[locale]
    await call.send(typed(order))
    said = await heard(call)
    ledger = running.gateway.callers.banking.ledger
    for _ in range(500):
        left = await ledger.open_proposal(CustomerId(customer))
        if left is not None and left.delivered_at is not None:
            return said
        await asyncio.sleep(0.01)
    raise AssertionError("the read-back was never delivered")


async def drop(call: Caller) -> None:
    """The line is gone, without a word."""
    call.socket.transport.abort()
    await call.socket.wait_closed()


async def states(state: Path) -> list[str]:
    store = Store(f"sqlite:///{state / 'tellerline.db'}")
    try:
        return await store.look(lambda connection: sorted(connection.execute(sa.select(transfers.c.state)).scalars()))
    finally:
        await store.close()


@LOCALES
@pytest.mark.parametrize("restart", [False, True], ids=["same gateway", "restarted gateway"])
async def test_a_dropped_call_is_taken_up_and_booked_once(locale: str, restart: bool, tmp_path: Path) -> None:
    *_, yes, preface = ORDERS[locale]
    async with gateway(tmp_path) as running:
        async with calling(running, ORDERS[locale][0], locale) as call:
            said = await ordered(running, locale, call)
            await drop(call)
        if not restart:
            await taken_up(running, locale, said, yes, preface)
    if restart:
        async with gateway(tmp_path) as running:
            await taken_up(running, locale, said, yes, preface)
    assert await states(tmp_path) == ["cancelled", "succeeded"]


async def taken_up(running: Served, locale: str, said: str, yes: str, preface: str) -> None:
    async with calling(running, ORDERS[locale][0], locale) as call:
        again = await heard(call)
        assert again.startswith(preface)
        assert again.endswith(said), "another read-back than before"
        assert len(call.of("tellerline.readback")) == 1
        for _ in range(2):
            await call.send(typed(yes))
            await heard(call)
        assert [event["state"] for event in call.of("tellerline.ledger")] == ["succeeded"]


@LOCALES
async def test_a_yes_before_the_second_read_back_was_heard_moves_nothing(locale: str, tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ORDERS[locale][0], locale) as call:
            await ordered(running, locale, call)
            await drop(call)
        async with calling(running, ORDERS[locale][0], locale) as call:
            await call.send(typed(ORDERS[locale][2]))
            await call.next("response.done")
            await call.next("response.done")
            assert not call.of("tellerline.ledger")
    assert "succeeded" not in await states(tmp_path)


@LOCALES
@pytest.mark.parametrize("first", ["older", "newer"])
async def test_of_two_open_calls_the_newer_books_once_whoever_answers_first(
    locale: Locale, first: str, tmp_path: Path
) -> None:
    customer, _, yes, preface = ORDERS[locale]
    async with gateway(tmp_path) as running, calling(running, customer, locale) as older:
        said = await ordered(running, locale, older)
        async with calling(running, customer, locale) as newer:
            assert (await heard(newer)).startswith(preface), "that the older call was cut off would not be true"
            for call in (older, newer) if first == "older" else (newer, older):
                await call.send(typed(yes))
                await heard(call)
            await older.send(typed(yes))
            await heard(older)
            told = [event["text"] for event in older.of("response.output_text.done")]
            assert told[1] == speak(Reply(RuleId("error.confirmation_used")), locale)
            assert told.count(said) == 1, "what another call has is offered again"
            assert [event["state"] for event in newer.of("tellerline.ledger")] == ["succeeded"]
    assert await states(tmp_path) == ["cancelled", "succeeded"]


async def test_what_was_taken_up_can_be_corrected(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
            await drop(call)
        async with calling(running, ALEX, "en-US") as call:
            await heard(call)
            await call.send(typed("no make it sixty"))
            assert "60 dollars" in await heard(call)
            assert "Catherine Nguyen" in call.of("response.output_text.done")[-1]["text"]


async def test_after_its_time_it_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
            await drop(call)
        ledger = running.gateway.callers.banking.ledger
        store = running.gateway.callers.banking.ledger._store  # type: ignore[attr-defined] # the ledger's own
        await tamper(store, sa.update(transfers).values(expires_at=1))
        assert await ledger.open_proposal(CustomerId("alex-morgan")) is None
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            assert "yet to answer" not in await heard(call)
            assert not call.of("tellerline.readback")


async def test_who_hangs_up_is_not_reminded(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            assert "yet to answer" not in await heard(call)
    assert await states(tmp_path) == ["cancelled"]


async def test_the_newest_call_takes_it_and_the_older_one_moves_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, calling(running, ALEX, "en-US") as first:
        await ordered(running, "en-US", first)
        async with calling(running, ALEX, "en-US") as second:
            await heard(second)
            await first.send(typed("yes"))
            await heard(first)
            await second.send(typed("yes"))
            await heard(second)
            assert [event["state"] for event in second.of("tellerline.ledger")] == ["succeeded"]
        assert not first.of("tellerline.ledger")
    assert (await states(tmp_path)).count("succeeded") == 1
