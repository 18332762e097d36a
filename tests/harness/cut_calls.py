"""A call whose replies are stopped at any await of theirs: an agent over a bank in memory that is slow by steps."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from schemas.banking import Card, CustomerProfile, TransferOrder, TransferState
from schemas.errors import InternalFault, MoneyRefused, NotFound, StepUpRequired
from schemas.ids import EN_US, CallId, CardId, CustomerId, ProposalId
from schemas.stepup import Challenge, proposal_purpose
from schemas.transfer import Owed, Proposal, TransferReceipt
from schemas.turn import HandedOff, ReplyEvent, ReplyId, ReplyText
from services.call.agent import Agent
from services.dialogue import Event, Proposing, Submitting, Unlocking
from services.execution import Banking
from services.payees import PayeeIndex
from services.session import Caller
from services.timing import ManualClock
from tests.harness.dialogue import NOW, PAYEES, PROFILE, heard_in, proposal

CALL, ME = CallId("k"), CustomerId("c")
OPEN, VOID, SPENT = "open", "void", "spent"


@dataclass
class FakeSlowBank:
    """Ledger, cards, second factor and core. Each method takes some steps of the loop before its effect, and after."""

    profile_: CustomerProfile = PROFILE
    faults: dict[str, Exception] = field(default_factory=dict)
    code_for: frozenset[str] = frozenset()
    right: bool = True
    slow: dict[str, int] = field(default_factory=dict)
    rows: dict[ProposalId, str] = field(default_factory=dict)
    orders: dict[ProposalId, TransferOrder] = field(default_factory=dict)
    locked: bool = False
    passed_: set[str] = field(default_factory=set)
    followed: set[ProposalId] = field(default_factory=set)
    told_: set[ProposalId] = field(default_factory=set)

    async def _done(self, name: str, effect: Callable[[], Any] = lambda: None) -> Any:
        fault = self.faults.get(name)
        for _ in range(self.slow.get(name, 1)):
            await asyncio.sleep(0)
        if isinstance(fault, MoneyRefused):
            self._void()
            raise fault
        result = effect()
        for _ in range(self.slow.get(f"{name} answered", 1)):
            await asyncio.sleep(0)
        if fault is not None:
            raise fault
        return result

    # The ledger

    def _propose(self, order: TransferOrder) -> Proposal:
        self._void()
        made = proposal(order, len(self.rows) + 1)
        self.rows[made.id], self.orders[made.id] = OPEN, order
        return made

    def _void(self) -> None:
        self.rows = {id_: VOID if row == OPEN else row for id_, row in self.rows.items()}

    def _spend(self, id_: ProposalId) -> TransferReceipt:
        if proposal_purpose(id_) not in self.passed_ and "transfer" in self.code_for:
            raise StepUpRequired
        if self.rows.get(id_) != OPEN:
            raise NotFound("no such proposal")
        self.rows[id_] = SPENT
        return TransferReceipt(id_, TransferState.SUCCEEDED)

    async def propose(self, _c: CustomerId, _k: CallId, order: TransferOrder) -> Proposal:
        return await self._done("propose", lambda: self._propose(order))  # type: ignore[no-any-return]

    async def delivered(self, *_: Any) -> None:
        await self._done("delivered")

    async def void(self, *_: Any) -> int:
        await self._done("void", self._void)
        return 0

    async def confirm(self, _c: CustomerId, _k: CallId, id_: ProposalId, _seal: str) -> TransferReceipt:
        return await self._done("confirm", lambda: self._spend(id_))  # type: ignore[no-any-return]

    async def owed(self, _: CustomerId) -> list[Owed]:
        return []

    async def told(self, _: CustomerId, receipt: TransferReceipt) -> None:
        await self._done("told", lambda: self.told_.add(receipt.proposal))

    async def follow_up(self, _: CustomerId, id_: ProposalId) -> bool:
        await self._done("follow_up", lambda: self.followed.add(id_))
        return True

    # The rest

    async def profile(self, _: CustomerId) -> CustomerProfile:
        await self._done("profile")
        return replace(self.profile_, cards=(Card(CardId("debit"), "debit card", "0003", locked=self.locked),))

    async def accounts(self, _: CustomerId) -> object:
        return await self._done("accounts", lambda: self.profile_.accounts)

    async def transactions(self, *_: Any) -> object:
        return await self._done("transactions", tuple)

    def _set(self, locked: bool) -> Card:
        if not locked and "card" in self.code_for and not any(p.startswith("card") for p in self.passed_):
            raise StepUpRequired
        self.locked = locked
        return Card(CardId("debit"), "debit card", "0003", locked=locked)

    async def lock(self, *_: Any) -> Card:
        return await self._done("lock", lambda: self._set(True))  # type: ignore[no-any-return]

    async def unlock(self, *_: Any) -> Card:
        return await self._done("unlock", lambda: self._set(False))  # type: ignore[no-any-return]

    async def begin(self, _: CustomerId, purpose: str) -> Challenge:
        return await self._done("begin", lambda: Challenge("1", purpose, "app", NOW, 1))  # type: ignore[no-any-return]

    async def verify(self, _: CustomerId, challenge: Challenge, _code: str) -> bool:
        if self.right:
            self.passed_.add(challenge.purpose)
        return await self._done("verify", lambda: self.right)  # type: ignore[no-any-return]


class FakeTurn:
    """A turn that nobody goes on with."""

    async def commit(self) -> None:
        return


class CutCall:
    """One call over a bank; what is said to it are the dialogue's own events."""

    def __init__(self, bank: FakeSlowBank) -> None:
        self.bank = bank
        clock = ManualClock(NOW)
        profile = replace(PROFILE, cards=(Card(CardId("debit"), "debit card", "0003", locked=bank.locked),))
        caller = Caller(ME, CALL, EN_US, profile, PAYEES, PayeeIndex.build((), NOW.date()))

        async def nothing(*_: Any) -> None: ...

        recorder: Any = SimpleNamespace(turn=nothing, event=nothing, error=lambda _: None)
        given: Any = bank
        self.agent = Agent(caller, Banking(given, given, given, given, clock), given, None, recorder)
        self.replies = 0
        self.locked_at_first = bank.locked
        self.said = ""
        self.handed_off = False

    @property
    def reply(self) -> ReplyId:
        return ReplyId(f"r{self.replies}")

    @property
    def session(self) -> Any:
        return self.agent._session

    async def meet(self, event: Event) -> list[ReplyEvent]:
        """All of a reply to an event; without its being heard."""
        self.replies += 1
        agent = self.agent
        heard = heard_in(self.session._state, event)
        made = agent._recorded(self.reply, lambda trace: agent._pipeline.event(heard, trace, FakeTurn()))
        events: list[ReplyEvent] = []
        async for part in made:
            events.append(part)
            self.handed_off = self.handed_off or isinstance(part, HandedOff)
        self.said += " ".join(event.text for event in events if isinstance(event, ReplyText))
        return events

    async def hear(self, event: Event) -> None:
        """Meet it, and hear the reply out."""
        await self.meet(event)
        await self.agent.delivered(self.reply)

    async def cut(self, event: Event, steps: int) -> bool:
        """Meet it, and stop the reply after so many steps of the loop; False where it was over by then."""
        task = asyncio.ensure_future(self.meet(event))
        for _ in range(steps):
            await asyncio.sleep(0)
        over = task.done()
        task.cancel()
        outcome = (await asyncio.gather(task, return_exceptions=True))[0]
        if isinstance(outcome, Exception):
            await self.apologise(outcome)
        return not over

    async def apologise(self, fault: Exception) -> None:
        """As the call does after a reply that failed."""
        assert isinstance(fault, ZeroDivisionError), fault
        self.replies += 1
        _ = [event async for event in self.agent.failed(InternalFault(), self.reply)]

    async def rest(self) -> None:
        """What was begun has come to its end."""
        if behind := self.agent._deeds._behind:
            await asyncio.wait(behind)

    def sound(self) -> None:
        """Nothing waits for what nobody does, nothing that was done is unknown, nothing given up is open."""
        phase, bank = self.session._state.phase, self.bank
        assert not isinstance(phase, Submitting | Unlocking | Proposing), f"nothing ends {phase}"
        owed = self.agent.owes or bool(self.agent._news._told)
        for id_, row in bank.rows.items():
            known = owed or id_ in bank.followed | bank.told_
            assert row != SPENT or known, "money moved, and nobody says so"
        known = owed or bank.locked == self.locked_at_first or "locked your" in self.said or bank.faults
        assert known, "a card was changed, and nobody says so"
        assert not bank.told_ or "on its way" in self.said, "nobody said what counts as told"
        live = {id_ for id_, row in bank.rows.items() if row == OPEN}
        waits = self.session.proposal
        assert live == ({waits} if waits is not None else set()), "what is open is not what waits for a yes"
