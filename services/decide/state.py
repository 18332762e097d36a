"""The dialogue's state: frozen, comparable, serialisable, so that a call can be replayed and a dropped one resumed."""

from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Final

from pydantic import TypeAdapter

from schemas.banking import TransferOrder
from schemas.decision import Reply
from schemas.ids import AccountId, BillId, CardId, PayeeId, ProposalId
from schemas.intent import Intent, SlotName
from schemas.span import DateValue, MoneyValue


class Phase(StrEnum):
    """Where the conversation stands."""

    IDLE = "idle"
    ASKING = "asking"  # a question about `task` was asked
    PROPOSING = "proposing"  # an order was decided on; the ledger has not sealed it yet
    READING = "reading"  # the read-back is being said; a yes does not count yet
    CONFIRMING = "confirming"  # the read-back was heard in full; a yes counts
    SUBMITTING = "submitting"
    STEP_UP = "step_up"
    OFFERING = "offering"  # a yes or no about `offer` is awaited


class Offer(StrEnum):
    """What a yes would start, other than a transfer."""

    HUMAN = "human"
    TASK = "task"  # what the caller may have wanted


@dataclass(frozen=True, slots=True)
class Task:
    """One command being completed. `amounts` are the readings of one amount; when there is one, it is meant."""

    intent: Intent
    amounts: tuple[MoneyValue, ...] = ()
    payee: PayeeId | None = None
    payee_candidates: tuple[PayeeId, ...] = ()
    payee_heard: str = ""
    source: AccountId | None = None
    target: AccountId | None = None
    account: AccountId | None = None
    card: CardId | None = None
    bill: BillId | None = None
    bill_heard: str = ""
    account_heard: str = ""
    on: date | None = None
    period: DateValue | None = None
    merchant: str = ""
    received: bool = False  # of an account's history: only what came in
    at_least: MoneyValue | None = None
    at_most: MoneyValue | None = None
    portion: str = ""


@dataclass(frozen=True, slots=True)
class DialogueState:
    """Everything the dialogue remembers. `queue` waits for `task`; `preface` is said before the next sentence."""

    phase: Phase = Phase.IDLE
    task: Task | None = None
    queue: tuple[Task, ...] = ()
    asked: SlotName | None = None
    choices: tuple[str, ...] = ()
    offer: Offer | None = None
    order: TransferOrder | None = None
    proposal: ProposalId | None = None
    unlocking: CardId | None = None
    readback: Reply | None = None
    last: Reply | None = None
    preface: tuple[Reply, ...] = ()
    misses: int = 0


_ADAPTER: Final = TypeAdapter(DialogueState)
_HEARD: Final = frozenset({Phase.READING, Phase.CONFIRMING})


def dump(state: DialogueState) -> bytes:
    """The state as JSON, for a call that may be resumed. Sentences are left out: they are made anew."""
    return _ADAPTER.dump_json(replace(state, readback=None, last=None, preface=()))


def restore(data: bytes) -> DialogueState:
    """The state that `dump` wrote; a read-back has to be heard again. Raises pydantic's ValidationError."""
    state = _ADAPTER.validate_json(data)
    return replace(state, phase=Phase.READING) if state.phase in _HEARD else state
