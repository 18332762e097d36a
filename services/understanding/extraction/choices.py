"""Everything the model may answer to one offer, as lines of codes: nothing else can be generated or accepted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from schemas.extraction import ExtractionOffer, Fallback
from schemas.ids import PayeeId
from schemas.intent import MONEY_MOVING, Intent
from schemas.span import MoneyValue
from services.understanding.extraction.prompt import MAX_AMOUNTS, MAX_PAYEES, CodeRule, ExtractionPrompt
from services.understanding.extraction.reply import Unreadable


@dataclass(frozen=True, slots=True)
class Choice:
    """What one line means. `doubtful`: the model chose, but wants the caller asked."""

    intent: Intent | None
    amount: MoneyValue | None = None
    payee: PayeeId | None = None
    fallback: Fallback = Fallback.OK
    doubtful: bool = False

    @property
    def needs_confirmation(self) -> bool:
        """Money and doubt are always confirmed: the model can raise this, never lower it."""
        return self.doubtful or self.intent in MONEY_MOVING or self.intent is Intent.CARD_UNLOCK


def choices(offer: ExtractionOffer, rules: ExtractionPrompt) -> Mapping[str, Choice]:
    """Every line that may answer `offer`, with its meaning; at most about 150."""
    lines: dict[str, Choice] = {
        rules.doubtful: Choice(None, fallback=Fallback.AMBIGUOUS_INTENT),
        rules.not_banking: Choice(None, fallback=Fallback.NOT_BANKING),
    }
    for code, rule in rules.codes.items():
        if not rule.when_asked or offer.asked is not None:
            lines.update(_of_code(code, rule, offer, rules))
    return lines


def chosen_of(lines: Mapping[str, Choice], answer: str) -> Choice:
    """The choice behind an answer. Raises Unreadable where it was not offered."""
    chosen = lines.get(answer)
    if chosen is None:
        raise Unreadable("not_offered")
    return chosen


def _of_code(
    code: str, rule: CodeRule, offer: ExtractionOffer, rules: ExtractionPrompt
) -> Iterator[tuple[str, Choice]]:
    if not rule.amount and not rule.payee:
        yield code, Choice(rule.intent)
        yield f"{code} {rules.doubtful}", Choice(rule.intent, doubtful=True)
        return
    amounts = _amounts(offer, rules) if rule.amount else {"": None}
    payees = _payees(offer, rules) if rule.payee else {"": None}
    for (amount_mark, amount), (payee_mark, payee) in product(amounts.items(), payees.items()):
        marks = [mark for mark in (amount_mark, payee_mark) if mark]
        if rule.when_asked and all(mark == rules.not_said for mark in marks):
            continue
        fallback = Fallback.OK
        if payee_mark == rules.doubtful:
            fallback = Fallback.AMBIGUOUS_PAYEE
        elif amount_mark == rules.doubtful:
            fallback = Fallback.AMBIGUOUS_AMOUNT
        yield " ".join([code, *marks]), Choice(rule.intent, amount, payee, fallback, fallback is not Fallback.OK)


def _amounts(offer: ExtractionOffer, rules: ExtractionPrompt) -> dict[str, MoneyValue | None]:
    offered = dict(zip(rules.amount_letters, offer.amounts[:MAX_AMOUNTS], strict=False))
    doubt = {rules.doubtful: None} if len(offered) > 1 else {}
    return {rules.not_said: None} | offered | doubt


def _payees(offer: ExtractionOffer, rules: ExtractionPrompt) -> dict[str, PayeeId | None]:
    offered = {letter: p.id for letter, p in zip(rules.payee_letters, offer.payees[:MAX_PAYEES], strict=False)}
    doubt = {rules.doubtful: None} if len(offered) > 1 else {}
    return {rules.not_said: None} | offered | doubt


def schema(lines: Mapping[str, Choice]) -> dict[str, object]:
    """The JSON schema of the answer: one string out of `lines`."""
    return {"type": "string", "enum": list(lines)}
