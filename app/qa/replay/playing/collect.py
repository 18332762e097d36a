"""One turn's reply events, gathered into a record."""

from collections.abc import Iterable
from typing import Final

from app.qa.replay.manifests.manifest import Case, MoneyMove
from app.qa.replay.records.record import (
    SCORE_DIGITS,
    HypothesisRecord,
    ModelCall,
    Stage,
    TurnRecord,
    payee_record,
    slots_json,
    span_record,
)
from app.recordings.concluded import LOST, MAY_HAVE_MOVED, template_of
from app.recordings.files import RecordedMove
from rules.locales import space
from schemas.errors import TellerlineError
from schemas.ids import Locale, ProposalId
from schemas.payee import PayeeMatch
from schemas.span import Span
from schemas.transcript import Transcript
from schemas.turn import (
    Decided,
    HandedOff,
    Normalized,
    PayeesMatched,
    ReadBackReady,
    ReplyDone,
    ReplyEvent,
    ReplyText,
    TransferMoved,
)

NOTHING_HEARD: Final = "nothing"
"""The decision on record where a recording held no words: the call goes on as if no turn had been."""
WARNING: Final = "warn."
"""What the templates of warnings begin with."""
LOST_ORDER: Final = MoneyMove.of(LOST)
"""What was booked where nobody saw its proposal."""


class Collector:
    """Gathers one turn. `proposals` is shared by the turns of a call: a yes books what an earlier turn proposed."""

    def __init__(self, transcript: Transcript, proposals: dict[ProposalId, MoneyMove]) -> None:
        self._transcript = transcript
        self._proposals = proposals
        self._spans: tuple[Span, ...] = ()
        self._match: PayeeMatch | None = None
        self._decided: list[Decided] = []
        self._proposal: MoneyMove | None = None
        self._money: list[MoneyMove] = []
        self._said: list[ReplyText] = []
        self._done = ReplyDone()
        self._handed_off = False
        self.error: TellerlineError | None = None

    def take(self, event: ReplyEvent) -> None:
        """Note an event."""
        match event:
            case Normalized(spans):
                self._spans = spans
            case PayeesMatched(found):
                self._match = found
            case Decided():
                self._decided.append(event)
            case ReadBackReady(proposal):
                self._proposal = self._proposals[proposal.id] = MoneyMove.of(RecordedMove.of(proposal.order))
            case TransferMoved(receipt) if receipt.state in MAY_HAVE_MOVED:
                self._money.append(self._proposals.get(receipt.proposal, LOST_ORDER))
            case ReplyText():
                self._said.append(event)
            case HandedOff():
                self._handed_off = True
            case ReplyDone():
                self._done = event
            case _:
                pass

    @property
    def stages(self) -> dict[str, float]:
        """Milliseconds by stage, as the turn handler reports them, less their sum."""
        return {name: ms for name, ms in self._done.stages.items() if name != "total"}

    def record(self, case: Case, turn: int, recognizer: str, ruleset: str) -> TurnRecord:
        """The record of this turn, `turn` counted from 1."""
        heard, utterance = self._transcript, case.turns[turn - 1]
        base = TurnRecord(
            case=case.id,
            turn=turn,
            locale=case.locale,
            tags=case.tags,
            audio=utterance.audio,
            expect=utterance.expect,
            heard=heard.text,
            hypotheses=tuple(
                HypothesisRecord(text=h.text, avg_logprob=round(h.avg_logprob, SCORE_DIGITS)) for h in heard.hypotheses
            ),
            no_speech_prob=round(heard.no_speech_prob, SCORE_DIGITS),
            spans=tuple(map(span_record, self._spans)),
            payee=payee_record(self._match),
            proposal=self._proposal,
            money=tuple(self._money),
            reply=next((said.template for said in self._said if said.template), None),
            spoken=space(Locale(case.locale)).join(said.text for said in self._said),
            doubts=tuple(part for said in self._said for part in said.parts if part.startswith(WARNING)),
            told=tuple(sorted(value for said in self._said for value in said.values)),
            models=tuple(
                ModelCall(purpose=m.purpose, model=m.model, prompt=m.prompt, outcome=m.outcome)
                for m in self._done.models
            ),
            decision="handoff" if self._handed_off else "",
            error=self.error.code if self.error else None,
            reason=self.error.message if self.error else "",
            recognizer=recognizer,
            ruleset=ruleset,
        )
        return base.model_copy(update=_understood(self._decided)) if self._decided else base


def _understood(decided: list[Decided]) -> dict[str, object]:
    """What the first decision says of the words, and the last one of how it ended."""
    understood, decision, outcome = decided[0].understood, decided[0].decision, decided[-1].decision
    slots, evidence = slots_json(understood.slots)
    update: dict[str, object] = {
        "intent": understood.intent.value if understood.intent else None,
        "slots": slots,
        "evidence": evidence,
        "missing": tuple(slot.value for slot in understood.missing),
        "confidence": round(understood.confidence, SCORE_DIGITS),
        "rule": understood.rule,
        "vetoes": tuple(understood.vetoes),
        "route": understood.route.value,
        "decision": decision.kind.value,
    }
    if outcome.kind is not decision.kind:
        update["outcome"] = outcome.kind.value
    template = template_of(outcome)
    return update if template is None else update | {"reply": template}


def waterfall(stages: Iterable[tuple[str, float]], begin_ms: float = 0.0) -> tuple[Stage, ...]:
    """Durations laid end to end from `begin_ms`: the stages of a turn follow each other."""
    placed, at = [], begin_ms
    for name, ms in stages:
        placed.append(Stage(name=name, start_ms=round(at, 3), ms=round(ms, 3)))
        at += ms
    return tuple(placed)
