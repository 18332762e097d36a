"""When a template counts, and which of two that count is nearer to what was asked."""

from typing import Final

from schemas.consent import ORDERS, Awaited
from schemas.intent import Context, Intent
from services.understanding.fast.ruleset.grammar import Template
from services.understanding.fast.ruleset.rules import When

NEARNESS: Final[dict[When, int]] = {
    "code": 0,
    "offered": 0,
    "asked": 1,
    "confirming": 2,
    "pending": 2,
    "joined": 2,
    "further": 4,
    "recent": 2,
    "billed": 2,
    "balanced": 2,
    "billing": 1,
    "paying": 1,
    "alone": 3,
    "readback": 1,
    "ordered": 1,
    "locking": 1,
    "idle": 3,
    "outgoing": 1,
    "always": 3,
}
"""Between rules of one class, what was asked for comes first."""


def applies(template: Template, context: Context, *, joined: bool, further: bool) -> bool:
    """Whether a template counts in a context; `joined` behind another command, `further` in a clause of its own."""
    asked = context.asked is not None
    asked_so = asked and (not template.asked or context.asked in template.asked)
    counts: dict[When, bool] = {
        "always": True,
        "asked": asked_so,
        "paying": asked_so or context.terms.awaited is Awaited.BILL,
        "confirming": context.confirming,
        "pending": context.confirming or asked,
        "code": context.code,
        "offered": any(context.offered),
        "joined": joined,
        "further": further,
        "recent": context.recent is template.intent,
        "billed": context.recent is Intent.BILL_INQUIRY,
        "balanced": context.recent is Intent.BALANCE_INQUIRY,
        "readback": context.terms.awaited in ORDERS,
        "ordered": context.code or context.terms.awaited in ORDERS,
        "alone": not (joined or further),
        "billing": context.terms.awaited is Awaited.BILL or context.terms.to == Intent.BILL_PAYMENT.value,
        "outgoing": context.terms.awaited in ORDERS and context.terms.target is None,
        "idle": context.idle,
        "locking": context.terms.awaited is Awaited.LOCK,
    }
    return counts[template.when]
