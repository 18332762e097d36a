"""Calls over a real socket to the whole application, by callers who type and hear every reply to its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.client import connect

from app.client import heard_out, session
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import Caller
from tests.harness.served import Served, served


@asynccontextmanager
async def gateway(state: Path) -> AsyncIterator[Served]:
    async with served(state, FakeRecognizer(lambda _seconds: "")) as running:
        yield running


@asynccontextmanager
async def calling(running: Served, customer: str, locale: str) -> AsyncIterator[Caller]:
    token = running.token(customer)
    async with connect(running.calls, compression=None, additional_headers=token) as opened:
        talking = Caller(opened)
        await talking.next("session.created")
        await talking.send(session(locale))
        await talking.next("session.updated")
        yield talking


async def heard(call: Caller, *, within_s: float = 10.0) -> str:
    """The next reply, heard to its end."""
    done = await call.next("response.done", within_s=within_s)
    await call.send(heard_out(done["response"]["id"]))
    return str(call.of("response.output_text.done")[-1]["text"])
