"""Whole stories as single steps of the money machine: what a fault needs in a row comes up by itself too seldom."""

from hypothesis import strategies as st
from hypothesis.stateful import rule

from schemas.ids import CallId
from tests.harness.machine import ANSWERS, CALLS, MoneyMachine
from tests.harness.money import PER_TRANSFER, STEP_UP_ABOVE
from tests.harness.money_world import Promise


class MoneyStories(MoneyMachine):
    """The machine, and stories told to it."""

    def _ordered(self, call: CallId, minor: int) -> Promise | None:
        """Order, and hear the read-back out."""
        known = len(self.promises)
        self.propose(call, minor, "kim")
        if len(self.promises) == known:
            return None
        self.hear(self.promises[-1])
        return self.promises[-1]

    @rule(call=CALLS, minor=st.sampled_from([1_000, STEP_UP_ABOVE + 1]), how=st.sampled_from(ANSWERS))
    def order_and_agree(self, call: CallId, minor: int, how: str) -> None:
        if promise := self._ordered(call, minor):
            self.agree(promise, how)
            self.agree(promise, "right")

    @rule()
    def fill_the_day(self) -> None:
        """Three orders that are each within the limits and together above the day's, two of them open at once."""
        if promise := self._ordered(CallId("call-1"), STEP_UP_ABOVE):
            self.agree(promise, "right")
        both = [self._ordered(CallId(call), STEP_UP_ABOVE) for call in ("call-1", "call-2")]
        for promise in filter(None, both):
            self.agree(promise, "right")

    @rule(faults=st.lists(st.sampled_from(["lost_request", "lost_answer", "pending"]), min_size=1, max_size=3))
    def agree_over_a_bad_line(self, faults: list[str]) -> None:
        if promise := self._ordered(CallId("call-1"), 1_000):
            self.line.extend(faults)
            self.agree(promise, "right")
        for _ in faults:
            self.clock.advance(600)
            self.attempt(self.house.reconciler.run_once())

    @rule()
    def agree_in_the_old_call(self) -> None:
        """The line drops after the read-back, another call takes the order up, and both say yes."""
        if promise := self._ordered(CallId("call-1"), 1_000):
            self.call_again(CallId("call-2"))
            self.agree(promise, "right")
            self.hear(self.promises[-1])
            self.agree(self.promises[-1], "right")
            self.agree(promise, "right")

    @rule(seconds=st.sampled_from([119, 120, 600]))
    def agree_late(self, seconds: int) -> None:
        if promise := self._ordered(CallId("call-2"), 1_000):
            self.clock.advance(seconds)
            self.agree(promise, "right")

    @rule()
    def agree_unheard_or_taken_back(self) -> None:
        self.propose(CallId("call-1"), 1_000, "kim")
        if self.promises:
            self.agree(self.promises[-1], "right")
        if promise := self._ordered(CallId("call-1"), 1_000):
            self.correct(CallId("call-1"))
            self.agree(promise, "right")

    @rule(call=CALLS)
    def agree_after_a_refused_correction(self, call: CallId) -> None:
        if promise := self._ordered(call, 1_000):
            self.propose(call, PER_TRANSFER + 1, "kim")
            self.agree(promise, "right")

    @rule(points=st.integers(0, 5))
    def agree_while_the_database_fails(self, points: int) -> None:
        if promise := self._ordered(CallId("call-1"), 1_000):
            self.outage = points
            self.agree(promise, "right")

    @rule(writes=st.integers(1, 4), done=st.booleans(), crash=st.booleans())
    def agree_while_the_database_says_nothing(self, writes: int, done: bool, crash: bool) -> None:
        """Then it is well again, perhaps after a restart, and the customer asks what became of it."""
        if promise := self._ordered(CallId("call-1"), 1_000):
            self.silence.writes, self.silence.done = writes, done
            self.agree(promise, "right")
            if crash:
                self.run(self._restart())
            self.reconcile()
            self.hear_the_news()

    @rule(points=st.integers(0, 2), crash=st.booleans())
    def record_what_settled_while_the_database_fails(self, points: int, crash: bool) -> None:
        if promise := self._ordered(CallId("call-2"), 1_000):
            self.agree(promise, "right")
            if crash:
                self.fuse = points
            else:
                self.outage = points
            self.record()
