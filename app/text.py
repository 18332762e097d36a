"""The text path for QA: one utterance at a time, as a fresh call would understand it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

from pydantic import JsonValue

from app.anyone import anyone, billers
from rules.act import zone
from schemas.banking import CustomerProfile
from schemas.ids import Locale, PayeeId
from schemas.intent import Slots
from schemas.payee import Payee, PayeeMatch
from schemas.span import DateValue, MoneyValue, Span, jsonable
from schemas.text import TextCandidate, TextIn, TextMicros, TextOut, TextPayee, TextPayeeMatch, TextSpan
from schemas.transcript import Transcript
from services.dialogue import DialogueState, Facts, UserUtterance, context_of, decide
from services.interpretation import InterpretationContext, Interpreter, interpret
from services.observability import Stamp, Stamps
from services.payees import PayeeIndex
from services.ports import Clock
from services.response import PhraseBook
from services.session import Caller

_Moment = tuple[Facts, InterpretationContext]


@dataclass(frozen=True, slots=True)
class TextPath:
    """Understands utterances for someone with these payees, and this profile or that of nobody in particular."""

    clock: Clock
    index: PayeeIndex
    payees: Mapping[PayeeId, Payee]
    profile: CustomerProfile | None = None

    @classmethod
    def of_payees(cls, clock: Clock, payees: Sequence[Payee] = ()) -> "TextPath":
        """For nobody in particular with these payees. Raises TooLarge."""
        return cls(clock, PayeeIndex.build(payees), {payee.id: payee for payee in payees})

    @classmethod
    def of_caller(cls, clock: Clock, caller: Caller) -> "TextPath":
        """For a customer."""
        return cls(clock, caller.index, caller.payees, caller.profile)

    def take(self, given: TextIn) -> TextOut:
        """One line in, one line out. Raises UnsupportedLocale."""
        transcript = Transcript.typed(given.text, Locale(given.locale), given.alternatives)
        return self.understand(transcript, given.now, given.id)

    def hear(self, transcript: Transcript) -> tuple[Transcript, TextOut]:
        """A recording's transcript, led by the hypothesis that is meant, and what that leads to."""
        moment = self._moment(transcript.locale, None)
        meant = Interpreter(self.index).meant(transcript, moment[1]).transcript
        return meant, self._read(meant, moment, "")

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        """The same words with each payee who may be meant, where it is not clear who is."""
        return Interpreter(self.index).wordings(transcript, self._moment(transcript.locale, None)[1])

    def understand(self, transcript: Transcript, now: datetime | None = None, identity: str = "") -> TextOut:
        """What a transcript of any source holds, means and leads to."""
        return self._read(transcript, self._moment(transcript.locale, now), identity)

    def _read(self, transcript: Transcript, moment: _Moment, identity: str) -> TextOut:
        facts, context = moment
        stamps = Stamps(time.perf_counter)
        stamps.mark(Stamp.REQUEST_RECEIVED)
        found = interpret(transcript, context, self.index, stamps)
        understood = found.understood
        _, decision = decide(DialogueState(), UserUtterance(transcript.text, understood), facts)
        stamps.mark(Stamp.RESPONSE_SENT)
        reply = getattr(decision, "reply", None)
        return TextOut(
            id=identity,
            spans=[text_span(span) for span in found.spans],
            payee=_match(found.payees),
            intent=understood.intent.value if understood.intent else None,
            slots=slot_values(understood.slots),
            missing=[slot.value for slot in understood.missing],
            route=understood.route.value,
            decision=decision.kind.value,
            confidence=round(understood.confidence, 4),
            rule=understood.rule,
            vetoes=list(understood.vetoes),
            reply=PhraseBook.for_locale(transcript.locale).say(reply) if reply else "",
            micros=_micros(stamps.stages_ms()),
        )

    def _moment(self, locale: Locale, now: datetime | None) -> _Moment:
        """What is known of the caller, and what an utterance is interpreted in."""
        at = now or self.clock.now()
        profile = self.profile or anyone(locale, at)
        local = now or at.astimezone(zone(profile.zone))
        currencies = tuple(dict.fromkeys(account.balance.currency for account in profile.accounts))
        facts = Facts(profile, self._known(locale), local.date(), locale)
        return facts, InterpretationContext(context_of(DialogueState(), facts), local, currencies)

    def _known(self, locale: Locale) -> Mapping[PayeeId, Payee]:
        """The payees, and those behind the bills that nobody in particular has."""
        if self.profile is not None:
            return self.payees
        return dict(self.payees) | {id_: Payee(id_, name) for id_, name in billers(locale)}


def payee_of(given: TextPayee) -> Payee:
    """A payee as QA wrote it."""
    return Payee(
        id=PayeeId(given.id),
        name=given.name,
        kana=given.kana,
        aliases=given.aliases,
        relationship=given.relationship,
        bank=given.bank,
        account_last4=given.account_last4,
    )


def text_span(span: Span) -> TextSpan:
    """A span as JSON."""
    return TextSpan.of(span, readings=[jsonable(reading.value) for reading in span.readings])


def slot_values(slots: Slots) -> dict[str, JsonValue]:
    """The filled slots' values by name."""
    filled = {f.name: getattr(slots, f.name) for f in fields(slots)}
    return {name: _plain(slot.value) for name, slot in filled.items() if slot is not None}


def _plain(value: object) -> JsonValue:
    if isinstance(value, MoneyValue | DateValue | str | int):
        return jsonable(value)
    raise AssertionError(type(value))


def _match(match: PayeeMatch | None) -> TextPayeeMatch | None:
    if match is None:
        return None
    candidates = [TextCandidate(id=c.id, score=round(c.score, 4)) for c in match.candidates]
    return TextPayeeMatch(heard=match.heard, candidates=candidates, choice=match.choice)


def _micros(stages_ms: Mapping[str, float]) -> TextMicros:
    def micros(stage: str) -> int:
        return round(stages_ms.get(stage, 0.0) * 1000)

    return TextMicros(
        normalize=micros("normalization"),
        payee=micros("fuzzy_lookup"),
        understand=micros("understanding"),
        total=micros("total"),
    )
