"""Where one call's dialogue stands. Nothing else reads or keeps the dialogue's state."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from rules.act import zone
from schemas.banking import CustomerProfile
from schemas.decision import (
    Answer,
    Clarify,
    Decision,
    Execute,
    Handoff,
    LockCard,
    Reply,
    SubmitTransfer,
    UnlockCard,
    VerifyStepUp,
)
from schemas.extraction import ExtractionOffer
from schemas.ids import CallId, CustomerId, Locale, PayeeId, ProposalId
from schemas.intent import Intent
from schemas.interpretation import Interpretation
from schemas.payee import Payee
from schemas.transfer import Owed
from schemas.turn import ReplyId
from services.dialogue import (
    DialogueState,
    Event,
    Facts,
    Idle,
    Outcome,
    OutcomesHeard,
    UserUtterance,
    Waiting,
    amount_open,
    context_of,
    decide,
    foreseen,
    notice,
    unheard,
    voided,
)
from services.interpretation import InterpretationContext
from services.payees import PayeeIndex
from services.ports import Clock
from services.understanding.extraction.ground import offer_of

IRREVOCABLE: Final = (LockCard, UnlockCard, SubmitTransfer, VerifyStepUp)
"""Actions that nothing takes back; a hand-off is the decision of that kind."""
_ANSWERS: Final = frozenset({Intent.CONFIRM, Intent.DENY})
_CALLING: Final = "calling"
"""The rule of a greeting."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, what they have, and whom they pay. `locale` holds until they are heard in another one."""

    customer: CustomerId
    call: CallId
    locale: Locale
    profile: CustomerProfile
    payees: Mapping[PayeeId, Payee]
    index: PayeeIndex


class DialogueSession:
    """The dialogue of one call, and what each of its replies carries: a read-back, and what was done."""

    def __init__(self, clock: Clock, caller: Caller) -> None:
        self._clock = clock
        self._payees = caller.payees
        self._profile = caller.profile
        self._state = self._before = DialogueState()
        self.revocable = True
        """Whether nothing has happened since the turn began but the turn itself."""
        self._late: tuple[Outcome, ...] = ()
        self._gave_up = False
        self.voids = False
        """Whether the last decision gave up what was read back."""
        self._read_back: ReplyId | None = None
        self._telling: tuple[ReplyId | None, tuple[Outcome, ...]] = (None, ())
        self.locale = caller.locale

    # Where it stands

    @property
    def context(self) -> InterpretationContext:
        """What the next utterance is interpreted in."""
        currencies = tuple(dict.fromkeys(account.balance.currency for account in self._profile.accounts))
        return InterpretationContext(
            context_of(self._state, self._facts), self._now, currencies, amount_open(self._state)
        )

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be answered."""
        return isinstance(self._state.phase, Idle)

    @property
    def asks(self) -> bool:
        """Whether a question is open."""
        return self._state.asked is not None

    @property
    def proposal(self) -> ProposalId | None:
        """What waits for a yes."""
        return self._state.proposal

    @property
    def untold(self) -> tuple[Reply, ...]:
        """How that is told which was done and not yet heard of."""
        return tuple(outcome.told for outcome in unheard(self._state))

    @property
    def retold(self) -> tuple[Reply, ...]:
        """What is said anew by itself: what was done and not yet heard of, and what a yes is awaited to."""
        it = self._state.read_back
        return self.untold if it is None else (*self.untold, it.said)

    def offer(self, interpretation: Interpretation) -> ExtractionOffer:
        """What a model may choose among."""
        return offer_of(interpretation, self._state.asked)

    def notice(self, news: Owed) -> Reply:
        """How it is told what became of an earlier transfer."""
        return notice(news, self._facts)

    # What happens

    def begin(self) -> None:
        """A turn begins: `take_back` leads here."""
        self._before, self._late, self._gave_up, self.revocable = self._state, (), False, True

    def take_back(self) -> bool:
        """Undo the turn; whether something was proposed in it, or given up, which then has to be read back anew."""
        proposed = self._state.proposal is not None and self._state.proposal != self._before.proposal
        self._state, self._read_back = self._before, None
        if self._gave_up and self._before.task is not None:
            self._state = self._before.at(Waiting(self._before.task))
        return proposed or self._gave_up

    def renew(self, profile: CustomerProfile) -> None:
        """Balances and locks have changed."""
        self._profile = profile

    def decide(self, event: Event, *, late: bool = False) -> Decision:
        """The dialogue goes on; with what an earlier turn had begun, where it is `late`: no reply tells of it yet."""
        before = self._state
        self._state, decision = decide(before, event, self._facts)
        self.voids = voided(before, self._state)
        self._gave_up = self._gave_up or self.voids
        if late:
            self.revocable = False
            self._late += tuple(each for each in unheard(self._state) if each not in unheard(before))
        return decision

    def would(self, event: Event) -> Decision:
        """What `event` would lead to; nothing changes."""
        return decide(self._state, event, self._facts)[1]

    def would_bind(self, event: Event) -> bool:
        """Whether `event` would lead to what can't be undone."""
        decision = self.would(event)
        return isinstance(decision, Handoff) or (
            isinstance(decision, Execute) and isinstance(decision.action, IRREVOCABLE)
        )

    def binds(self, interpretation: Interpretation) -> bool:
        """Whether these words, if they were all, would lead to what can't be undone."""
        return self.would_bind(UserUtterance(interpretation.transcript.text, interpretation.understood))

    def foreseen(self, interpretation: Interpretation, *, whole: bool) -> Reply | None:
        """What would probably be said to these words, `whole` or once they are; nothing changes."""
        heard = interpretation.transcript
        facts = replace(self._facts, locale=heard.locale)
        return foreseen(self._state, UserUtterance(heard.text, interpretation.understood), facts, whole=whole)

    def leads_nowhere(self, interpretation: Interpretation) -> bool:
        """Whether they greet, or are a yes or no to nothing: it is only asked what the caller wants, or what lacks."""
        understood = interpretation.understood
        calls = understood.by(_CALLING)
        if not (calls or understood.intent in _ANSWERS) or understood.then is not None:
            return False
        state, decision = decide(self._state, UserUtterance(interpretation.transcript.text, understood), self._facts)
        return state.phase == self._state.phase and isinstance(decision, Clarify | Answer)

    # What replies carry

    def reads_back(self, reply: ReplyId) -> None:
        """`reply` reads the order back."""
        self._read_back = reply

    def tells(self, reply: ReplyId) -> None:
        """`reply` tells all that was done and not yet heard of."""
        self._telling = reply, tuple(each for each in unheard(self._state) if each not in self._late)

    def heard(self, reply: ReplyId) -> None:
        """The caller heard all of `reply`: what it told of is known."""
        telling, told = self._telling
        if reply == telling:
            self.decide(OutcomesHeard(told))

    def read_back_by(self, reply: ReplyId) -> ProposalId | None:
        """What `reply` has read back, asked once: what follows depends on whether it was heard."""
        if reply != self._read_back or self._state.proposal is None:
            return None
        self._read_back = None
        return self._state.proposal

    @property
    def _facts(self) -> Facts:
        return Facts(self._profile, self._payees, self._now.date(), self.locale)

    @property
    def _now(self) -> datetime:
        return self._clock.now().astimezone(zone(self._profile.zone))
