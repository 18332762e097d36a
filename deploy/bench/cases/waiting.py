"""Scenes in which an answer is awaited, and what an answer does there: a transfer, a bill, a card, a person."""

from dataclasses import dataclass, replace
from typing import Final

from deploy.bench.cases.player import ConversationPlayer
from schemas.banking import PayeeVerification, TransferState
from schemas.consent import Awaited
from schemas.decision import Action, Confirm, Decision, Execute, Handoff, LockCard, SubmitTransfer, UnlockCard
from schemas.ids import Locale
from schemas.intent import Intent
from schemas.transcript import Transcript
from services.dialogue import (
    DialogueState,
    Event,
    Facts,
    Offering,
    OfferingPerson,
    ReadbackDelivered,
    Reading,
    Task,
    UserUtterance,
    decide,
)
from services.dialogue.names import reply
from tests.fakes.desk import FakeDesk

CUSTOMERS: Final = {"en": "alex-morgan", "ja": "takahashi-misaki"}
COMMANDS: Final = {
    "en": {
        Awaited.TRANSFER: "send fifty dollars to Emily Morgan from checking",
        Awaited.BILL: "pay my phone bill",
    },
    "ja": {
        Awaited.TRANSFER: "普通口座から佐藤花子さんに五千円送って",
        Awaited.BILL: "電気代を払って",
    },
}
SCENES: Final = (Awaited.TRANSFER, Awaited.BILL, Awaited.LOCK, Awaited.UNLOCK, Awaited.PERSON)
_MAX_STEPS: Final = 8


@dataclass(frozen=True, slots=True)
class Came:
    """What came of an answer: what was `done` (nothing: ""), and what was said (reply ids)."""

    done: str
    said: tuple[str, ...]
    state: DialogueState


class Scenes:
    """One language's scenes, each reached once; answers are given to a fresh copy."""

    def __init__(self, language: str) -> None:
        self._player = ConversationPlayer.of(CUSTOMERS[language])
        self._customer = CUSTOMERS[language]
        self.locale: Locale = self._player.locale
        self._reached = {awaited: self._reach(language, awaited) for awaited in SCENES}

    def answer(self, awaited: Awaited, said: str | Transcript) -> Came:
        """What `said` does where `awaited` waits."""
        state, desk = self._reached[awaited]
        transcript = Transcript.typed(said, self.locale) if isinstance(said, str) else said
        return self._take(state, self._copy(desk), transcript)

    def follow(self, awaited: Awaited, *said: str) -> list[Came]:
        """What each of several answers does, one after another, every read-back heard in full."""
        state, desk = self._reached[awaited]
        desk, all_of = self._copy(desk), list[Came]()
        for words in said:
            came = self._take(state, desk, Transcript.typed(words, self.locale))
            state = self._heard(came.state, desk)
            all_of.append(came)
        return all_of

    def _reach(self, language: str, awaited: Awaited) -> tuple[DialogueState, FakeDesk]:
        desk = FakeDesk.of(self._customer)
        if awaited in COMMANDS[language]:
            words = Transcript.typed(COMMANDS[language][awaited], self.locale)
            came = self._take(DialogueState(), desk, words)
            return self._heard(came.state, desk), desk
        if awaited is Awaited.PERSON:
            return DialogueState(OfferingPerson()), desk
        intent = Intent.CARD_LOCK if awaited is Awaited.LOCK else Intent.CARD_UNLOCK
        first, *others = desk.cards  # only the first is open to it
        lock = intent is Intent.CARD_LOCK
        desk.cards = (replace(first, locked=not lock), *(replace(card, locked=lock) for card in others))
        return DialogueState(Offering(Task(intent), reply(f"offer.{intent.value}"))), desk

    def _copy(self, desk: FakeDesk) -> FakeDesk:
        made = FakeDesk.of(self._customer)
        made.cards, made.open, made.delivered = desk.cards, desk.open, desk.delivered
        return made

    def _heard(self, state: DialogueState, desk: FakeDesk) -> DialogueState:
        if isinstance(state.phase, Reading):
            desk.delivered = True
            state, _ = decide(state, ReadbackDelivered(state.phase.it.proposal), self._facts(desk))
        return state

    def _facts(self, desk: FakeDesk) -> Facts:
        return self._player.facts(desk)

    def _take(self, state: DialogueState, desk: FakeDesk, transcript: Transcript) -> Came:
        understood = self._player.understand(transcript, state, self._facts(desk))
        following: Event | None = UserUtterance(transcript.text, understood)
        done: list[str] = []
        said: list[str] = []
        for _ in range(_MAX_STEPS):
            if following is None:
                break
            state, decision = decide(state, following, self._facts(desk))
            done.append(_done(decision))
            reply = None if isinstance(decision, Execute) else decision.reply
            if reply is not None:
                said.append(str(reply.id))
            following = _follow(decision, desk)
        return Came(next(filter(None, done), ""), tuple(said), state)


def _follow(decision: Decision, desk: FakeDesk) -> Event | None:
    match decision:
        case Execute(action):
            return desk.perform(action, TransferState.SUCCEEDED)
        case Confirm(order, None):
            return desk.propose(order, PayeeVerification.MATCH, step_up=False)
    return None


def _done(decision: Decision) -> str:
    match decision:
        case Execute(action):
            return _act(action)
        case Handoff():
            return "person"
    return ""


def _act(action: Action) -> str:
    match action:
        case SubmitTransfer():
            return "moved"
        case LockCard():
            return "lock"
        case UnlockCard():
            return "unlock"
    return ""
