"""A turn handler for tests of the call around it: it answers by a table and keeps a journal of what it was told."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

from schemas.errors import TellerlineError
from schemas.ids import EN_US, Locale
from schemas.intent import Intent, SlotName, Understood
from schemas.interpretation import Interpretation
from schemas.transcript import Hypothesis, Transcript
from schemas.turn import Awaits, Completeness, ReplyDone, ReplyEvent, ReplyId, ReplyText
from services.ports import Amendable

UNDERSTOOD = {
    Completeness.COMPLETE: Understood(Intent.BALANCE_INQUIRY),
    Completeness.MISSING_SLOT: Understood(Intent.TRANSFER_MONEY, missing=(SlotName.PAYEE,)),
}


class FakeTurnHandler:
    """`answers` gives the reply to a text (without one, it is repeated), `meant` what is taken to be meant by it.

    `judgements` says which texts are whole commands, and which lack something.
    """

    def __init__(
        self,
        answers: Mapping[str, tuple[ReplyEvent, ...]] | None = None,
        judgements: Mapping[str, Completeness] | None = None,
        *,
        meant: Mapping[str, str] | None = None,
        undo: bool = True,
    ) -> None:
        self.answers = answers or {}
        self.judgements = judgements or {}
        self.meant = meant or {}
        self.undo = undo
        self.others: dict[str, tuple[str, ...]] = {}
        self.foreseeing: dict[str, str] = {}
        self.pause_s = 0.0
        self.thinking_s = 0.0
        self.error: TellerlineError | None = None
        self.journal: list[tuple[str, str]] = []
        self.closed = False
        self.owes = False
        self.locale = EN_US

    def told(self, kind: str) -> list[str]:
        return [what for name, what in self.journal if name == kind]

    def interpret(self, transcript: Transcript) -> Interpretation:
        text = self.meant.get(transcript.text, transcript.text)
        judged = self.judgements.get(text)
        led = replace(transcript, text=text, hypotheses=(Hypothesis(text, -0.1), *transcript.hypotheses[1:]))
        self.journal.append(("interpret", text))
        return Interpretation(led, understood=UNDERSTOOD.get(judged, Understood(None)) if judged else Understood(None))

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        self.journal.append(("wordings", transcript.text))
        return self.others.get(transcript.text, ())

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        assert isinstance(words, Interpretation) == whole, "what is whole was interpreted"
        return self.foreseeing.get(words.transcript.text if isinstance(words, Interpretation) else words.text, "")

    async def take(
        self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None
    ) -> AsyncIterator[ReplyEvent]:
        self.journal.append(("take", transcript.text))
        await asyncio.sleep(self.thinking_s)
        if self.error is not None:
            raise self.error
        usual = (ReplyText(f"You said: {transcript.text}."), ReplyDone(Awaits.ANSWER))
        for event in self.answers.get(transcript.text, usual):
            yield event
            await asyncio.sleep(self.pause_s)

    async def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        self.journal.append(("failed", error.code))
        yield ReplyText("Something went wrong. Please say it again.")
        yield ReplyDone(Awaits.ANSWER)

    async def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        self.journal.append(("silence", reply))
        yield ReplyText("Are you still there?")
        yield ReplyDone(Awaits.ANSWER)

    async def withdraw(self, reply: ReplyId) -> bool:
        self.journal.append(("withdraw", reply))
        return self.undo

    async def delivered(self, reply: ReplyId) -> None:
        self.journal.append(("delivered", reply))

    async def interrupted(self, reply: ReplyId) -> None:
        self.journal.append(("interrupted", reply))

    async def welcome(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent]:
        self.journal.append(("welcome", reply))
        yield ReplyText("Hello. What can I do for you?")
        yield ReplyDone()

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        return None

    has_news = False

    async def news(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        yield ReplyDone()

    async def close(self, *, hung_up: bool = False) -> None:
        self.closed = True
