"""What one turn's reply events say was concluded: intent, slots, payee, decision, money."""

from collections.abc import Sequence
from typing import Any, Final

from app.recordings.files import RecordedMove, RecordedSlot
from schemas.banking import TransferState
from schemas.decision import Answer, Clarify, Confirm, Decision, Handoff, Refuse
from schemas.ids import ProposalId
from schemas.intent import Slots
from schemas.span import jsonable
from schemas.turn import Decided, HandedOff, PayeesMatched, ReadBackReady, ReplyEvent, ReplyText, TransferMoved

MAY_HAVE_MOVED: Final = frozenset({TransferState.SUCCEEDED, TransferState.SUBMITTING, TransferState.UNKNOWN})
_DIGITS: Final = 4
LOST: Final = RecordedMove(amount_minor=0, currency="XXX")
"""What was booked where the call never saw its proposal."""


def concluded(
    events: Sequence[ReplyEvent], proposals: dict[ProposalId, RecordedMove], *, withheld: bool
) -> dict[str, Any]:
    """Fields of a RecordedTurn. `proposals` are the call's own so far: a yes books what an earlier turn read back."""
    decided = [event for event in events if isinstance(event, Decided)]
    proposal, money = _money(events, proposals)
    said = next((e.template for e in events if isinstance(e, ReplyText) and e.template), None)
    found: dict[str, Any] = {"reply": said}
    if decided:
        found |= _understood(decided)
    elif any(isinstance(event, HandedOff) for event in events):
        found["decision"] = "handoff"
    if not withheld:
        found |= {"proposal": proposal, "money": money}
        if decided:
            slots = decided[0].understood.slots
            found |= {"slots": _slots(slots), "payee": slots.payee.value if slots.payee else _choice(events)}
    return found


def _understood(decided: Sequence[Decided]) -> dict[str, Any]:
    """What the first decision says of the words, and the last one of how it ended."""
    understood, first, last = decided[0].understood, decided[0].decision, decided[-1].decision
    found: dict[str, Any] = {
        "intent": understood.intent.value if understood.intent else None,
        "route": understood.route.value,
        "rule": understood.rule,
        "confidence": round(understood.confidence, _DIGITS),
        "decision": first.kind.value,
        "outcome": last.kind.value if last.kind is not first.kind else None,
    }
    template = template_of(last)
    return found if template is None else found | {"reply": template}


def template_of(decision: Decision) -> str | None:
    """The reply template that a decision names."""
    if isinstance(decision, (Clarify, Refuse, Handoff, Answer, Confirm)) and decision.reply is not None:
        return decision.reply.id
    return None


def _slots(slots: Slots) -> dict[str, RecordedSlot]:
    filled = {name: getattr(slots, name) for name in Slots.__dataclass_fields__}
    return {
        name: RecordedSlot(value=jsonable(slot.value), words=slot.evidence.surface)
        for name, slot in filled.items()
        if slot is not None
    }


def _choice(events: Sequence[ReplyEvent]) -> str | None:
    return next((event.match.choice for event in events if isinstance(event, PayeesMatched)), None)


def _money(
    events: Sequence[ReplyEvent], proposals: dict[ProposalId, RecordedMove]
) -> tuple[RecordedMove | None, tuple[RecordedMove, ...]]:
    """What was read back, and what was booked."""
    proposal, booked = None, []
    for event in events:
        if isinstance(event, ReadBackReady):
            proposal = proposals[event.proposal.id] = RecordedMove.of(event.proposal.order)
        elif isinstance(event, TransferMoved) and event.receipt.state in MAY_HAVE_MOVED:
            booked.append(proposals.get(event.receipt.proposal, LOST))
    return proposal, tuple(booked)
