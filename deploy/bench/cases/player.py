"""Plays conversations through the real stages before a desk that only pretends.

`FakeDesk` stands in for bank and ledger; it refuses what the ledger would refuse.
"""

import time
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from deploy.bench.cases.conversations import Turn, WrittenCall
from deploy.bench.cases.differences import differences
from rules.bank import DemoCustomer, demo_customers
from schemas.banking import (
    PayeeVerification,
    TransferState,
)
from schemas.decision import (
    Answer,
    Confirm,
    Decision,
    Execute,
)
from schemas.ids import Locale, ProposalId
from schemas.intent import Understood
from schemas.payee import Payee
from schemas.transcript import Hypothesis, Source, Transcript
from services.dialogue import (
    DialogueState,
    Event,
    Facts,
    OutcomesHeard,
    ReadbackDelivered,
    Silence,
    UserUtterance,
    context_of,
    decide,
    unheard,
)
from services.interpretation import InterpretationContext, interpret
from services.observability.metrics import Stamps
from services.payees import PayeeIndex
from services.response import speak
from tests.fakes.desk import NOW, FakeDesk, failed

OTHERS: Final = Path("tests/data/customers")
"""Customers of other banks than the demo's."""
MAX_STEPS: Final = 8
"""Decisions within one turn."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """What did not come out as written."""

    where: str
    said: str
    what: str


@dataclass(slots=True)
class PlayTally:
    """What playing gave: failures, and the microseconds of the text path of every utterance, by clock and by CPU."""

    turns: int = 0
    failures: list[Deviation] = field(default_factory=list)
    micros: list[float] = field(default_factory=list)
    cpu_micros: list[float] = field(default_factory=list)
    spoken: list[str] = field(default_factory=list)


def _others() -> Iterator[DemoCustomer]:
    for path in sorted(OTHERS.glob("*.yaml")):
        yield DemoCustomer.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


class ConversationPlayer:
    """Plays one customer's conversations; `crowd` payees more are put into the book."""

    def __init__(self, customer: DemoCustomer, crowd: tuple[Payee, ...] = ()) -> None:
        self._customer = customer
        self.locale = Locale(customer.locale)
        desk = FakeDesk(customer)
        self._payees = desk.payees | {p.id: p for p in crowd}
        self._index = PayeeIndex.build(tuple(self._payees.values()), NOW.date())
        self._currencies = tuple(dict.fromkeys(a.currency for a in customer.accounts))

    @classmethod
    def of(cls, customer: str, crowd: tuple[Payee, ...] = ()) -> "ConversationPlayer":
        """The player of a demo customer, or another bank's, by id. Raises StopIteration for an unknown one."""
        return cls(next(c for c in (*demo_customers(), *_others()) if c.customer == customer), crowd)

    def play(self, conversation: WrittenCall, played: PlayTally) -> None:
        """Play one call, and note what did not come out as written."""
        call = PlayedCall(self, FakeDesk(self._customer), conversation.id, played)
        for number, turn in enumerate(conversation.turns, 1):
            call.take(turn, number)

    def call(self, played: PlayTally) -> "PlayedCall":
        """A call that nobody has written down."""
        return PlayedCall(self, FakeDesk(self._customer), "call", played)

    def facts(self, desk: FakeDesk) -> Facts:
        """What is known of the caller now."""
        return Facts(desk.profile(self._customer), self._payees, NOW.date(), self.locale)

    def understand(self, transcript: Transcript, state: DialogueState, facts: Facts) -> Understood:
        """The text path up to understanding."""
        context = InterpretationContext(context_of(state, facts), NOW, self._currencies)
        return interpret(transcript, context, self._index, Stamps(time.monotonic)).understood


class PlayedCall:
    """One call by a player, turn by turn."""

    def __init__(self, player: ConversationPlayer, desk: FakeDesk, name: str, played: PlayTally) -> None:
        self._player = player
        self._desk = desk
        self._name = name
        self._played = played
        self._state = DialogueState()
        self._reading: ProposalId | None = None

    def fork(self) -> "PlayedCall":
        """The same call, to go on from here in another way."""
        other = copy(self)
        other._desk = copy(self._desk)  # noqa: SLF001 - its own class
        return other

    def take(self, turn: Turn, number: int) -> None:
        """Play a turn, and note what did not come out as written."""
        understood, said = self.play(turn)
        for what in differences(turn, understood, said, self._desk):
            words = turn.say or turn.keys or "(silence)"
            self._played.failures.append(Deviation(f"{self._name}[{number}]", words, what))

    def play(self, turn: Turn) -> tuple[Understood | None, list[Decision]]:
        """What a turn means, and everything that is decided because of it."""
        facts = self._player.facts(self._desk)
        if self._reading is not None:
            self._heard_out(turn, facts)
        if not turn.interrupts:
            self._state, _ = decide(self._state, OutcomesHeard(unheard(self._state)), facts)
        understood: Understood | None = None
        if turn.silence:
            said = self._run(Silence(), turn)
        else:
            transcript = self._transcript(turn)
            begun, worked = time.perf_counter(), time.thread_time()
            understood = self._player.understand(transcript, self._state, facts)
            event = UserUtterance(transcript.text, understood)
            decide(self._state, event, facts)
            self._played.cpu_micros.append((time.thread_time() - worked) * 1e6)
            self._played.micros.append((time.perf_counter() - begun) * 1e6)
            said = self._run(event, turn)
        self._played.turns += 1
        return understood, said

    def _heard_out(self, turn: Turn, facts: Facts) -> None:
        assert self._reading is not None, "a read-back is being said"
        if not turn.interrupts:
            self._state, _ = decide(self._state, ReadbackDelivered(self._reading), facts)
        self._desk.delivered = not turn.interrupts
        self._reading = None

    def _transcript(self, turn: Turn) -> Transcript:
        text = turn.say if turn.say is not None else turn.keys or ""
        source = Source.SPEECH if turn.keys is None else Source.DTMF
        hypotheses = tuple(Hypothesis(t, turn.logprob) for t in (text, *turn.alternatives))
        return Transcript(text, self._player.locale, hypotheses, source=source)

    def _run(self, event: Event, turn: Turn) -> list[Decision]:
        """Decide, perform, decide again, until there is something to wait for."""
        said: list[Decision] = []
        again = [Answer(reply=outcome.told) for outcome in unheard(self._state)]
        following: Event | None = event
        while following is not None:
            assert len(said) < MAX_STEPS, "a turn comes to an end"
            self._state, decision = decide(self._state, following, self._player.facts(self._desk))
            said.append(decision)
            following = self._follow(decision, turn)
            reply = None if isinstance(decision, Execute) else decision.reply
            if reply is not None:
                self._played.spoken.append(speak(reply, self._player.locale))
        return [*said, *again]  # what is told again is said first; what is decided is asked for first

    def _follow(self, decision: Decision, turn: Turn) -> Event | None:
        match decision:
            case Execute(action):
                if turn.fails:
                    return failed(turn.fails, action)
                return self._desk.perform(action, turn.outcome or TransferState.SUCCEEDED)
            case Confirm(order, None):
                return self._desk.propose(order, turn.verification or PayeeVerification.MATCH, turn.step_up)
            case Confirm(_, proposal):
                self._reading = proposal
        return None
