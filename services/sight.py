"""What one call's turns see: the caller as known now, and transcripts, each looked at once.

What was seen ahead of a turn's end serves the turn itself, if context and day are still the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from rules.act import zone
from schemas.banking import CustomerProfile
from schemas.ids import CallId, CustomerId, Locale, PayeeId
from schemas.intent import Context, Understood
from schemas.payee import Payee
from schemas.transcript import Transcript
from services.decide import DialogueState, Facts, context_of
from services.look import Looked, Lookout
from services.observe import Stamps
from services.payees import PayeeIndex
from services.ports import Clock
from services.understand.rescore import rescored


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, what they have, and whom they pay. `locale` holds until they are heard in another one."""

    customer: CustomerId
    call: CallId
    locale: Locale
    profile: CustomerProfile
    payees: Mapping[PayeeId, Payee]
    index: PayeeIndex


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a transcript, in which context and on which day, and when."""

    key: tuple[Transcript, Context, date]
    looked: Looked
    stamps: Stamps


class Sight:
    """Looks at one caller's transcripts. `profile` and `locale` are for the turn to renew."""

    def __init__(self, clock: Clock, caller: Caller) -> None:
        self.profile = caller.profile
        self.locale = caller.locale
        self._clock = clock
        self._caller = caller
        self._ahead: Seen | None = None

    @property
    def facts(self) -> Facts:
        """What the dialogue may know of the caller now."""
        return Facts(self.profile, self._caller.payees, self._now.date(), self.locale)

    def rescore(self, transcript: Transcript, state: DialogueState) -> Transcript:
        """The same hypotheses, led by the one that is meant."""

        def meaning(led: Transcript) -> Understood:
            return self.look(led, state).looked.understood

        return rescored(transcript, context_of(state, self.facts), meaning)

    def look(self, transcript: Transcript, state: DialogueState) -> Seen:
        """What `transcript` holds and means in this state of the dialogue; kept until `take`, or until another one."""
        facts = self.facts
        key = (transcript, context_of(state, facts), facts.today)
        if self._ahead is None or self._ahead.key != key:
            stamps = Stamps(self._clock.monotonic)
            looked = self._lookout(transcript.locale).look(transcript, key[1], self._now, stamps)
            self._ahead = Seen(key, looked, stamps)
        return self._ahead

    def take(self, transcript: Transcript, state: DialogueState) -> Seen:
        """The same, for the turn itself: its stamps go on with it, and nothing is kept."""
        seen, self._ahead = self.look(transcript, state), None
        return seen

    @property
    def _now(self) -> datetime:
        return self._clock.now().astimezone(zone(self.profile.zone))

    def _lookout(self, locale: Locale) -> Lookout:
        currencies = tuple(dict.fromkeys(account.balance.currency for account in self.profile.accounts))
        return Lookout.of(locale, self._caller.index, currencies)
