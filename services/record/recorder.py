"""Puts each turn on record: the audit log, the metrics, and nothing personal in either unless retention is on."""

from dataclasses import asdict, dataclass

from rules.load import ruleset_hash
from schemas.audit import AuditRecord, AuditValue
from schemas.errors import TellerlineError
from schemas.ids import CallId, CustomerId
from schemas.interpretation import Interpretation
from services.observability import Metrics
from services.ports import AuditLog, Clock
from services.record.trace import TurnTrace


@dataclass(frozen=True, slots=True)
class TurnRecorder:
    """The record of one call. `keep_words` also stores what was said, encrypted for the customer."""

    audit: AuditLog
    metrics: Metrics
    clock: Clock
    customer: CustomerId
    call: CallId
    keep_words: bool = False

    async def turn(self, trace: TurnTrace) -> None:
        """Record a turn as far as it came. Raises StoreUnavailable: what can't be put on record must be known."""
        found, decision, stamps = trace.interpretation, trace.shown, trace.stamps
        intent = found.understood.intent if found else None
        route = found.understood.route.value if found else "none"
        outcome = decision.kind.value if decision else "none"
        self.metrics.turn(stamps, route, intent.value if intent else "none", outcome)
        facts: dict[str, AuditValue] = {"outcome": outcome, "finished": trace.finished, "rules": ruleset_hash()}
        if found is not None:
            facts |= _facts(found)
        facts["models"] = [dict(asdict(model)) for model in trace.models]
        facts["stages_ms"] = {name: round(ms, 3) for name, ms in stamps.stages_ms().items()}
        personal: dict[str, AuditValue] = {}
        if self.keep_words and found is not None:
            personal["text"] = found.transcript.text
        await self.audit.append(self.customer, AuditRecord("turn", self.call, self.clock.now(), facts, personal))

    async def event(self, name: str, **facts: AuditValue) -> None:
        """Record something besides a turn: a call's start and end, a transfer's state."""
        await self.audit.append(self.customer, AuditRecord(name, self.call, self.clock.now(), facts))

    def error(self, error: TellerlineError) -> None:
        """Count an error that the caller does not hear of."""
        self.metrics.error(error.code)


def _facts(found: Interpretation) -> dict[str, AuditValue]:
    understood, transcript = found.understood, found.transcript
    match = found.payees
    return {
        "intent": understood.intent.value if understood.intent else None,
        "route": understood.route.value,
        "rule": understood.rule,
        "confidence": round(understood.confidence, 4),
        "vetoes": list(understood.vetoes),
        "source": transcript.source.value,
        "avg_logprob": round(transcript.avg_logprob, 4),
        "hypotheses": len(transcript.hypotheses),
        "spans": [
            {"kind": span.kind.value, "start": span.start, "end": span.end, "rule": span.rule} for span in found.spans
        ],
        "payees": [{"id": c.id, "score": round(c.score, 4)} for c in match.candidates] if match else [],
        "payee_outcome": match.outcome.value if match else None,
    }
