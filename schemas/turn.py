"""Turn-taking: what the listener says of a caller's audio, and what the turn handler says back.

Times are milliseconds of the call's own audio (`*_at_ms`), never of a wall clock, so that the same audio gives the
same turns.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from schemas.answer import Citation
from schemas.decision import Decision
from schemas.ids import RuleId
from schemas.intent import Understood
from schemas.payee import PayeeMatch
from schemas.span import Span
from schemas.transcript import Transcript
from schemas.transfer import Proposal, TransferReceipt

ReplyId = NewType("ReplyId", str)
"""One reply to the caller; `response_id` on the wire."""

ItemId = NewType("ItemId", str)
"""One utterance of the caller; `item_id` on the wire."""


class Completeness(StrEnum):
    """What the words so far ask of the silence after them; each has a threshold in rules/endpointing."""

    COMPLETE = "complete"  # a whole command
    COURTESY = "courtesy"  # a whole command that "please" may follow after a silent closure: "an agent … please"
    YES_NO = "yes_no"  # a bare yes or no
    BINDING = "binding"  # whole, and what follows from it can't be undone
    MISSING_SLOT = "missing_slot"  # a command that lacks something: "send five hundred"
    HESITATION = "hesitation"  # ends in "uh", "えーと"
    DIGITS = "digits"  # digits in progress
    TRAILING = "trailing"  # ends in a preposition or particle: "send fifty to"
    LEAD_IN = "lead_in"  # a yes or no of which nothing comes here: "okay … send fifty dollars"
    OPEN = "open"  # a whole command that callers often go on with: "what's the balance … on my savings account"
    DOUBTFUL = "doubtful"  # seems whole, but the recogniser may have misheard
    UNKNOWN = "unknown"  # nothing is known of it


# What the listener says


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The caller began to speak."""

    item: ItemId
    at_ms: int


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The utterance is over, as a turn or as nothing; `at_ms` is its last voiced sample."""

    item: ItemId
    at_ms: int


@dataclass(frozen=True, slots=True)
class Partial:
    """The words so far. `text[:stable]` has held over two decodes; the rest may change."""

    item: ItemId
    revision: int
    text: str
    stable: int


@dataclass(frozen=True, slots=True)
class Eager:
    """The final words, if silence lasts until `wait_ms` after the last voiced sample. Nothing may act on it."""

    item: ItemId
    revision: int
    transcript: Transcript
    completeness: Completeness
    wait_ms: int
    rule: RuleId


@dataclass(frozen=True, slots=True)
class Resumed:
    """The caller went on: the last Eager is void."""

    item: ItemId
    revision: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over and `transcript` is the last Eager's. `rule` is the threshold that ended it."""

    item: ItemId
    revision: int
    transcript: Transcript
    rule: RuleId
    voiced_until_ms: int
    ended_at_ms: int


class Waste(StrEnum):
    """Why sound became no turn."""

    NO_SPEECH = "no_speech"  # a cough, a noise, no words
    BACKCHANNEL = "backchannel"  # "uh-huh" while a reply plays
    COURTESY = "courtesy"  # "please", right after a command that is being answered
    CLEARED = "cleared"  # the client dropped it, or keyed digits instead
    FAILED = "failed"  # the recogniser failed


@dataclass(frozen=True, slots=True)
class Discarded:
    """Sound that became no turn. `voiced_ms`: how long somebody spoke."""

    item: ItemId
    reason: Waste
    voiced_ms: int = 0


@dataclass(frozen=True, slots=True)
class Merged:
    """The caller had gone on after `item` ended: it was withdrawn and its words belong to `into`."""

    item: ItemId
    into: ItemId


ListenerEvent = SpeechStarted | SpeechStopped | Partial | Eager | Resumed | Ended | Discarded | Merged


# What the turn handler says


@dataclass(frozen=True, slots=True)
class Normalized:
    """The spans that normalization found in the turn's transcript."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class PayeesMatched:
    """The payees that may be meant."""

    match: PayeeMatch


@dataclass(frozen=True, slots=True)
class Decided:
    """What the turn came to."""

    understood: Understood
    decision: Decision


@dataclass(frozen=True, slots=True)
class ReadBackReady:
    """A proposal whose read-back is this reply's text."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class TransferMoved:
    """The ledger's word on a transfer."""

    receipt: TransferReceipt


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A sentence (or more) to be said. Said in the order given; the first ends the caller's wait.

    `template` is the id of the reply template that it was rendered from; null for a generated answer. `values` are the
    amounts, days and names in it, as they are said, in order; `parts` the templates of the replies within it.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    template: RuleId | None = None
    values: tuple[str, ...] = ()
    parts: tuple[RuleId, ...] = ()


@dataclass(frozen=True, slots=True)
class HandedOff:
    """A person takes over; `summary` is what they are told."""

    reason: str
    summary: str


class Awaits(StrEnum):
    """What the reply waits for."""

    NOTHING = "nothing"
    ANSWER = "answer"
    CONFIRMATION = "confirmation"
    END = "end"  # the call is over once the reply was delivered


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A language model that was asked. `outcome` is its fallback code, or the code of the error it ended in."""

    purpose: str  # "extract" or "answer"
    model: str
    prompt: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class ReplyDone:
    """The end of a reply. `stages` are milliseconds by stage name (see the latency budget); `models` who was asked."""

    awaits: Awaits = Awaits.NOTHING
    stages: dict[str, float] = field(default_factory=dict)
    models: tuple[ModelUse, ...] = ()


ReplyEvent = Normalized | PayeesMatched | Decided | ReadBackReady | TransferMoved | ReplyText | HandedOff | ReplyDone
