"""A turn's decisions in words: replies by template, open questions sentence by sentence; and what they wait for."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from schemas.answer import AnswerDone, Question, Refused, SentenceReady
from schemas.decision import Answer, Clarify, Confirm, Decision, Execute, Handoff, Reply
from schemas.ids import CustomerId, Locale, RuleId
from schemas.intent import Intent, Understood
from schemas.turn import Awaits, HandedOff, ModelUse, ReplyEvent, ReplyText
from services.observability import Stamp
from services.ports import Answerer
from services.record import TurnTrace
from services.response.phrases import PhraseBook


@dataclass(frozen=True, slots=True)
class ResponseRenderer:
    """Puts the decisions of one customer's turns into words."""

    answerer: Answerer
    customer: CustomerId
    zone: str

    async def render(
        self, decision: Decision, locale: Locale, trace: TurnTrace, *, asks: bool
    ) -> AsyncIterator[ReplyEvent]:
        """The words of a decision that is not to be carried out first. `trace` notes what they wait for.

        `asks`: whether a question is open after it. Where no document answers, that is for `trace` to tell.
        """
        assert not isinstance(decision, Execute)
        if isinstance(decision, Answer) and decision.question:
            asked = Question(decision.question, locale, zone=self.zone, about=decision.about)
            async for said in self._answer(asked, trace):
                yield said
            if trace.unanswered is not None:
                return
        trace.awaits = _awaits(decision, asks=asks)
        if decision.reply is not None:
            yield said_as(decision.reply, locale)
        if isinstance(decision, Handoff):
            yield HandedOff(decision.reply.id, _summary(trace.understood, decision.left))

    async def _answer(self, asked: Question, trace: TurnTrace) -> AsyncIterator[ReplyEvent]:
        """An open question, sentence by sentence as each may be spoken."""
        with trace.stamps.between(Stamp.LLM_REQUEST_START, Stamp.LLM_REQUEST_END):
            async for event in self.answerer.answer(self.customer, asked):
                match event:
                    case SentenceReady(text, citations):
                        yield ReplyText(text, citations)
                    case Refused(reason):
                        trace.models.append(ModelUse("answer", "", outcome=reason))
                        told = "answer.no_documents" if reason == "no_documents" else "answer.not_found"
                        trace.unanswered = RuleId(told)
                    case AnswerDone(model=model) if model:
                        trace.models.append(ModelUse("answer", model, outcome="answered"))


def said_as(reply: Reply, locale: Locale) -> ReplyText:
    """A reply's sentence."""
    book = PhraseBook.for_locale(locale)
    return ReplyText(book.say(reply), template=reply.id, values=book.values(reply), parts=reply.parts)


def _awaits(decision: Decision, *, asks: bool) -> Awaits:
    if isinstance(decision, Confirm):
        return Awaits.CONFIRMATION
    if isinstance(decision, Handoff):
        return Awaits.END
    return Awaits.ANSWER if asks or isinstance(decision, Clarify) else Awaits.NOTHING


def _summary(understood: Understood, left: Intent | None) -> str:
    """What the person who takes over is told: what was wanted last, in names of ours, never in the caller's words."""
    wanted = understood.intent.value if understood.intent else "unclear"
    waited = f", left {left.value}" if left else ""
    return f"intent {wanted}, missing {', '.join(understood.missing) or 'nothing'}{waited}"
