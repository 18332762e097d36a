"""The pure half of a turn: transcript → spans → payees → meaning. No effect, so it may run ahead of the turn's end."""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from schemas.ids import Locale
from schemas.intent import Context, Heard, SlotName, Understood
from schemas.transcript import Transcript
from schemas.turn import Completeness
from services.audio.endpointing import judge_words
from services.normalize import Normalizer
from services.observe import Stamp, Stamps
from services.payees import PayeeIndex
from services.understand.contested import contested
from services.understand.fast.understander import Understander
from services.understand.rescore import rescored


@dataclass(frozen=True, slots=True)
class Looked:
    """What one utterance holds and means."""

    heard: Heard
    understood: Understood


@dataclass(frozen=True, slots=True)
class Lookout:
    """The stages that only look, for one language and one customer's payees."""

    normalizer: Normalizer
    understander: Understander
    payees: PayeeIndex
    currencies: tuple[str, ...] = ()

    @classmethod
    def of(cls, locale: Locale, payees: PayeeIndex, currencies: tuple[str, ...] = ()) -> "Lookout":
        """The stages of a locale. Raises UnsupportedLocale."""
        return cls(Normalizer.for_locale(locale), Understander.for_locale(locale), payees, currencies)

    def rescore(self, transcript: Transcript, context: Context, now: datetime) -> Transcript:
        """The same hypotheses, the one that is meant first (see `rescored`)."""

        def meaning(led: Transcript) -> Understood:
            return self.look(led, context, now, Stamps(lambda: 0.0)).understood

        return rescored(transcript, context, meaning)

    def look(self, transcript: Transcript, context: Context, now: datetime, stamps: Stamps) -> Looked:
        """What `transcript` means to someone who was asked `context` at `now` (the caller's local time)."""
        with stamps.between(Stamp.NORMALIZATION_START, Stamp.NORMALIZATION_END):
            normalize = partial(self.normalizer.normalize, now=now, currencies=self.currencies)
            spans = contested(transcript, normalize(transcript.text), normalize)
        with stamps.between(Stamp.FUZZY_LOOKUP_START, Stamp.FUZZY_LOOKUP_END):
            taken = tuple((span.start, span.end) for span in spans)
            match = self.payees.find((transcript.text, *transcript.alternatives), transcript.locale, taken)
        heard = Heard(transcript, spans, match)
        understood = self.understander.understand(
            heard, context, lambda name: self.payees.lookup((name,), transcript.locale)
        )
        stamps.mark(Stamp.UNDERSTANDING_END)
        return Looked(heard, understood)


_BY_EAR = frozenset(Completeness) - {Completeness.UNKNOWN}
_MAY_FOLLOW = frozenset({SlotName.AMOUNT, SlotName.PAYEE, SlotName.TARGET})
"""What a caller who pauses may still be about to say; which card or bill is asked for, not waited for."""


def completeness(looked: Looked) -> Completeness:
    """How complete an utterance is: by its last words where they tell, else by what the grammar makes of it."""
    transcript, understood = looked.heard.transcript, looked.understood
    by_ear = judge_words(transcript.text, transcript.locale)
    if by_ear in _BY_EAR or understood.intent is None:
        return by_ear
    named = {mention.slot for mention in understood.unresolved}
    if looked.heard.payees is not None and looked.heard.payees.heard:
        named.add(SlotName.PAYEE)
    awaited = _MAY_FOLLOW.intersection(understood.missing) - named
    return Completeness.MISSING_SLOT if awaited else Completeness.COMPLETE
