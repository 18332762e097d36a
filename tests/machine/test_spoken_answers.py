"""A caller whose answers come in pieces: cut at any word, after any pause, spoken, typed, keyed, over lines that drop.

It keeps its own account: an answer is over when nothing has been said, typed or keyed for long, and only one that is a
plain yes as a whole may move money, once, after it was over, and its outcome is the last thing that was to be heard.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deploy.bench._answers.heard import InProcess, in_process
from deploy.bench._answers.said import AnswerCase, babbled, load
from deploy.bench._calls.oracle import Oracle
from schemas.call import KeyIn, TypedIn
from schemas.ids import CallId, CustomerId, Locale
from services.audio.vad import SileroVad
from services.call.user_turn import Commitment
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import Running, running_app

ANSWERS: Final = {one.locale: one for one in load().languages}
PLAIN: Final = {"en-US": ("yes", "yes please", "that's right", "go ahead"), "ja-JP": ("はい", "はい、お願いします")}
"""Answers that move money, whichever way they are given."""
PAUSES: Final = st.sampled_from((0.0, 0.15, 0.3, 0.5, 0.65, 0.7))
LONG_S: Final = 3.0
"""Longer than any wait."""
VAD: Final = SileroVad()


class Story:
    """One caller of one bank, over one call after another; what they do is drawn from `data`."""

    def __init__(self, app: Running, data: st.DataObject, locale: str) -> None:
        self.app = app
        self.data = data
        self.answers, self.locale = ANSWERS[locale], Locale(locale)
        self.line = AsyncExitStack()
        self.oracle = Oracle(())
        self.calls = self.utterances = self.moved = 0

    async def tell(self, steps: int) -> None:
        """So many orders, each answered in one of the ways."""
        ways = (self.a_plain_yes, self.a_yes_that_goes_on, self.a_yes_and_a_key, self.the_line_drops_within_the_wait)
        await self._call()
        try:
            for _ in range(steps):
                await self.call.put(TypedIn(self.answers.order))
                await self.call.heard_out()
                await self.data.draw(st.sampled_from(ways))()
        finally:
            await self.line.aclose()

    async def _call(self) -> None:
        self.calls += 1
        callers = self.app.gateway.callers
        handler = await callers.open(CustomerId(self.answers.customer), CallId(f"call-{self.calls}"), self.locale)
        self.call: InProcess = await self.line.enter_async_context(in_process(handler, self.oracle, VAD, self.locale))
        await self.call.put()

    async def a_plain_yes(self) -> None:
        await self._answer(self.data.draw(st.sampled_from(PLAIN[self.locale])), moves=True)

    async def a_yes_that_goes_on(self) -> None:
        parts = self.answers.seen
        first = self.data.draw(st.sampled_from(parts.first))
        kinds = ("refusal", "condition", "question")
        then = self.data.draw(st.sampled_from([words for kind in kinds for words in parts.stays[kind]]))
        await self._answer(f"{first} {then}" if self.locale == "en-US" else first + then, moves=False)

    async def a_yes_and_a_key(self) -> None:
        """A key within the wait belongs to the answer, which is then no plain yes."""
        pause_s = self.data.draw(PAUSES)
        await self.call.put(TypedIn(self.data.draw(st.sampled_from(PLAIN[self.locale]))))
        await self._pass(pause_s)
        assert self._count() == self.moved, "booked before the answer was over"
        await self.call.put(KeyIn("1"))
        await self._pass(pause_s)
        await self.call.put(KeyIn(self.data.draw(st.sampled_from("123#"))))
        await self._pass(LONG_S + 1.0)
        await self._settle(moves=False)

    async def the_line_drops_within_the_wait(self) -> None:
        """What was not committed is not done; the next call reads it back."""
        await self.call.put(TypedIn(self.data.draw(st.sampled_from(PLAIN[self.locale]))))
        await self._pass(self.data.draw(PAUSES))
        assert self._count() == self.moved, "booked before the answer was over"
        await self._give_up()

    # How an answer is given

    async def _answer(self, words: str, *, moves: bool) -> None:
        units = words.split() if self.locale == "en-US" else list(words)
        joiner = " " if self.locale == "en-US" else ""
        cuts = sorted(self.data.draw(st.sets(st.integers(1, len(units) - 1), max_size=3))) if len(units) > 1 else []
        pieces = [joiner.join(units[a:b]) for a, b in zip([0, *cuts], [*cuts, len(units)], strict=True)]
        pauses = [self.data.draw(PAUSES) for _ in pieces[1:]]
        if self.data.draw(st.booleans()):
            await self._typed(pieces, pauses)
        else:
            await self._spoken(pieces, self.data.draw(PAUSES))
        await self._settle(moves=moves)

    async def _typed(self, pieces: list[str], pauses: list[float]) -> None:
        for piece, pause_s in zip(pieces, [*pauses, 0.0], strict=True):
            await self.call.put(TypedIn(piece))
            await self._pass(pause_s)
            assert self._count() == self.moved, "booked before the answer was over"
        await self._pass(LONG_S)

    async def _spoken(self, pieces: list[str], pause_s: float) -> None:
        self.utterances += 1
        head = (self.answers.order, str(self.locale), self.answers.customer)
        said = AnswerCase(
            *head, f"voice {self.utterances}", "test", " | ".join(pieces), pause_s, moves=False, unseen=False
        )
        utterance = babbled(said)
        self.oracle.know(utterance)
        end_s = self.call.say(utterance)
        while self.call.now_s < end_s:
            assert self._count() == self.moved, "booked before the answer was over"
            await self.call.listen()
        await self._pass(LONG_S)

    async def _pass(self, seconds: float) -> None:
        until = self.call.now_s + seconds
        while self.call.now_s < until:
            await self.call.listen()

    def _count(self) -> int:
        return len(self.call.phone.moved_s)

    async def _settle(self, *, moves: bool) -> None:
        """Judge what the answer came to; whoever was asked again says no more until all was heard."""
        now = self._count()
        assert now - self.moved <= int(moves), f"money moved against the words, or twice: {self._said()}"
        assert not moves or now == self.moved + 1, f"a plain yes moved nothing: {self._said()}"
        await self.call.heard_out()
        if now > self.moved:
            last, outcome = list(self.call.phone.replies)[-1], self.call.phone.moved_by[-1]
            assert last == outcome, "the outcome is said last"
            assert self.call.phone.replies[last].heard, "the outcome is heard"
        self.moved = now
        if not moves:
            await self._give_up()

    async def _give_up(self) -> None:
        """Another call, in which what was left open is read back and dropped."""
        await self.line.aclose()
        await self._call()
        await self.call.heard_out()
        assert self._count() == 0, "a new call moved money by itself"
        await self.call.put(TypedIn("start over" if self.locale == "en-US" else "最初から"))
        await self.call.heard_out()
        self.moved = self._count()
        assert self.moved == 0

    def _said(self) -> list[str]:
        return [reply.text for reply in self.call.phone.replies.values()]


def play(data: st.DataObject, folder: Path) -> None:
    """One story in a fresh bank."""
    locale, steps = data.draw(st.sampled_from(sorted(ANSWERS))), data.draw(st.integers(1, 5))

    async def told() -> None:
        async with running_app(folder, FakeRecognizer(lambda _: "")) as app:
            await Story(app, data, locale).tell(steps)

    asyncio.run(told())


GENERATED = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


@pytest.mark.timeout(600)
@settings(GENERATED, max_examples=8, phases=[Phase.generate])
@given(data=st.data())
def test_no_answer_in_pieces_is_booked_before_it_is_over(data: st.DataObject) -> None:
    with TemporaryDirectory(prefix="spoken-") as folder:
        play(data, Path(folder))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(GENERATED, max_examples=150)
@given(data=st.data())
def test_no_answer_of_many_in_pieces_is_booked_before_it_is_over(data: st.DataObject) -> None:
    with TemporaryDirectory(prefix="spoken-") as folder:
        play(data, Path(folder))


async def _at_once(turn: Commitment) -> None:
    """A planted fault: nobody waits for the end of an answer."""
    turn.look()


@pytest.mark.timeout(600)
def test_a_yes_that_is_committed_at_once_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Commitment, "commit", _at_once)
    folders = iter(range(1_000))

    @settings(GENERATED, max_examples=20, phases=[Phase.generate])
    @given(data=st.data())
    def played(data: st.DataObject) -> None:
        play(data, tmp_path / str(next(folders)))

    with pytest.raises(BaseException, match=r"before the answer was over|against the words"):
        played()
