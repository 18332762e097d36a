"""Callers who say yes while the database fails, what each of them hears, and what it amounts to."""

import asyncio
import contextlib
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count
from typing import Any, Final

import httpx
from websockets.exceptions import InvalidStatus, WebSocketException

from app.client import Line, demo_token, heard_out, line, session, typed

BUYERS: Final = (("alex-morgan", "en-US", "send ${} to catherine nguyen"),
                 ("imogen-hartley", "en-GB", "send £{} to oliver hartley"))  # fmt: skip
BYSTANDER: Final = ("takahashi-misaki", "ja-JP", "残高を教えて")
SILENT_S: Final = 15.0
"""Longest wait for an answer; past it there was none."""
OPENED_S: Final = 60.0
"""Longest wait for a call."""
_NOTICE: Final = re.compile(
    r"About (\d+) (?:dollars|pounds) and (\d+) (?:cents|pence) to [\w ]+: that (went through|was not carried out)"
)


@dataclass
class Buyer:
    """One yes: the amount (minor units) tells it from all others. `words` are all that was said from the yes on."""

    customer: str
    amount: int
    opened: Line
    words: list[str] = field(default_factory=list)
    answered_s: float | None = None
    waiting_since: float | None = None
    gone: bool = False

    @property
    def followed(self) -> bool:
        """Whether they were told that it is followed up."""
        return any("following it up" in said for said in self.words)

    @property
    def told(self) -> str:
        """What the yes was answered with."""
        first = self.words[0] if self.words else ""
        kinds = (("on its way", "done"), ("following it up", "unknown"), ("can't tell", "unsure"))
        return next((kind for part, kind in kinds if part in first), "nothing moved" if first else "no word")


def ends(words: Sequence[str]) -> dict[int, str]:
    """What was told of which amount, unasked."""
    found = _NOTICE.findall(" ".join(words))
    return {100 * int(whole) + int(part): how for whole, part, how in found}


def amounts() -> Iterator[int]:
    """Small amounts, each of which is said with its minor units in the plural."""
    return (minor for minor in count(200) if minor % 100 > 1)


async def hear(opened: Line, buyer: Buyer) -> None:
    """Listen until the line is gone; every reply is heard to its end."""
    with contextlib.suppress(WebSocketException, OSError, TimeoutError):
        async for event in opened.events():
            if event["type"].startswith("response.output_text.delta") and buyer.waiting_since is not None:
                buyer.answered_s = time.monotonic() - buyer.waiting_since
                buyer.waiting_since = None
            if event["type"] == "response.output_text.done":
                buyer.words.append(event["text"])
            if event["type"] == "response.done":
                await opened.send(heard_out(event["response"]["id"]))
    buyer.gone = True


