"""What one call does: once begun it goes on to its end, whatever becomes of the reply that was to tell of it."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeGuard

from schemas.banking import TransferState
from schemas.decision import Action, Confirm, Decision, Execute, Handoff, Reply, SubmitTransfer
from schemas.errors import InternalFault, TellerlineError, TimedOut
from schemas.transfer import UNPROMISED, TransferReceipt
from services.dialogue import ActionFailed, Event, Proposed, StepUpFailed, StepUpStarted, TransferSettled, beyond
from services.execution.executor import ActionExecutor
from services.execution.news import News
from services.ports import Amendable
from services.session import IRREVOCABLE, DialogueSession
from services.timing import LEAST_S, AnswerTime, finish, within

log = logging.getLogger(__name__)

MOST_STEPS: Final = 8
"""Decisions one event may lead to; the longest way (confirm, step up, submit, say) takes four."""
_REFRESH_S: Final = 0.5
_GRACE_S: Final = 0.3
"""For what keeps the time itself: it is cut only when it does not."""
Deed = Execute | Confirm


def acts(decision: Decision) -> TypeGuard[Deed]:
    """Whether something is to be done before there are words: an action, or the sealing of an order."""
    return isinstance(decision, Execute) or (isinstance(decision, Confirm) and decision.reply is None)


@dataclass(eq=False, slots=True)
class _Doing:
    """What a turn does. `earlier`: what was still under way of those before it when it began."""

    earlier: tuple[asyncio.Task[None], ...] = ()
    time: AnswerTime = field(default_factory=AnswerTime)
    amendable: Amendable | None = None
    irrevocable: bool = False
    open: Action | None = None  # an irrevocable action of which nobody knows yet what came of it
    sealing: bool = False  # an order is being sealed, of which nothing is decided yet
    voids: bool = False  # what was read back is given up before anything else is done
    undone: bool = False  # it was withdrawn, or the caller hung up: nothing of it is decided any more

    @property
    def whole(self) -> bool:
        """Whether the caller can't go on with it any more, for all that is known."""
        return self.amendable is None or self.irrevocable


