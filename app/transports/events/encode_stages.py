"""What the stages of a turn found, to events of the wire."""

from typing import assert_never

from pydantic import BaseModel, JsonValue

from schemas import turn
from schemas.decision import Execute
from schemas.intent import Slots
from schemas.span import jsonable
from schemas.wire.money import LedgerEvent, ReadBackEvent
from schemas.wire.server import HandoffEvent
from schemas.wire.understood import DecisionEvent, PayeeCandidateBody, PayeesEvent, SpanBody, SpansEvent


def stage_event(
    reply: str,
    said: turn.Normalized
    | turn.PayeesMatched
    | turn.Decided
    | turn.ReadBackReady
    | turn.TransferMoved
    | turn.HandedOff,
) -> BaseModel:
    """What a stage found in a turn, as the event that tells of it."""
    match said:
        case turn.Normalized(spans):
            return SpansEvent(response_id=reply, spans=[SpanBody.of(span) for span in spans])
        case turn.PayeesMatched():
            return _payees(reply, said)
        case turn.Decided():
            return _decision(reply, said)
        case turn.ReadBackReady():
            return _read_back(reply, said)
        case turn.TransferMoved(receipt):
            return LedgerEvent(
                response_id=reply,
                proposal_id=receipt.proposal,
                state=receipt.state.value,
                reference=receipt.reference,
                reason=receipt.reason,
            )
        case turn.HandedOff(reason, summary):
            return HandoffEvent(response_id=reply, reason=reason, summary=summary)
        case _:
            assert_never(said)


def _payees(reply: str, said: turn.PayeesMatched) -> PayeesEvent:
    match_ = said.match
    found = [PayeeCandidateBody(id=c.id, name=c.display_name, score=c.score) for c in match_.candidates]
    return PayeesEvent(
        response_id=reply,
        heard=match_.heard,
        outcome=match_.outcome.value,
        candidates=found,
        choice=match_.choice,
    )


def _decision(reply: str, said: turn.Decided) -> DecisionEvent:
    understood, decision = said.understood, said.decision
    reply_id = None if isinstance(decision, Execute) or decision.reply is None else decision.reply.id
    return DecisionEvent(
        response_id=reply,
        decision=decision.kind.value,
        intent=understood.intent.value if understood.intent else None,
        route=understood.route.value,
        confidence=understood.confidence,
        rule=understood.rule,
        missing=[slot.value for slot in understood.missing],
        slots=_slots(understood.slots),
        evidence=_evidence(understood.slots),
        reply=reply_id,
    )


def _slots(slots: Slots) -> dict[str, JsonValue]:
    """The value of each slot but of `digits`, which may be a code or a card's."""
    found = {name: getattr(slots, name) for name in type(slots).__dataclass_fields__ if name != "digits"}
    return {name: jsonable(slot.value) for name, slot in found.items() if slot is not None}


def _evidence(slots: Slots) -> dict[str, str]:
    """The caller's words behind each slot."""
    found = {name: getattr(slots, name) for name in type(slots).__dataclass_fields__}
    return {name: slot.evidence.surface for name, slot in found.items() if slot is not None}


def _read_back(reply: str, said: turn.ReadBackReady) -> ReadBackEvent:
    proposal = said.proposal
    return ReadBackEvent(
        response_id=reply,
        proposal_id=proposal.id,
        amount_minor=proposal.order.amount.minor,
        currency=proposal.order.amount.currency,
        source=proposal.order.source,
        payee_id=proposal.order.payee_id,
        to_account=proposal.order.to_account,
        on=proposal.order.on.isoformat() if proposal.order.on is not None else None,
        verification=proposal.verification.value,
        step_up_required=proposal.step_up_required,
        expires_at=proposal.expires_at.isoformat(),
    )
