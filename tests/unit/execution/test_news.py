"""What follows a transfer up ends with the call, whatever happened to it."""

import asyncio
from types import SimpleNamespace

import pytest

from schemas.ids import ProposalId
from services.execution.news import News


async def test_a_fault_of_the_watch_keeps_no_call_from_its_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def owed() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("services.execution.news._EVERY_S", 0.0)
    news = News(SimpleNamespace(owed=owed))  # type: ignore[arg-type]
    news.await_end(ProposalId("one"))
    await asyncio.sleep(0.01)
    await news.close()
    assert "ZeroDivisionError" in caplog.text


async def test_whoever_is_called_off_while_it_ends_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def owed() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)  # as a query that can't be broken off

    monkeypatch.setattr("services.execution.news._EVERY_S", 0.0)
    news = News(SimpleNamespace(owed=owed))  # type: ignore[arg-type]
    news.await_end(ProposalId("one"))
    await asyncio.sleep(0.01)
    closing = asyncio.create_task(news.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
