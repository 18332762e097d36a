"""Every Protocol the pipeline depends on. Adapters and their fakes pass the same suite in tests/contract."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Protocol

from schemas.answer import AnswerEvent, Question
from schemas.audio import Samples
from schemas.audit import AuditRecord
from schemas.banking import (
    Account,
    BankReceipt,
    Bill,
    Card,
    CustomerProfile,
    PayeeVerification,
    Transaction,
    TransactionFilter,
    TransferOrder,
)
from schemas.errors import TellerlineError
from schemas.extraction import Extraction, ExtractionOffer
from schemas.ids import CallId, CardId, CustomerId, Locale, PayeeId, ProposalId
from schemas.interpretation import Interpretation
from schemas.payee import Payee
from schemas.speech import SpokenChunk
from schemas.stepup import Challenge
from schemas.transcript import Decode, Onward, Transcript, Wordings
from schemas.transfer import Owed, Proposal, TransferReceipt
from schemas.turn import ReplyEvent, ReplyId


class Clock(Protocol):
    """Time and identity, injected so that a call can be replayed exactly."""

    def now(self) -> datetime:
        """The current moment, timezone-aware UTC."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, for durations."""

    def new_id(self) -> str:
        """A fresh unguessable identifier."""


class Recognizer(Protocol):
    """Speech to text. Work that was superseded is cancelled by cancelling the awaiting task."""

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        """Decode `samples` (mono float32, 16 kHz). Raises RecognizerUnavailable, Busy.

        What is urgent goes first. One of a final's `wordings` is taken where its sound fits clearly best.
        """

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        """Whether the speaker goes on after what was `heard`; None where that can't be told."""

    async def warm_up(self) -> None:
        """Run one decode of each kind so that the first caller does not wait."""

    async def close(self) -> None:
        """Release threads and memory; pending work is cancelled."""


class Synthesizer(Protocol):
    """Text to speech. What is no longer wanted is cancelled by closing the iterator, or the task that awaits it."""

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """The sound of `text`, as it is made: the first chunk leaves before the last is thought of.

        `voice` is a name that the engine knows, empty for the locale's own. No chunk at all where the client speaks.
        Raises SpeechUnavailable, Busy.
        """

    def for_call(self) -> "CallVoice":
        """A voice for one call."""


class CallVoice(Protocol):
    """One call's voice. What it has ready may hold a customer's values: it is no other call's, nor on a disk."""

    def speak(self, text: str, locale: Locale, voice: str) -> AsyncGenerator[SpokenChunk, None]:
        """As a `Synthesizer` speaks."""

    def foresee(self, text: str, locale: Locale) -> None:
        """`text` will probably be said next. It may be made ahead where nobody waits; never waits itself."""

    def close(self) -> None:
        """The call is over: nothing that was ready is kept."""


class CoreBank(Protocol):
    """The bank's core. Every call is scoped to a customer. Raises BankUnavailable, BankGarbage, NotFound."""

    async def profile(self, customer: CustomerId) -> CustomerProfile:
        """Accounts, cards, bills and limits, as of now."""
        ...

    async def accounts(self, customer: CustomerId) -> Sequence[Account]:
        """The customer's accounts with balances."""
        ...

    async def cards(self, customer: CustomerId) -> Sequence[Card]:
        """The customer's cards."""
        ...

    async def bills(self, customer: CustomerId) -> Sequence[Bill]:
        """The customer's open bills."""
        ...

    async def payees(self, customer: CustomerId) -> Sequence[Payee]:
        """The customer's payees, at most 10,000."""
        ...

    async def transactions(self, customer: CustomerId, wanted: TransactionFilter) -> Sequence[Transaction]:
        """Booked transactions, newest first."""
        ...

    async def payee(self, customer: CustomerId, payee: PayeeId) -> Payee:
        """One payee as it stands now. Raises NotFound."""
        ...

    async def verify_payee(self, customer: CustomerId, payee: PayeeId) -> PayeeVerification:
        """Confirmation of payee; UNAVAILABLE rather than an error when the scheme does not answer."""
        ...

    async def set_card_lock(self, customer: CustomerId, card: CardId, locked: bool) -> Card:
        """Lock or unlock a card; idempotent."""
        ...

    async def transfer(self, customer: CustomerId, order: TransferOrder, key: str) -> BankReceipt:
        """Move money once for `key`. BankUnavailable leaves the outcome unknown; the same key may be sent again."""
        ...

    async def transfer_outcome(self, customer: CustomerId, key: str) -> BankReceipt:
        """What became of `key`; NOT_FOUND when the bank never saw it."""
        ...


