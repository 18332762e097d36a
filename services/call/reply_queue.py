"""What waits for the turn handler, which does one thing at a time: replies to be made, and what became of them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from schemas.call import CallEvent, Fault
from schemas.errors import RateLimited, TellerlineError
from schemas.turn import ItemId
from services.call.reply_stream import Draft, ReplyStream
from services.call.user_turn import Commitment, Life, UserTurn
from services.ports import TurnHandler
from services.response import AgentReply, ReplyState, ReplyStep
from services.timing import LEAST_S, asked, finish, within

_WAITING: Final = 16
"""Things that may wait for the turn handler."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a reply, for the handler to know; `into` is the utterance that goes on with a withdrawn turn."""

    reply: AgentReply
    step: ReplyStep
    into: ItemId | None = None


class ReplyQueue:
    """Filled without waiting, emptied in order by `run`."""

    def __init__(self, handler: TurnHandler, replies: ReplyStream, emit: Callable[[CallEvent], None]) -> None:
        self._handler = handler
        self._replies = replies
        self._emit = emit
        self._waiting: asyncio.Queue[tuple[float, Draft | Fate]] = asyncio.Queue()
        self._making: asyncio.Task[None] | None = None
        self._continued: UserTurn | None = None
        self._busy = 0

    @property
    def busy(self) -> bool:
        """Whether something waits for the turn handler or is with it."""
        return self._busy > 0

    @property
    def making(self) -> bool:
        """Whether a reply is being made."""
        return self._making is not None

    def put(self, work: Draft | Fate, *, surely: bool = False) -> None:
        """Let it wait for its turn. Raises RateLimited when too much waits, but `surely` for what a reply owes."""
        if not surely and self._waiting.qsize() >= _WAITING:
            raise RateLimited("too many turns wait for an answer")
        self._waiting.put_nowait((time.monotonic(), work))
        self._busy += 1

    def stop_making(self) -> None:
        """Make no more of the reply that is being made, if one is."""
        if self._making is not None:
            self._making.cancel()

    async def run(self, failed: Callable[[TellerlineError], None]) -> AsyncGenerator[ItemId, None]:
        """Do the work until cancelled. Gives each utterance that continues a turn, once that turn was undone for it.

        `failed` is told why a reply could not be made.
        """
        while True:
            since, work = await self._waiting.get()
            try:
                doing = self._answer(work, since, failed) if isinstance(work, Draft) else self._tell(work)
                undone_for = await self._guarded(doing)
                if undone_for is not None:
                    yield undone_for
            finally:
                self._busy -= 1

    async def note_heard(self) -> None:
        """`run` is over: what was heard is noted all the same, and nothing else is done."""
        while not self._waiting.empty():
            match self._waiting.get_nowait():
                case _, Fate(step=ReplyStep.HEAR) as heard:
                    await self._guarded(self._tell(heard))

    async def _guarded(self, doing: Awaitable[ItemId | None]) -> ItemId | None:
        try:
            return await doing
        except TellerlineError as error:
            if error.fatal:
                raise
            self._emit(Fault(error))
        return None

    async def _answer(self, draft: Draft, since: float, failed: Callable[[TellerlineError], None]) -> None:
        if draft.turn is not None:
            self._go_on_with(draft.turn)
        if draft.reply.state is ReplyState.QUEUED:
            with asked(since):
                await self._make(draft, failed)
            if draft.reply.cut_in_making:
                await self._tell(Fate(draft.reply, ReplyStep.CUT))

    async def _tell(self, outcome: Fate) -> ItemId | None:
        """The utterance for which a turn was undone, where one was. The next turn waits for it, a second at most."""
        with within(LEAST_S):
            match outcome:
                case Fate(reply, ReplyStep.HEAR):
                    await finish(self._handler.delivered(reply.id))
                case Fate(reply, ReplyStep.CUT):
                    await self._handler.interrupted(reply.id)
                case Fate(reply, _, into):
                    return into if await self._undo(reply) else None
        return None

    def _go_on_with(self, turn: Commitment) -> None:
        """The words of a turn that the caller had gone on with come first."""
        if self._continued is not None:
            turn.after(self._continued)
            self._continued = None

    async def _undo(self, reply: AgentReply) -> bool:
        """Whether the turn that `reply` answered is undone; where nothing had come of it, it already is."""
        if reply.state is ReplyState.CUT and await self._handler.withdraw(reply.id):
            reply.step(ReplyStep.WITHDRAW)
        return reply.state is ReplyState.WITHDRAWN

    async def _make(self, draft: Draft, failed: Callable[[TellerlineError], None]) -> None:
        """Say it in a task of its own, so that cutting it leaves this one alive."""
        task = self._making = asyncio.create_task(self._say(draft, failed))
        try:
            await asyncio.wait({task})
        finally:
            self._making = None
            task.cancel()
            await asyncio.wait({task})
        if draft.turn is not None and draft.turn.life is Life.CONTINUED:
            self._continued = draft.turn.turn
        if draft.reply.state is ReplyState.FAILED:
            await self._handler.interrupted(draft.reply.id)
        if not task.cancelled():
            task.result()

    async def _say(self, draft: Draft, failed: Callable[[TellerlineError], None]) -> None:
        error = await self._replies.say(draft)
        if error is not None and not draft.sorry:
            failed(error)
