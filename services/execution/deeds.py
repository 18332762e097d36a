"""What one call does: once begun it goes on to its end, whatever becomes of the reply that was to tell of it."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, Final

from schemas.banking import TransferState
from schemas.decision import Action, Confirm, Execute, Reply, SubmitTransfer
from schemas.errors import TellerlineError, TimedOut
from schemas.transfer import UNPROMISED, TransferReceipt
from services.dialogue import ActionFailed, Event, StepUpFailed, StepUpStarted, TransferSettled
from services.execution.executor import ActionExecutor
from services.execution.news import News
from services.session import IRREVOCABLE, DialogueSession, beyond
from services.timing import LEAST_S, AnswerTime, within

_REFRESH_S: Final = 0.5
_GRACE_S: Final = 0.3
"""For what keeps the time itself: it is cut only when it does not."""


class Deeds:
    """Carries a call's decisions out, and lets the dialogue and the news know what came of them."""

    def __init__(self, executor: ActionExecutor, news: News, session: DialogueSession) -> None:
        self._executor = executor
        self._news = news
        self._session = session
        self._unsaid: tuple[Reply, ...] = ()
        self.irrevocable = False
        """Whether something was begun in this turn that nothing takes back."""
        self.open: Action | None = None
        """An irrevocable action of this turn that may have been done."""
        self.time = AnswerTime()
        """Of all that this turn does."""

    def begin(self) -> None:
        """A turn begins."""
        self.irrevocable, self.open = False, None
        self.time.begin()

    def unsaid(self) -> tuple[Reply, ...]:
        """What came of actions whose reply was stopped, to be said once."""
        unsaid, self._unsaid = self._unsaid, ()
        return unsaid

    async def carry_out(self, decision: Execute | Confirm) -> Event:
        """Act on a decision; what came of it. Barge-in stops the reply, never this. Raises TimedOut."""
        if isinstance(decision, Execute):
            if isinstance(decision.action, IRREVOCABLE):
                self.irrevocable, self.open = True, decision.action
            work = self._executor.perform(decision.action)
        else:
            work = self._executor.propose(decision.order)
        task = asyncio.ensure_future(_in_time(work, self.time.left()))
        try:
            event = await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._absorb)
            raise
        if isinstance(event, ActionFailed | StepUpStarted | StepUpFailed):
            self.open = None
        elif self.irrevocable:
            await self._refresh()
        return event

    async def void(self) -> None:
        """What was read back holds no more."""
        with within(LEAST_S):
            await self._executor.void()

    def note(self, receipt: TransferReceipt) -> None:
        """What is now said of a transfer: its end, once heard, is no longer owed; without one, it is awaited."""
        if receipt.state is not TransferState.UNKNOWN:
            self._news.settled(receipt)
        elif receipt.reason != UNPROMISED:
            self._news.await_end(receipt.proposal)

    async def own_up(self, error: TellerlineError, deed: Action | None) -> ActionFailed:
        """How an error is told; after something that can't be undone never as if it could be asked for again."""
        if isinstance(deed, SubmitTransfer):
            kept = await self._executor.follow_up(deed.proposal)
            self._news.await_end(deed.proposal)
            return ActionFailed(error.code, "transfer.unknown" if kept else "transfer.unsure")
        return ActionFailed(error.code, error.spoken if deed is None else "error.after_action")

    async def _refresh(self) -> None:
        """Balances and locks have changed; the old ones serve where the bank can't be asked at once."""
        with contextlib.suppress(TellerlineError, TimeoutError), within(_REFRESH_S):
            async with asyncio.timeout(_REFRESH_S):
                self._session.renew(await self._executor.profile())

    def _absorb(self, task: "asyncio.Task[Event]") -> None:
        """What came of an action whose reply was stopped: the dialogue knows it, and says it next."""
        if task.cancelled() or task.exception() is not None:
            return
        if isinstance(event := task.result(), TransferSettled):
            self.note(event.receipt)
        decision = self._session.decide(event)
        if not isinstance(decision, Execute) and (reply := beyond(decision.reply, self._session.untold)) is not None:
            self._unsaid = (*self._unsaid, reply)


async def _in_time(work: Coroutine[Any, Any, Event], seconds: float) -> Event:
    """An action's outcome, within the time that it may take. Raises TimedOut."""
    try:
        with within(seconds):
            async with asyncio.timeout(seconds + _GRACE_S):
                return await work
    except TimeoutError:
        raise TimedOut("an action took too long") from None
