"""What callers hear when no one-time code can be sent is true, and what it was for is over."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from app.client import typed
from services.banking.code_senders import WebhookSender
from services.banking.stepup import SecondFactor
from services.timing import SystemClock
from tests.fakes.around import Around
from tests.harness.calls import calling, gateway, heard
from tests.harness.gateway import Caller
from tests.harness.served import Served

ALEX = "alex-morgan"
NOT_SENT = "I can't send you a code right now, so nothing was done. Please try again later."


@asynccontextmanager
async def bank(state: Path) -> AsyncIterator[tuple[Served, Around]]:
    async with gateway(state) as running, Around() as codes, httpx.AsyncClient() as client:
        second = running.gateway.callers.banking.step_up
        assert isinstance(second, SecondFactor)
        second._sender = WebhookSender(codes.url, b"k" * 32, "app", client, SystemClock())
        yield running, codes


async def agreed(call: Caller) -> str:
    await call.send(typed("send two thousand dollars to catherine nguyen"))
    await heard(call)
    await call.send(typed("yes"))
    return await heard(call)


@pytest.mark.parametrize("status", [500, 307, 401, None])
async def test_a_code_that_is_not_taken_ends_what_it_was_for(
    tmp_path: Path, status: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with bank(tmp_path) as (running, codes):
        codes.status = status
        async with calling(running, ALEX, "en-US") as call:
            assert await agreed(call) == NOT_SENT
            assert not call.of("error")
        assert f"code service: {f'status {status}' if status else 'TimeoutError'}" in caplog.text
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            assert "to Catherine" not in await heard(call)


async def test_who_was_sent_all_codes_of_an_hour_is_told_so(tmp_path: Path) -> None:
    async with bank(tmp_path) as (running, _codes), calling(running, ALEX, "en-US") as call:
        for _ in range(6):
            assert "code" in await agreed(call)
            await call.send(typed("cancel"))
            await heard(call)
        assert await agreed(call) == NOT_SENT


async def test_codes_that_the_service_refused_are_none_of_the_hour(tmp_path: Path) -> None:
    async with bank(tmp_path) as (running, codes), calling(running, ALEX, "en-US") as call:
        usual, codes.status = codes.status, 503
        for _ in range(6):
            assert await agreed(call) == NOT_SENT
        codes.status = usual
        assert "code" in await agreed(call)