class Deeds:
    """Carries a call's decisions out, and lets the dialogue and the news know what came of them."""

    def __init__(self, executor: ActionExecutor, news: News, session: DialogueSession) -> None:
        self._executor = executor
        self._news = news
        self._session = session
        self._turn = _Doing()
        self._sealing: _Doing | None = None
        self._behind: dict[asyncio.Task[None], _Doing] = {}
        self._unsaid: list[tuple[_Doing, Reply]] = []
        self._late: list[TransferReceipt] = []
        self._owning_up: asyncio.Task[None] | None = None
        self._handoff: Handoff | None = None

    @property
    def irrevocable(self) -> bool:
        """Whether something was begun in this turn that nothing takes back."""
        return self._turn.irrevocable

    @property
    def time(self) -> AnswerTime:
        """Of all that this turn does."""
        return self._turn.time

    @property
    def waiting(self) -> bool:
        """Whether there are words of a stopped reply to be said."""
        return bool(self._unsaid or self._handoff)

    @property
    def speaks(self) -> bool:
        """Whether such words are all that there is to be said now."""
        return bool(self._unsaid) and self._handoff is None

    def begin(self) -> None:
        """A turn begins, and tells what has come to its end since the one before began."""
        self._turn = _Doing(tuple(self._behind))
        for receipt in self._late:
            self._news.settled(receipt)
        self._late.clear()

    def unsaid(self) -> tuple[Reply, ...]:
        """What came of actions whose reply was stopped, to be said once."""
        unsaid, self._unsaid = self._unsaid, []
        return tuple(said for _, said in unsaid)

    def person(self) -> Handoff | None:
        """The person that was decided on behind a stopped reply, to be brought in once."""
        handoff, self._handoff = self._handoff, None
        return handoff

    async def decided(self, event: Event, turn: Amendable | None) -> Decision:
        """On what can't be undone once the turn is over, by what is known then. Until then nothing holds."""
        self._turn.amendable = turn
        if turn is not None and self._session.would_bind(event):
            with self.time.paused():
                await turn.commit()
        decision = self._decide(event, self._turn)
        await self._give_up(decision, self._turn)
        return decision

    async def carry_out(self, decision: Deed) -> Event:
        """Act on a decision; what came of it. Barge-in stops the reply, never this. Raises TimedOut.

        Where the reply ends before the deed, or the deed in an error, the rest is done behind it.
        """
        deed = asyncio.ensure_future(self._act(decision, self._turn))
        try:
            return await asyncio.shield(deed)
        except BaseException as ending:
            behind = asyncio.create_task(self._carried_on(deed, decision, self._turn))
            self._behind[behind] = self._turn
            behind.add_done_callback(self._ended)
            if isinstance(ending, Exception):
                self._owning_up = behind
            raise

    async def own_up(self, error: TellerlineError) -> ActionFailed | None:
        """How the error of a reply is told; None where that of a deed is said beside all else that was left unsaid."""
        owning_up, self._owning_up = self._owning_up, None
        if owning_up is not None:
            await asyncio.wait({owning_up})
        return None if self.speaks else await self._owned_up(error, None)

    def note(self, receipt: TransferReceipt, *, late: bool = False) -> None:
        """What is said of a transfer: its end, once heard, is no longer owed; without one, it is awaited.

        `late`: by the next reply, not by the one that is being made.
        """
        if receipt.state is not TransferState.UNKNOWN:
            self._late.append(receipt) if late else self._news.settled(receipt)
        elif receipt.reason != UNPROMISED:
            self._news.await_end(receipt.proposal)

    async def withdraw(self) -> bool:
        """Undo the turn; False where something came of it, or of another one since, that nothing takes back."""
        if self.irrevocable or not self._session.revocable:
            return False
        self._turn.undone = True
        self._unsaid = [said for said in self._unsaid if said[0] is not self._turn]
        if self._session.take_back():
            await self._executor.void()
        return True

    async def close(self, *, hung_up: bool) -> None:
        """The call is over: what was begun comes to its end; who hangs up leaves nothing that waits for a yes."""
        if hung_up:
            for turn in (self._turn, *self._behind.values()):
                turn.undone = True
        if self._behind:
            await asyncio.wait(self._behind)
        if hung_up and self._executor.proposed:
            await self._void()

    def _act(self, decision: Deed, turn: _Doing) -> Coroutine[Any, Any, Event]:
        if isinstance(decision, Confirm):
            if self._sealed_by_another(turn):
                self._session.revocable = False  # that seal is given up for this one
            self._sealing, turn.sealing = turn, True
        elif isinstance(decision.action, IRREVOCABLE):
            turn.irrevocable = True
        return self._acted(decision, turn)

    async def _acted(self, decision: Deed, turn: _Doing) -> Event:
        if turn.voids:
            turn.voids = False
            await self._void()
        if isinstance(decision, Execute):
            turn.open = decision.action if isinstance(decision.action, IRREVOCABLE) else None
            work = self._executor.perform(decision.action)
        else:
            if turn.earlier:  # of two seals the later one holds
                await asyncio.wait(turn.earlier)
            work = self._executor.propose(decision.order)
        event = await _in_time(work, turn.time.left())
        if turn.open is not None and not isinstance(event, ActionFailed | StepUpStarted | StepUpFailed):
            await self._refresh()
        turn.open = None
        return event

    def _decide(self, event: Event, turn: _Doing) -> Decision:
        turn.sealing = False
        decision = self._session.decide(event, late=turn is not self._turn)
        turn.voids = self._session.voids or self._unwanted(event)
        return decision

    def _unwanted(self, event: Event) -> bool:
        """Whether an order was sealed for which nobody waits any more."""
        return isinstance(event, Proposed) and self._session.proposal != event.proposal.id

    async def _give_up(self, decision: Decision, turn: _Doing) -> None:
        """What was read back and is given up is void before a word of that is said; an action does so itself."""
        if turn.voids and not acts(decision):
            turn.voids = False
            await finish(self._void())

    async def _carried_on(self, deed: "asyncio.Task[Event]", decision: Deed, turn: _Doing) -> None:
        """What a stopped reply had begun goes on until there are words, which the next reply says."""
        event = await self._certain(deed, decision, turn)
        for _ in range(MOST_STEPS):
            sealing = isinstance(decision, Confirm)
            if turn.undone or (sealing and self._sealing is not turn):
                if sealing:
                    await self._void()
                turn.sealing = False
                return
            if not turn.whole and self._session.would_bind(event):
                return  # nothing irrevocable is done for what the caller may have gone on with
            if isinstance(event, TransferSettled):
                self.note(event.receipt, late=turn is not self._turn)
            after = self._decide(event, turn)
            if not acts(after):
                if not self._unwanted(event):
                    self._leave(after, turn)
                await self._give_up(after, turn)
                return
            if isinstance(after, Confirm) and self._sealed_by_another(turn):
                return  # a later turn has it sealed
            decision = after
            event = await self._certain(self._act(decision, turn), decision, turn)

    def _sealed_by_another(self, turn: _Doing) -> bool:
        return self._sealing is not None and self._sealing is not turn and self._sealing.sealing

    def _leave(self, decision: Decision, turn: _Doing) -> None:
        """Words for the next reply."""
        if isinstance(decision, Handoff):
            self._handoff = decision
        elif not isinstance(decision, Execute) and (said := beyond(decision.reply, self._session.retold)) is not None:
            self._unsaid.append((turn, said))

    async def _certain(self, deed: Awaitable[Event], decision: Deed, turn: _Doing) -> Event:
        """What came of a deed behind a stopped reply: a failure is owned up to as well."""
        try:
            return await deed
        except asyncio.CancelledError:
            if (this := asyncio.current_task()) is not None and this.cancelling():
                raise
            error: TellerlineError = InternalFault("an action was called off")
        except TellerlineError as failed:
            error = failed
        except Exception as fault:
            log.exception("an action failed behind its reply: %s", type(fault).__name__)
            error = InternalFault("an action failed")
        if isinstance(decision, Confirm):
            await self._void()  # it may be sealed all the same
        return await self._owned_up(error, turn.open)

    async def _owned_up(self, error: TellerlineError, deed: Action | None) -> ActionFailed:
        if isinstance(deed, SubmitTransfer):
            kept = await self._executor.follow_up(deed.proposal)
            self._news.await_end(deed.proposal)
            return ActionFailed(error.code, "transfer.unknown" if kept else "transfer.unsure")
        done = deed is not None or self._session.untold
        return ActionFailed(error.code, "error.after_action" if done else error.spoken)

    async def _void(self) -> None:
        """What was read back holds no more."""
        with within(LEAST_S):
            await self._executor.void()

    async def _refresh(self) -> None:
        """Balances and locks have changed; the old ones serve where the bank can't be asked at once."""
        with contextlib.suppress(TellerlineError, TimeoutError), within(_REFRESH_S):
            async with asyncio.timeout(_REFRESH_S):
                self._session.renew(await self._executor.profile())

    def _ended(self, behind: "asyncio.Task[None]") -> None:
        del self._behind[behind]
        if not behind.cancelled() and (fault := behind.exception()) is not None:
            log.error("what a stopped reply had begun was not carried on: %s", type(fault).__name__)


async def _in_time(work: Coroutine[Any, Any, Event], seconds: float) -> Event:
    """An action's outcome, within the time that it may take. Raises TimedOut."""
    try:
        with within(seconds):
            async with asyncio.timeout(seconds + _GRACE_S):
                return await work
    except TimeoutError:
        raise TimedOut("an action took too long") from None
