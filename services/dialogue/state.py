"""A dialogue's state: where it stands, and what any phase remembers."""

from dataclasses import dataclass, field, replace

from schemas.banking import Bill
from schemas.decision import Decision, Reply
from schemas.ids import AccountId, BillId, ProposalId
from schemas.intent import SlotName
from services.dialogue.phases import (
    Asking,
    Confirming,
    Idle,
    OfferingPerson,
    Outcome,
    Phase,
    ReadBack,
    Reading,
    SteppingUp,
    Submitting,
    Task,
    task_in,
)


@dataclass(frozen=True, slots=True)
class Memory:
    """What any phase remembers. `queue` waits for its turn; `preface` is said before the next sentence."""

    queue: tuple[Task, ...] = ()
    last: Reply | None = None
    inquired: str = ""  # what was answered last from the documents, with `last` behind it
    preface: tuple[Reply, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    made: Outcome | None = None  # the last order of this call that was booked, sent, or is under way
    booked: tuple[Reply, ...] = ()  # how what was booked in this call was told
    recent: Task | None = None  # the last command: "and my savings?" asks it again, "pay that" pays the bill of it
    billed: BillId | None = None  # the last bill asked about: "when's it due again"
    ordered: Task | None = None  # the last order carried out: "the same for Cathy" leans on it
    misses: int = 0
    told: tuple[AccountId, ...] = ()  # whose balances were told, one after the other, and nothing since
    topic: str = ""  # what was asked of the documents last, nothing ordered since: "and on Sundays?" leans on it
    paid: tuple[Bill, ...] = ()  # bills of which all that was due was paid in this call, or will be on its day
    patience: int = 0  # silences still to be borne: the caller asked for a moment

    def first(self, said: Reply) -> "Memory":
        """With `said` to be said before the next sentence."""
        return replace(self, preface=(*self.preface, said))

    def missed(self, misses: int) -> "Memory":
        """With so many misses in a row."""
        return self if self.misses == misses else replace(self, misses=misses)


@dataclass(frozen=True, slots=True)
class DialogueState:
    """A dialogue: where it stands, and what it remembers."""

    phase: Phase = field(default_factory=Idle)
    memory: Memory = field(default_factory=Memory)

    def at(self, phase: Phase) -> "DialogueState":
        """In another phase, with the same memory."""
        return replace(self, phase=phase)

    def keeping(self, memory: Memory) -> "DialogueState":
        """In the same phase, with another memory."""
        return self if memory is self.memory else replace(self, memory=memory)

    @property
    def task(self) -> Task | None:
        """The task at hand, which may wait behind something else."""
        return task_in(self.phase)

    @property
    def question(self) -> Asking | None:
        """The question that the next words may answer."""
        inner = self.phase.behind if isinstance(self.phase, OfferingPerson) else self.phase
        return inner if isinstance(inner, Asking) else None

    @property
    def asked(self) -> SlotName | None:
        """The slot that was asked for."""
        return None if self.question is None else self.question.slot

    @property
    def choices(self) -> tuple[str, ...]:
        """What was offered to choose from."""
        return () if self.question is None else self.question.choices

    @property
    def read_back(self) -> ReadBack | None:
        """What was read back, and not given up since."""
        match self.phase:
            case Reading(it) | Confirming(it) | Submitting(it) | SteppingUp(Submitting(it)):
                return it
            case _:
                return None

    @property
    def proposal(self) -> ProposalId | None:
        """The proposal that was read back, and not given up since."""
        return None if self.read_back is None else self.read_back.proposal


Step = tuple[DialogueState, Decision]
