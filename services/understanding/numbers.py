"""An account told by the last digits of its number, where only these are corrected: "ending 4021, no, 7755"."""

from dataclasses import replace
from typing import Final

from schemas.intent import Evidence, Understood
from services.understanding.fast.numbered import of_number
from services.understanding.later import SelfRepair
from services.understanding.merging import values

_ACCOUNTS: Final = ("source", "target")


def another_number(parts: SelfRepair) -> Understood | None:
    """The earlier part with the account that has the later digits; None where these are no such number."""
    cut, text = parts.cut, parts.heard.transcript.text
    later = next((s for s in parts.heard.spans if (s.start, s.end) == (cut.start, cut.stop)), None)
    owner = of_number(later, parts.contexts[0]) if later is not None else None
    if owner is None or owner.id is None or owner.kind != "account":
        return None
    told = [span for span in parts.heard.spans if span.end <= cut.end and of_number(span, parts.contexts[0])]
    for name, slot in values(parts.one.slots).items():
        within = [span for span in told if slot.evidence.start <= span.start and span.end <= slot.evidence.end]
        if name in _ACCOUNTS and within:
            changed = replace(
                slot,
                value=owner.id,
                evidence=Evidence(cut.start, cut.stop, text[cut.start : cut.stop], slot.evidence.rule),
            )
            return replace(parts.one, slots=replace(parts.one.slots, **{name: changed}), rule=parts.rule("repair"))
    return None