class Crowd:
    """The calls of one row of the table."""

    def __init__(self, base: str, stack: AsyncExitStack) -> None:
        self._base = base
        self._stack = stack
        self._bystander = ""
        self.buyers: list[Buyer] = []
        self.answers_s: list[float] = []
        """How long each answer of the fault's time took: to a yes, a request, a new call."""

    async def open(self, asked: Sequence[int]) -> None:
        """Open a call for each amount, then order it there, and hear the read-backs out."""
        self._bystander = await demo_token(self._base, BYSTANDER[0])
        for number, amount in enumerate(asked):
            customer, locale, _ = BUYERS[number % len(BUYERS)]
            token = await demo_token(self._base, customer)
            opened = await self._opened(token, locale)
            buyer = Buyer(customer, amount, opened)
            self.buyers.append(buyer)
            self._stack.enter_context(_cancelled(asyncio.create_task(hear(opened, buyer))))
        for number, buyer in enumerate(self.buyers):
            wanted = f"{buyer.amount // 100}.{buyer.amount % 100:02d}"
            await buyer.opened.send(typed(BUYERS[number % len(BUYERS)][2].format(wanted)))
        async with asyncio.timeout(SILENT_S):
            while not all(any("Is that right" in said for said in buyer.words) for buyer in self.buyers):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)  # the read-backs are known to be heard
        for buyer in self.buyers:
            buyer.words.clear()

    async def _opened(self, token: str, locale: str) -> Line:
        """A call; where one customer has opened too many in a minute, as soon as another one is allowed."""
        async with asyncio.timeout(OPENED_S):
            while True:
                try:
                    return await self._stack.enter_async_context(line(self._base, token, session(locale), live=False))
                except InvalidStatus as refused:
                    if refused.response.status_code != HTTPStatus.TOO_MANY_REQUESTS:
                        raise
                    await asyncio.sleep(float(refused.response.headers["Retry-After"]))

    async def agree(self) -> None:
        """All say yes at once."""
        for buyer in self.buyers:
            buyer.waiting_since = time.monotonic()
        for buyer in self.buyers:
            with contextlib.suppress(WebSocketException, OSError):
                await buyer.opened.send(typed("yes"))

    async def answered(self) -> None:
        """Wait for the words that answer each yes, from those whose line still stands."""
        until = time.monotonic() + SILENT_S
        while any(not b.words and not b.gone for b in self.buyers) and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        for buyer in self.buyers:
            if buyer.answered_s is not None:
                self.answers_s.append(buyer.answered_s)
            elif not buyer.gone:
                self.answers_s.append(SILENT_S)

    async def bystander(self) -> None:
        """A monitor asks, and somebody else by HTTP, and in a call; how long until each has its answer."""
        locale = BYSTANDER[1]
        headers = {"Authorization": f"Bearer {self._bystander}"}
        async with httpx.AsyncClient(base_url=self._base, timeout=SILENT_S) as client:
            began = time.monotonic()
            with contextlib.suppress(httpx.HTTPError):
                await client.get("/metrics")
            self.answers_s.append(time.monotonic() - began)
            for ask in ({"text": BYSTANDER[2], "locale": locale},) * 2:
                began = time.monotonic()
                with contextlib.suppress(httpx.HTTPError):
                    await client.post("/v1/text", json=ask, headers=headers)
                self.answers_s.append(time.monotonic() - began)
        began = time.monotonic()
        with contextlib.suppress(WebSocketException, OSError, TimeoutError, httpx.HTTPError):
            async with line(self._base, self._bystander, session(locale), live=False) as opened:
                await opened.send(typed(BYSTANDER[2]))
                async for event in opened.events():
                    if event["type"] in {"response.output_text.done", "error"}:
                        break
        self.answers_s.append(time.monotonic() - began)

    def hang_up_on_half(self) -> None:
        """Every second line goes dead: those callers learn the end in their next call."""
        for buyer in self.buyers[::2]:
            buyer.opened.drop()

    async def learn(self, seconds: float) -> dict[int, str]:
        """Wait for the ends of what is followed up, in the calls and in new ones; what was told of which amount."""
        waiting = {b.amount for b in self.buyers if b.followed}
        told: dict[int, str] = {}
        until = time.monotonic() + seconds
        while True:
            for buyer in self.buyers:
                told |= ends(buyer.words)
            lost = {b.customer for b in self.buyers if b.gone and b.amount in waiting - set(told)}
            for customer in lost:
                told |= await self._asks(customer)
            if waiting <= set(told) or time.monotonic() > until:
                return told
            await asyncio.sleep(2)

    async def _asks(self, customer: str) -> dict[int, str]:
        """What a customer's new call begins with."""
        locale = next(locale for name, locale, _ in BUYERS if name == customer)
        buyer: Buyer | None = None
        with contextlib.suppress(WebSocketException, OSError, httpx.HTTPError, TimeoutError):
            token = await demo_token(self._base, customer)
            async with line(self._base, token, session(locale), live=False) as opened:
                buyer = Buyer(customer, 0, opened)
                with _cancelled(asyncio.create_task(hear(opened, buyer))):
                    await asyncio.sleep(1.5)
        return ends(buyer.words) if buyer else {}


class _cancelled:  # noqa: N801 - used as a function
    """A task that ends with the block."""

    def __init__(self, task: "asyncio.Task[Any]") -> None:
        self._task = task

    def __enter__(self) -> None:
        """Nothing."""

    def __exit__(self, *_: object) -> None:
        self._task.cancel()
