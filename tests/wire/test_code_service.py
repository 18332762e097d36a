"""What callers hear when a one-time code can't be sent is true, and what it was for is at an end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from app.line import typed
from services.banking.code_senders import WebhookSender
from services.banking.stepup import SecondFactor
from services.timing import SystemClock
from tests.fakes.http import Asked, FakeHttpServer
from tests.harness.calls import calling, gateway, heard
from tests.harness.gateway import Caller
from tests.harness.served import Served

ALEX, ORDER = "alex-morgan", "send two thousand dollars to catherine nguyen"
NOT_SENT = "I can't send you a code right now, so nothing was done. Please try again later."


class FakeCodeService(FakeHttpServer):
    """Answers a code with a status, or never."""

    status: int | None = 200

    async def answer(self, _asked: Asked, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if self.status is None:
            await asyncio.sleep(30)
        writer.write(f"HTTP/1.1 {self.status} X\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n".encode())
        return True


@asynccontextmanager
async def bank(state: Path) -> AsyncIterator[tuple[Served, FakeCodeService]]:
    async with gateway(state) as running, FakeCodeService() as codes, httpx.AsyncClient() as client:
        second = running.gateway.callers.banking.step_up
        assert isinstance(second, SecondFactor)
        second._sender = WebhookSender(f"{codes.url}/send", b"k" * 32, "text_message", client, SystemClock())
        yield running, codes


async def agreed(call: Caller) -> str:
    await call.send(typed(ORDER))
    assert "2,000 dollars" in await heard(call)
    await call.send(typed("yes"))
    return await heard(call)


@pytest.mark.parametrize("status", [500, 307, 401, None])
async def test_a_code_that_is_not_taken_ends_what_it_was_for(
    tmp_path: Path, status: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    async with bank(tmp_path) as (running, codes):
        codes.status = status
        async with calling(running, ALEX, "en-US") as call:
            with caplog.at_level(logging.ERROR):
                assert await agreed(call) == NOT_SENT
            assert not call.of("error")
        assert f"code service: {'TimeoutError' if status is None else f'status {status}'}" in caplog.text
        codes.status = 200
        async with calling(running, ALEX, "en-US") as call:
            await call.send(typed("what's my balance"))
            assert "dollars to" not in await heard(call), "no read-back and no news of it"


async def test_who_was_sent_all_codes_of_an_hour_is_told_so(tmp_path: Path) -> None:
    async with bank(tmp_path) as (running, _codes), calling(running, ALEX, "en-US") as call:
        for _ in range(6):
            assert "code" in await agreed(call)
            await call.send(typed("cancel"))
            await heard(call)
        assert await agreed(call) == NOT_SENT
