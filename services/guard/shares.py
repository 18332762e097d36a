"""What one customer, or one address, may have of a gateway: known before the database or the bank is asked anything."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Final

from schemas.errors import Busy, RateLimited
from services.timing import ANSWER_S, left

MAX_KEYS: Final = 100_000
"""Customers or addresses that are remembered; those seen longest ago are forgotten first."""
BURST_S: Final = 20.0
"""What a key has saved up at first, and at the most: the allowance of so many seconds."""
OPENINGS: Final = 4
"""Calls that are looked up and begun at a time, each with three reads and a record; others wait their turn."""
OPENING_WAITS: Final = 64
AT_ONCE: Final = 2
"""Requests of one customer at a time."""
QUICK_REFUSALS_A_MINUTE: Final = 60.0
"""Refusals of one customer that are told at once; further ones take SLOW_REFUSAL_S, for no new request comes before."""
SLOW_REFUSAL_S: Final = 2.0
SLOW_REFUSALS: Final = 256
"""That wait at a time; half of the places that the door has for requests."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Calls of a customer at once; its new calls and requests, and new connections of an address, a minute."""

    calls: int = 4
    calls_a_minute: int = 30
    requests_a_minute: int = 120
    connections_a_minute: int = 1200


class Rate:
    """A bucket of tokens for each key, `a_minute` flowing in."""

    def __init__(self, a_minute: float, now: Callable[[], float]) -> None:
        self._flow = a_minute / 60
        self._most = max(1.0, self._flow * BURST_S)
        self._now = now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> None:
        """Take one. Raises RateLimited with the time until there is one again."""
        now = self._now()
        left, at = self._left.pop(key, (self._most, now))
        left = min(self._most, left + (now - at) * self._flow)
        self._left[key] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MAX_KEYS:
            self._left.popitem(last=False)
        if left < 1:
            raise RateLimited(
                "too many a minute: try again in Retry-After seconds", retry_after_s=max(1.0, (1 - left) / self._flow)
            )


class Shares:
    """Everybody's share of one gateway. One event loop uses it; `now` is monotonic, in seconds."""

    def __init__(self, allowance: Allowance, now: Callable[[], float]) -> None:
        self._calls = allowance.calls
        self._opened = Rate(allowance.calls_a_minute, now)
        self._asked = Rate(allowance.requests_a_minute, now)
        self._connected = Rate(allowance.connections_a_minute, now)
        self._refused = Rate(QUICK_REFUSALS_A_MINUTE, now)
        self._dawdling = 0
        self._calling: Counter[str] = Counter()
        self._asking: Counter[str] = Counter()
        self._opening = asyncio.Semaphore(OPENINGS)
        self._begun = 0

    @property
    def begun(self) -> int:
        """How many calls are being opened, or wait for that."""
        return self._begun

    def connection(self, address: str) -> None:
        """A handshake came from an address. Raises RateLimited."""
        self._connected.take(address)

    @contextmanager
    def call(self, customer: str) -> Iterator[None]:
        """A call of a customer, as long as it lasts. Raises RateLimited."""
        if self._calling[customer] >= self._calls:
            raise RateLimited("too many calls at once", retry_after_s=5.0)
        self._opened.take(customer)
        with _counted(self._calling, customer):
            yield

    @asynccontextmanager
    async def request(self, customer: str) -> AsyncIterator[None]:
        """A typed text or a recording of a customer. Raises RateLimited, slowly to who goes on asking all the same."""
        try:
            self._ask(customer)
        except RateLimited:
            await self._dawdle(customer)
            raise
        with _counted(self._asking, customer):
            yield

    def _ask(self, customer: str) -> None:
        if self._asking[customer] >= AT_ONCE:
            raise RateLimited("too many requests at once", retry_after_s=1.0)
        self._asked.take(customer)

    async def _dawdle(self, customer: str) -> None:
        """Wait before a refusal is told, where a customer was refused often."""
        try:
            self._refused.take(customer)
        except RateLimited:
            if self._dawdling < SLOW_REFUSALS:
                self._dawdling += 1
                try:
                    await asyncio.sleep(SLOW_REFUSAL_S)
                finally:
                    self._dawdling -= 1

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """The beginning of a call, in turn. Raises Busy where too many wait, or its time is over before its turn."""
        if self._begun >= OPENING_WAITS:
            raise Busy("too many calls begin at once", retry_after_s=2.0)
        self._begun += 1
        try:
            await self._turn()
            try:
                yield
            finally:
                self._opening.release()
        finally:
            self._begun -= 1

    async def _turn(self) -> None:
        try:
            async with asyncio.timeout(left(ANSWER_S)):
                await self._opening.acquire()
        except TimeoutError:
            raise Busy("too many calls begin at once", retry_after_s=2.0) from None


@contextmanager
def _counted(counter: Counter[str], key: str) -> Iterator[None]:
    counter[key] += 1
    try:
        yield
    finally:
        counter[key] -= 1
        if not counter[key]:
            del counter[key]
