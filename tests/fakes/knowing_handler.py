"""A call's handler that knows its caller and asks back whatever is said, for tests of what is recorded."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

from app.anyone import anyone
from app.recordings.live import KnowingHandler
from schemas.decision import Clarify, Reply
from schemas.errors import ModelUnavailable, TellerlineError
from schemas.ids import EN_US, CallId, CustomerId, Locale, RuleId
from schemas.intent import Intent, Understood
from schemas.interpretation import Interpretation
from schemas.span import Span, SpanKind
from schemas.transcript import Transcript
from schemas.turn import Decided, Normalized, ReplyDone, ReplyEvent, ReplyId, ReplyText
from services.payees import PayeeIndex
from services.ports import Amendable
from services.session import Caller
from services.timing.clock import ManualClock


class FakeHandler:
    """Asks back whatever is said; digits are spans of digits, "fail" fails, before anything is known if "at once"."""

    owes = False
    locale = EN_US

    def __init__(self, caller: Caller) -> None:
        self.caller = caller

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        return ()

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        return ""

    def interpret(self, transcript: Transcript) -> Interpretation:
        return Interpretation(replace(transcript))

    async def take(
        self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None
    ) -> AsyncIterator[ReplyEvent]:
        if transcript.text == "fail at once":
            raise ModelUnavailable("down")
        digits = (Span(SpanKind.DIGITS, "four two", 0, 8, "42", RuleId("d@1")),)
        yield Normalized(digits if "four two" in transcript.text else ())
        if transcript.text == "fail":
            raise ModelUnavailable("down")
        yield Decided(Understood(Intent.TRANSFER_MONEY), Clarify(Reply(RuleId("ask.amount@1"))))
        yield ReplyText("How much?", template=RuleId("ask.amount@1"))
        yield ReplyDone()

    async def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        yield ReplyDone()

    async def withdraw(self, reply: ReplyId) -> bool:
        return False

    async def delivered(self, reply: ReplyId) -> None: ...

    async def interrupted(self, reply: ReplyId) -> None: ...

    async def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        yield ReplyDone()

    async def close(self, *, hung_up: bool = False) -> None: ...


async def fake_handler(customer: CustomerId, call: CallId, locale: Locale) -> KnowingHandler:
    clock = ManualClock(datetime(2026, 1, 15, tzinfo=UTC))
    return FakeHandler(Caller(customer, call, locale, anyone(locale, clock.now()), {}, PayeeIndex.build(())))
