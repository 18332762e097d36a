"""The extraction prompt as data, and how an offer is written into it: stable prefix first, variable part last."""

import unicodedata
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, model_validator

from rules.load import RuleFile, load
from schemas.extraction import ExtractionOffer
from schemas.intent import Intent
from schemas.money import Money
from schemas.payee import PayeeCandidate
from schemas.span import MoneyValue

PATH: Final = "prompts/extraction.yaml"
MAX_AMOUNTS: Final = 4
MAX_PAYEES: Final = 5


class CodeRule(BaseModel):
    """One code word: its intent, and which letters may follow it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: Intent
    amount: bool = False
    payee: bool = False
    when_asked: bool = False  # offered only in answer to a question


class PromptLimits(BaseModel):
    """Bounds of the variable part, in characters; measured to keep the whole prompt within 700 tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    heard_characters: int
    maybe_count: int
    maybe_characters: int
    name_characters: int


class ExtractionPrompt(RuleFile):
    """rules/prompts/extraction.yaml."""

    codes: dict[str, CodeRule]
    amount_letters: str
    payee_letters: str
    not_said: str
    doubtful: str
    not_banking: str
    system: str
    limits: PromptLimits

    @model_validator(mode="after")
    def _unambiguous(self) -> Self:
        letters = self.amount_letters + self.payee_letters + self.not_said + self.doubtful
        if len(set(letters)) != len(letters):
            raise ValueError("a letter of the answer has two meanings")
        if len(self.amount_letters) < MAX_AMOUNTS or len(self.payee_letters) < MAX_PAYEES:
            raise ValueError("too few letters for what may be offered")
        undocumented = [code for code in (*self.codes, self.not_banking) if f"\n{code}" not in self.system]
        if undocumented:
            raise ValueError(f"codes the prompt does not explain: {undocumented}")
        return self


def prompt_rules() -> ExtractionPrompt:
    """The validated prompt. Raises RulesInvalid."""
    return load(PATH, ExtractionPrompt)


def plain(text: str, limit: int) -> str:
    """`text` on one line, at most `limit` characters, unable to form a chat template's control tokens."""
    folded = unicodedata.normalize("NFC", text)
    kept = ("‹" if c == "<" else "›" if c == ">" else c for c in folded)
    printable = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in kept)
    return " ".join(printable.split())[:limit]


def amount_text(value: MoneyValue, default_currency: str) -> str:
    """`50.00 USD` of an amount; the default currency is taken where none was named."""
    return str(Money(value.amount_minor, value.currency or default_currency)).replace(",", "")


def _person(candidate: PayeeCandidate, limit: int) -> str:
    name = plain(candidate.display_name, limit)
    note = plain(candidate.relationship or candidate.told_apart_by, limit)
    return f"{name} ({note})" if note else name


def user_text(offer: ExtractionOffer, currency: str, rules: ExtractionPrompt) -> str:
    """The variable part: the question asked, the words heard, the amounts and the people on offer."""
    limits = rules.limits
    lines = [f"asked: {offer.asked.value if offer.asked else 'nothing'}"]
    lines.append(f"heard: {plain(offer.text, limits.heard_characters)}")
    lines += [f"maybe: {plain(text, limits.maybe_characters)}" for text in offer.alternatives[: limits.maybe_count]]
    if offer.amounts:
        amounts = zip(rules.amount_letters, offer.amounts[:MAX_AMOUNTS], strict=False)
        lines.append("amounts: " + "; ".join(f"{letter} {amount_text(a, currency)}" for letter, a in amounts))
    if offer.payees:
        people = zip(rules.payee_letters, offer.payees[:MAX_PAYEES], strict=False)
        lines.append("people: " + "; ".join(f"{letter} {_person(p, limits.name_characters)}" for letter, p in people))
    return "\n".join([*lines, "code:"])
