"""Worker threads for blocking decodes: bounded, the most urgent first, forgetting what nobody awaits any more."""

import asyncio
import heapq
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, Final, TypeVar

from schemas.errors import Busy, RecognizerUnavailable
from schemas.transcript import Decode

T = TypeVar("T")
RETRY_AFTER_S: Final = 1.0


@dataclass(order=True, slots=True)
class _Job:
    priority: Decode
    number: int
    work: Callable[[], Any] = field(compare=False)
    answer: asyncio.Future[Any] = field(compare=False)


class DecodeScheduler:
    """`workers` threads and at most `waiting` jobs in line. One event loop at a time uses it.

    Of several threads one is kept from partials, so that however many callers speak, a final hardly waits.
    """

    def __init__(self, workers: int, waiting: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="asr")
        self._free = workers
        self._kept = 1 if workers > 1 else 0
        self._waiting = waiting
        self._line: list[_Job] = []
        self._numbers = count()
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many jobs are in line that somebody still awaits."""
        return sum(not job.answer.done() for job in self._line)

    async def run(self, priority: Decode, work: Callable[[], T]) -> T:
        """The result of `work`. Raises Busy when the line is full, RecognizerUnavailable after `close`.

        Cancelling the caller takes a waiting job out of the line; one that runs goes on, and its result is dropped.
        """
        if self._closed:
            raise RecognizerUnavailable("the recogniser is closed")
        self._make_room(priority)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._line, _Job(priority, next(self._numbers), work, answer))
        self._start()
        return await answer

    def close(self) -> None:
        """Cancel what waits; running work ends by itself."""
        self._closed = True
        for job in self._line:
            job.answer.cancel()
        self._line.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _make_room(self, priority: Decode) -> None:
        """Drop cancelled jobs, then a partial for the sake of a final. Raises Busy when that is not enough."""
        self._line = [job for job in self._line if not job.answer.done()]
        heapq.heapify(self._line)
        if len(self._line) < self._waiting:
            return
        last = max(self._line)
        if last.priority is not Decode.PARTIAL or priority is Decode.PARTIAL:
            raise Busy("the recogniser's line is full", retry_after_s=RETRY_AFTER_S)
        self._line.remove(last)
        heapq.heapify(self._line)
        last.answer.set_exception(Busy("a final needed the place", retry_after_s=RETRY_AFTER_S))

    def _start(self) -> None:
        """Hand waiting jobs to free threads."""
        while self._free and self._line:
            if self._line[0].priority is Decode.PARTIAL and self._free <= self._kept:
                return
            job = heapq.heappop(self._line)
            if job.answer.done():
                continue
            self._free -= 1
            loop = job.answer.get_loop()
            running = loop.run_in_executor(self._threads, job.work)
            running.add_done_callback(partial(self._finish, job.answer))

    def _finish(self, answer: asyncio.Future[Any], done: asyncio.Future[Any]) -> None:
        self._free += 1
        error = None if done.cancelled() else done.exception()
        if not answer.done():
            if done.cancelled():
                answer.cancel()
            elif error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(done.result())
        if not self._closed:
            self._start()