class Ledger(Protocol):
    """The one door for money. See DESIGN: propose → read back → bound yes → submit → reconcile."""

    async def propose(self, customer: CustomerId, call: CallId, order: TransferOrder) -> Proposal:
        """Void the call's open proposals, check limits, verify the payee, seal, store. Raises MoneyRefused."""
        ...

    async def delivered(self, customer: CustomerId, call: CallId, proposal: ProposalId) -> None:
        """The read-back was heard in full; only now can a yes count."""
        ...

    async def void(self, customer: CustomerId, call: CallId) -> int:
        """Cancel the call's open proposals (correction, cancel, new topic); how many there were."""
        ...

    async def confirm(self, customer: CustomerId, call: CallId, proposal: ProposalId, seal: str) -> TransferReceipt:
        """Spend the confirmation and submit. SUCCEEDED, FAILED or UNKNOWN. Raises MoneyRefused."""
        ...

    async def open_proposal(self, customer: CustomerId) -> Proposal | None:
        """The customer's live proposal, if one outlived its call."""
        ...

    async def resume(self, customer: CustomerId, call: CallId) -> Proposal | None:
        """Move the customer's live proposal to a new call: fresh id, nonce and seal, the old expiry, not yet delivered.

        The proposal of the earlier call is cancelled in the same transaction, so a yes there is refused.
        """
        ...

    async def receipt(self, customer: CustomerId, proposal: ProposalId) -> TransferReceipt:
        """Where a transfer stands now. Raises NotFound."""
        ...

    async def owed(self, customer: CustomerId) -> Sequence[Owed]:
        """What the customer has yet to be told the end of, oldest first; then what is still open."""
        ...

    async def follow_up(self, customer: CustomerId, proposal: ProposalId) -> bool:
        """See to it that the customer is told what became of a yes of which nobody knows; whether that is certain."""
        ...

    async def told(self, customer: CustomerId, receipt: TransferReceipt) -> None:
        """Note that the customer heard how a transfer ended; a later end is owed anew."""
        ...


class StepUp(Protocol):
    """A second factor: a one-time code, or an approval in the app. A voice is never one."""

    async def begin(self, customer: CustomerId, purpose: str) -> Challenge:
        """Start a challenge bound to `purpose` (a proposal or a card)."""
        ...

    async def verify(self, customer: CustomerId, challenge: Challenge, response: str) -> bool:
        """Whether `response` settles the challenge; attempts and time are bounded."""
        ...

    async def passed(self, customer: CustomerId, purpose: str) -> bool:
        """Whether a live, unspent pass for `purpose` exists; asking spends it."""
        ...


Settle = Callable[[bool | None], None]
"""Told once how an admitted call ended; None when that says nothing of the dependency (the caller went away)."""


class Breaker(Protocol):
    """Stops asking a dependency that keeps failing."""

    def admit(self) -> Settle | None:
        """A call may be made, and what it is to be settled by; None while the dependency is left alone."""
        ...


class CardDesk(Protocol):
    """Locks at once; unlocks only after a step-up for that card (`schemas.stepup.card_purpose`)."""

    async def lock(self, customer: CustomerId, card: CardId) -> Card:
        """Lock a card; idempotent. Raises NotFound, BankUnavailable."""
        ...

    async def unlock(self, customer: CustomerId, card: CardId) -> Card:
        """Unlock a card, spending the step-up. Raises StepUpRequired, NotFound, BankUnavailable."""
        ...


class Extractor(Protocol):
    """The small model that sees only what is ambiguous. Its output is grounded before use."""

    async def extract(self, customer: CustomerId, offer: ExtractionOffer) -> Extraction:
        """Choose among what was offered. Raises ModelUnavailable, TimedOut; never returns what was not offered."""
        ...


class Answerer(Protocol):
    """The second model: open questions, from retrieved passages only."""

    def answer(self, customer: CustomerId, question: Question) -> AsyncIterator[AnswerEvent]:
        """Stream sentences that may be spoken, with citations; a refusal is an event, not an error."""
        ...


