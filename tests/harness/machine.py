"""A state machine over calls, proposals, corrections, confirmations, lost lines, crashes, restarts and time: its steps.

It keeps its own account of what the caller was promised, from what was said and answered alone, and compares after
every step: money moves only for a yes that counts, once, and nothing that was promised is lost.
"""

import sqlalchemy as sa
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from schemas.banking import TransferOrder, TransferState
from schemas.errors import TellerlineError
from schemas.ids import CallId
from schemas.stepup import proposal_purpose
from schemas.transfer import Proposal, TransferReceipt
from services.banking.tables import challenges
from tests.fakes.bank import FAULTS
from tests.harness.invariants import always, never_recorded_wrongly, reachable
from tests.harness.money import ANN, PER_TRANSFER, STEP_UP_ABOVE, order, states
from tests.harness.money_world import UNSURE, Killed, MoneyWorld, Promise
from tests.harness.rows import rows

CALLS = st.sampled_from([CallId("call-1"), CallId("call-2")])
AMOUNTS = st.sampled_from([1_000, STEP_UP_ABOVE, STEP_UP_ABOVE + 1, PER_TRANSFER, PER_TRANSFER + 1])
ANSWERS = ("right", "right", "other call", "other seal")


class MoneyMachine(MoneyWorld):
    """What the caller, the bank and time do."""

    def _void(self, call: CallId) -> None:
        for promise in self.promises:
            if promise.proposal.call == call and not promise.yes:
                promise.dead = True

    def _alive(self, promise: Promise) -> bool:
        return not promise.dead and not promise.yes and self.clock.now() < promise.proposal.expires_at

    @rule(call=CALLS, minor=AMOUNTS, payee=st.sampled_from(["kim", "kim", "new"]))
    def propose(self, call: CallId, minor: int, payee: str) -> None:
        wanted: TransferOrder = order(minor, payee)  # type: ignore[arg-type] # an id
        outcome = self.attempt(self.house.ledger.propose(ANN, call, wanted))
        if isinstance(outcome, UNSURE):
            self._uncertain(call)
            return
        self._void(call)
        if isinstance(outcome, Proposal):
            assert outcome.order == wanted
            assert minor <= PER_TRANSFER
            self.promises.append(Promise(outcome))

    @rule(call=CALLS)
    def correct(self, call: CallId) -> None:
        outcome = self.attempt(self.house.ledger.void(ANN, call))
        if not isinstance(outcome, UNSURE):
            self._void(call)
        else:
            self._uncertain(call)

    def _uncertain(self, call: CallId) -> None:
        """Voiding was cut off: what is still open is what the database says."""
        now = self.run(states(self.house.store))
        for promise in self.promises:
            if promise.proposal.call == call and now[promise.proposal.id] == "cancelled":
                promise.dead = True

    @precondition(lambda self: self.promises)
    @rule(data=st.data())
    def read_back(self, data: st.DataObject) -> None:
        self.hear(data.draw(st.sampled_from(self.promises[-3:])))

    def hear(self, promise: Promise) -> None:
        proposal, alive = promise.proposal, self._alive(promise)
        outcome = self.attempt(self.house.ledger.delivered(ANN, proposal.call, proposal.id))
        if outcome is None:
            assert alive, "a dead proposal was delivered"
            promise.heard = True
        elif isinstance(outcome, UNSURE):
            promise.heard = promise.heard or self.run(self._heard(proposal))
        else:
            assert not alive

    async def _heard(self, proposal: Proposal) -> bool:
        open_ = await self.house.ledger.open_proposal(ANN)
        return open_ is not None and open_.id == proposal.id and open_.delivered_at is not None

    @precondition(lambda self: self.promises)
    @rule(data=st.data(), how=st.sampled_from(ANSWERS))
    def say_yes(self, data: st.DataObject, how: str) -> None:
        self.agree(data.draw(st.sampled_from(self.promises[-3:])), how)

    @precondition(lambda self: self.promises)
    @rule(how=st.sampled_from(ANSWERS))
    def hear_out_and_say_yes(self, how: str) -> None:
        """The usual way, so that stories get far."""
        self.hear(self.promises[-1])
        self.agree(self.promises[-1], how)

    def agree(self, promise: Promise, how: str) -> None:
        proposal = promise.proposal
        call = CallId("call-9") if how == "other call" else proposal.call
        seal = "0" * 64 if how == "other seal" else proposal.seal
        counts = how == "right" and promise.heard and self._alive(promise)
        counts = counts and (not proposal.step_up_required or promise.stepped_up)
        before = self.run(states(self.house.store))[proposal.id]
        outcome = self.attempt(self.house.ledger.confirm(ANN, call, proposal.id, seal))
        after = self.run(states(self.house.store))[proposal.id]
        if isinstance(outcome, TransferReceipt):
            assert counts, "a yes that does not count moved money"
            assert outcome.state in {TransferState.SUCCEEDED, TransferState.UNKNOWN}
            promise.followed_up = promise.followed_up or outcome.state is TransferState.UNKNOWN
            promise.yes = after not in {"proposed", "cancelled"}
            assert promise.yes or outcome.state is TransferState.UNKNOWN
            promise.dead = promise.dead or after == "cancelled"
        elif isinstance(outcome, Killed):
            promise.yes = promise.yes or (before == "proposed" and after in {"submitting", "unknown", "succeeded"})
            assert not promise.yes or counts or before != "proposed", "a yes that does not count was taken"
        else:
            assert after in {before, "cancelled"}, "a refusal changed something"
            promise.dead = promise.dead or after == "cancelled"
        promise.stepped_up = promise.stepped_up and isinstance(outcome, TellerlineError) and not counts
        if isinstance(outcome, UNSURE):
            promise.stepped_up = self.run(self._passed(proposal))

    async def _passed(self, proposal: Proposal) -> bool:
        """Whether an unspent second factor lies ready for a proposal."""
        c = challenges.c
        ready = (c.purpose == proposal_purpose(proposal.id)) & c.passed_at.is_not(None) & c.spent_at.is_(None)
        return bool(await rows(self.house.store, sa.select(c.id).where(ready)))

    @precondition(lambda self: any(p.proposal.step_up_required and not p.dead for p in self.promises))
    @rule(data=st.data())
    def step_up(self, data: st.DataObject) -> None:
        wanted = [p for p in self.promises if p.proposal.step_up_required and not p.dead]
        promise = data.draw(st.sampled_from(wanted))

        async def through() -> bool:
            challenge = await self.house.step_up.begin(ANN, proposal_purpose(promise.proposal.id))
            return await self.house.step_up.verify(ANN, challenge, self.house.sender.codes[challenge.id])

        outcome = self.attempt(through())
        if isinstance(outcome, UNSURE):
            promise.stepped_up = self.run(self._passed(promise.proposal))
        elif outcome is True:
            promise.stepped_up = True

    @rule(call=CALLS)
    def call_again(self, call: CallId) -> None:
        outcome = self.attempt(self.house.ledger.resume(ANN, call))
        now = self.run(states(self.house.store))
        for promise in self.promises:
            if not promise.yes and now[promise.proposal.id] == "cancelled":
                promise.dead = True
        if isinstance(outcome, Proposal) and all(p.proposal.id != outcome.id for p in self.promises):
            assert outcome.delivered_at is None
            assert outcome.call == call
            for promise in self.promises:  # what was taken up lives on in the new call alone
                taken = (promise.proposal.order, promise.proposal.expires_at) == (outcome.order, outcome.expires_at)
                promise.dead = promise.dead or (taken and not promise.yes)
            self.promises.append(Promise(outcome))

    @rule(fault=st.sampled_from([fault for fault in FAULTS if fault != "hang"]))
    def the_line_is_bad(self, fault: str) -> None:
        self.line.append(fault)

    @rule(fuse=st.integers(0, 40))
    def the_process_will_die(self, fuse: int) -> None:
        self.fuse = fuse

    @rule(points=st.integers(0, 20))
    def the_database_will_fail(self, points: int) -> None:
        """Once, at a point of a write: before it, within it, or after it, when it is durable and can't say so."""
        self.outage = points

    @rule(seconds=st.sampled_from([1, 60, 119, 120, 600, 3600]))
    def time_passes(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule(writes=st.integers(1, 6), done=st.booleans())
    def the_database_will_fall_silent(self, writes: int, done: bool) -> None:
        """Of the coming writes it says nothing, though it may do them."""
        self.silence.writes, self.silence.done = writes, done

    @rule()
    def reconcile(self) -> None:
        self.attempt(self.house.reconciler.run_once())
        now = self.run(states(self.house.store))
        for promise in self.promises:
            promise.dead = promise.dead or (not promise.yes and now[promise.proposal.id] == "cancelled")

    @rule()
    def hear_the_news(self) -> None:
        owed = self.attempt(self.house.ledger.owed(ANN))
        for item in [] if isinstance(owed, TellerlineError | Killed) else owed:
            if item.ended:
                self.told[item.receipt.proposal] = item.receipt.state.value
                self.attempt(self.house.ledger.told(ANN, item.receipt))

    @rule()
    def record(self) -> None:
        self.attempt(self.house.outbox.drain())

    @invariant()
    def holds(self) -> None:
        if not hasattr(self, "house"):
            return
        armed, self.fuse, self.outage = (self.fuse, self.outage), -1, -1
        silent, self.silence.writes = self.silence.writes, 0
        self.run(always(self.house.store))
        self.run(never_recorded_wrongly(self.house.store))
        now = self.run(states(self.house.store))
        for proposal, state in now.items():
            assert reachable(self.seen.get(proposal, "proposed"), state), "a state went back"
        self.seen = now
        promised = {promise.proposal.id for promise in self.promises if promise.yes}
        moved = {id_ for id_, state in now.items() if state in {"submitting", "unknown", "succeeded", "failed"}}
        assert moved == promised, "what moves is not what was promised"
        for proposal, state in self.told.items():
            assert now[proposal] == state, "what was told is no longer so"
        self.fuse, self.outage = armed
        self.silence.writes = silent
