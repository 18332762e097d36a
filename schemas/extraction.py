"""What is offered to the extraction model, and what it may choose. Shallow on purpose."""

from dataclasses import dataclass
from enum import StrEnum

from schemas.ids import Locale, PayeeId
from schemas.intent import Intent, SlotName
from schemas.payee import PayeeCandidate
from schemas.span import MoneyValue, Span


class Fallback(StrEnum):
    """Why the model does not choose; OK when it does."""

    OK = "ok"
    AMBIGUOUS_INTENT = "ambiguous_intent"
    AMBIGUOUS_PAYEE = "ambiguous_payee"
    AMBIGUOUS_AMOUNT = "ambiguous_amount"
    NOT_BANKING = "not_banking"
    UNREADABLE = "unreadable"  # the model's output was refused by the code; `Extraction.reason` says why


@dataclass(frozen=True, slots=True)
class ExtractionOffer:
    """Everything the model sees. It can answer only with the intents, amounts and payees offered here."""

    text: str
    locale: Locale
    alternatives: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    amounts: tuple[MoneyValue, ...] = ()
    payees: tuple[PayeeCandidate, ...] = ()
    asked: SlotName | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The model's choice, validated and grounded: every slot is one of those offered.

    `readings` are further amounts that the same words may be, where only the caller can tell which.
    """

    intent: Intent | None
    amount: MoneyValue | None
    payee: PayeeId | None
    needs_confirmation: bool
    fallback: Fallback
    model: str
    prompt_version: str
    elapsed_ms: float
    reason: str = ""  # a stable code when the fallback is UNREADABLE: truncated, refused, not_json, not_offered, …
    readings: tuple[MoneyValue, ...] = ()