class AuditLog(Protocol):
    """Append-only, hash-chained."""

    async def append(self, customer: CustomerId, record: AuditRecord) -> object:
        """Store a record, durably once this returns. Raises StoreUnavailable."""
        ...


class Records(Protocol):
    """Whether what is done can be put on record."""

    @property
    def waiting(self) -> bool:
        """Whether something that was done is not on record yet: no money moves meanwhile."""
        ...


class Amendable(Protocol):
    """A turn that the caller may still go on with."""

    async def commit(self) -> None:
        """Return once nobody can go on with it any more. Raises CancelledError where the caller does go on."""
        ...


class TurnHandler(Protocol):
    """One call's understanding and dialogue; the live call (services/call) drives one object per call.

    Who calls what, when:
    - `interpret` first on every final transcript of speech: pure and fast (≤ 5 ms), it decides how long to wait. What
      was made of the words may be kept for `take`; it must have no effect that anyone could see;
    - `take` once, when the turn has ended, with the same text as the last eager final (or typed text, or digits).
      Everything that moves or says something happens in here. Callers may still go on: what is only words need not
      wait, what can't be undone is done after `turn.commit()` alone;
    - `delivered` when the reply was heard in full: the client acknowledged its playback, or the estimated speaking
      time passed. Only then can a yes count. It is never called while the caller speaks over the reply's end: a yes
      that began before the reply had ended meets an undelivered read-back;
    - `interrupted` when the reply was cut by barge-in, or cancelled by the client; after `delivered` only where it
      turns out that the reply had not been heard in full: a yes does not count any more then;
    - `withdraw` when the caller went on speaking right after the turn had ended; the words will come again, merged;
    - `news` when nobody speaks and `has_news`;
    - `silence` when nothing was said for long after a reply that awaits something.

    At most one of `take`, `failed`, `news` and `silence` runs at a time, and every iterator is closed (`aclose`) before
    the next call. Barge-in stops one early, by cancelling the task that awaits it and closing it: what was submitted
    to the ledger must go on to its end regardless (shield it).
    """

    def interpret(self, transcript: Transcript) -> Interpretation:
        """The same hypotheses, led by the one that is meant, and what it means in the dialogue's present state."""

    @property
    def locale(self) -> Locale:
        """The language that is spoken now."""

    @property
    def owes(self) -> bool:
        """Whether something was done that the caller has not heard of to its end; `silence` tells it again."""

    def wordings(self, transcript: Transcript) -> tuple[str, ...]:
        """See `Wordings`; empty where nobody is named, or somebody for sure."""

    def foreseen(self, words: Transcript | Interpretation, *, whole: bool) -> str:
        """What would probably be said to these words, `whole` or once they are; else nothing. Pure as `interpret`."""

    def take(self, transcript: Transcript, reply: ReplyId, turn: Amendable | None = None) -> AsyncIterator[ReplyEvent]:
        """Decide and act on a turn, whole words without one. Ends with ReplyDone; errors of the tree go to `failed`."""

    def failed(self, error: TellerlineError, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say after `take` or the recogniser raised `error`, so that an error is never silence."""

    async def withdraw(self, reply: ReplyId) -> bool:
        """Undo the turn that `reply` answered, if nothing irrevocable came of it; whether it was undone."""

    async def delivered(self, reply: ReplyId) -> None:
        """The caller heard all of `reply`."""

    async def interrupted(self, reply: ReplyId) -> None:
        """The caller did not hear all of `reply`."""

    def silence(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What to say when the caller says nothing; ReplyDone with END gives the call up."""

    def welcome(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent]:
        """What to say first to a caller who has said nothing, where the client asks for it."""

    def greeting(self, reply: ReplyId, locale: Locale) -> AsyncIterator[ReplyEvent] | None:
        """What the caller has to hear before anything else; asked once, None when there is nothing."""

    @property
    def has_news(self) -> bool:
        """Whether there is something to be told that nobody asked for now; cheap, asked at every tick."""

    def news(self, reply: ReplyId) -> AsyncIterator[ReplyEvent]:
        """What became of a transfer whose end the caller waits for; taken while nothing else is said."""

    async def close(self, *, hung_up: bool = False) -> None:
        """The call is over; `hung_up` when the caller meant it to be, rather than the line having dropped."""
