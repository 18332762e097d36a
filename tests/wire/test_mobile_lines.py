"""An app on the move: its token ends, its network changes, its gateway goes away, in the middle of an order.

What was read back is there again on the next line of the same customer, is read again, and one yes books it once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from app import server
from app.client import typed
from app.transports.live import lease
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.calls import calling, gateway, heard
from tests.harness.gateway import Caller
from tests.harness.handshakes import refusal
from tests.harness.served import Served, served
from tests.wire import test_resumed_calls as resumed
from tests.wire.test_resumed_calls import ALEX, drop, ordered, states

PREFACE = "You have yet to answer this."


async def over(call: Caller) -> int:
    """The code that the line is closed with."""
    with pytest.raises(ConnectionClosed) as closed:
        await call.for_a_while(8)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


async def taken_up(running: Served, said: str) -> None:
    await resumed.taken_up(running, "en-US", said, "yes", PREFACE)


@pytest.mark.slow
async def test_a_token_that_is_renewed_between_read_back_and_yes_changes_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, calling(running, ALEX, "en-US") as call:
        await ordered(running, "en-US", call)
        newer = running.token(ALEX)["Authorization"].partition(" ")[2]
        await call.send({"type": "tellerline.token", "token": newer})
        await call.next("tellerline.token.renewed")
        await call.send(typed("yes"))
        await heard(call)
        assert [event["state"] for event in call.of("tellerline.ledger")] == ["succeeded"]
    assert await states(tmp_path) == ["succeeded"]


async def test_another_customers_token_ends_the_call_and_takes_nothing_over(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            said = await ordered(running, "en-US", call)
            others = running.token("imogen-hartley")["Authorization"].partition(" ")[2]
            await call.send({"type": "tellerline.token", "token": others})
            assert await over(call) == 4403
        async with calling(running, "imogen-hartley", "en-GB") as call:
            await call.send(typed("yes"))
            assert PREFACE not in await heard(call)
            assert not call.of("tellerline.ledger")
            assert not call.of("tellerline.readback")
        await taken_up(running, said)


async def test_a_token_that_ends_behind_a_read_back_leaves_it_to_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway(tmp_path) as running:
        monkeypatch.setattr(lease.CallLease, "_left", lambda _: 1.5)
        async with calling(running, ALEX, "en-US") as call:
            said = await ordered(running, "en-US", call)
            assert await over(call) == 4401
        monkeypatch.undo()
        await taken_up(running, said)
    assert await states(tmp_path) == ["cancelled", "succeeded"]


@pytest.mark.slow
async def test_a_gateway_that_goes_away_behind_a_read_back_leaves_it_to_the_next(tmp_path: Path) -> None:
    async with (
        served(tmp_path, FakeRecognizer(lambda _: ""), drain_seconds=0.2) as leaving,
        calling(leaving, ALEX, "en-US") as call,
    ):
        said = await ordered(leaving, "en-US", call)
        leaving.gateway.admission.drain(0.1)
        await call.next("tellerline.draining")
        leaving.gateway.admission.close()
        assert await over(call) in {1012, 1013}
    async with gateway(tmp_path) as running:
        await taken_up(running, said)
    assert await states(tmp_path) == ["cancelled", "succeeded"]


@asynccontextmanager
async def half_open(running: Served, *, order: bool = True) -> AsyncIterator[tuple[Caller, str]]:
    """A line whose network is gone, and neither side hears of it; and what was read back on it."""
    async with calling(running, ALEX, "en-US") as call:
        said = await ordered(running, "en-US", call) if order else ""
        call.socket.transport.pause_reading()
        try:
            yield call, said
        finally:
            call.socket.transport.abort()


@pytest.mark.slow
async def test_a_line_that_nobody_knows_is_dead_keeps_the_next_one_from_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, half_open(running) as (_, said):
        await taken_up(running, said)
    assert (await states(tmp_path)).count("succeeded") == 1


@pytest.mark.slow
async def test_what_a_dead_network_still_delivers_late_moves_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, half_open(running) as (dead, _), calling(running, ALEX, "en-US") as call:
        await heard(call)
        await dead.send(typed("yes"))
        await asyncio.sleep(0.3)
        await call.send(typed("no, cancel that"))
        await heard(call)
        assert not call.of("tellerline.ledger") or call.of("tellerline.ledger")[-1]["state"] != "succeeded"
    assert "succeeded" not in await states(tmp_path)


async def test_lines_that_are_dead_keep_their_customer_out_for_seconds_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PING_EVERY_S", 0.3)
    monkeypatch.setattr(server, "PONG_WITHIN_S", 0.3)
    silent = FakeRecognizer(lambda _: "")
    async with (
        served(tmp_path, silent, calls_per_customer=2) as running,
        half_open(running),
        half_open(running, order=False),
    ):
        async with asyncio.timeout(10):
            while (refused := await refusal(running.calls, running.token(ALEX))) is not None:
                assert refused.status_code == 429
                assert int(refused.headers["Retry-After"]) <= 5
                await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_a_read_back_that_was_cut_off_in_its_middle_is_agreed_to_by_no_next_call(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("send fifty dollars to catherine nguyen"))
            await call.next("response.done")  # and it is not told that it was heard
            await drop(call)
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("yes"))
            await call.next("response.done")
            await asyncio.sleep(0.3)
            assert not call.of("tellerline.ledger")
    assert "succeeded" not in await states(tmp_path)


async def test_a_line_that_drops_behind_the_yes_is_told_the_outcome_and_books_once(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
            await call.send(typed("yes"))
            await call.next("tellerline.ledger")
            await drop(call)
        async with calling(running, ALEX, "en-US") as call:
            assert "Catherine Nguyen" in await heard(call)
            await call.send(typed("yes"))
            await heard(call)
            assert not call.of("tellerline.readback")
    assert await states(tmp_path) == ["succeeded"]


@pytest.mark.slow
async def test_a_page_that_is_left_is_a_line_that_drops(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            said = await ordered(running, "en-US", call)
            await call.socket.close(1001, "going away")
        await taken_up(running, said)


@pytest.mark.slow
async def test_a_language_may_have_changed_meanwhile(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
            await drop(call)
        async with calling(running, ALEX, "ja-JP") as call:
            assert "先ほどのお電話" in await heard(call)
            await call.send(typed("はい"))
            await heard(call)
            assert [event["state"] for event in call.of("tellerline.ledger")] == ["succeeded"]


@pytest.mark.parametrize(("begun", "left"), [(True, ", left transfer_money"), (False, "")])
async def test_who_takes_over_is_told_what_order_was_left(tmp_path: Path, begun: bool, left: str) -> None:
    async with gateway(tmp_path) as running, calling(running, ALEX, "en-US") as call:
        if begun:
            await ordered(running, "en-US", call)
        await call.send(typed("let me speak to a person"))
        handed = await call.next("tellerline.handoff")
    assert handed["summary"] == f"intent human_handoff, missing nothing{left}"


async def test_settings_that_meet_a_read_back_of_before_are_in_force_after_it(tmp_path: Path) -> None:
    """An app that calls again tells first how its sound comes, and is answered with what it has yet to agree to."""
    async with gateway(tmp_path) as running:
        async with calling(running, ALEX, "en-US") as call:
            await ordered(running, "en-US", call)
            await drop(call)
        async with calling(running, ALEX, "en-US") as call:
            await call.next("response.created")
            form = {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 24000}}}}
            await call.send({"type": "session.update", "session": form})
            updated = await call.next("session.updated")
            assert updated["session"]["audio"]["input"]["format"]["rate"] == 24_000
            assert not call.of("error")


async def test_a_newer_token_that_nobody_would_let_in_ends_the_call(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, calling(running, ALEX, "en-US") as call:
        await ordered(running, "en-US", call)
        await call.send({"type": "tellerline.token", "token": "garbage"})
        assert await over(call) == 4401
    assert await states(tmp_path) == ["proposed"], "nothing was sent"
