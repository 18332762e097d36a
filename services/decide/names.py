"""Speakable names of things: accounts by name and last digits, payees with what tells them apart."""

from collections.abc import Iterable

from schemas.banking import Account, Bill, Card
from schemas.decision import Reply, ReplyParam
from schemas.ids import AccountId, BillId, CardId, PayeeId, RuleId
from schemas.payee import Payee
from services.decide.events import Facts
from services.decide.rules import dialogue_rules


def reply(id_: str, **params: ReplyParam) -> Reply:
    """A reply by its template's id."""
    return Reply(RuleId(id_), params)


def account(facts: Facts, id_: AccountId | None) -> Account | None:
    """The caller's account with this id."""
    return next((a for a in facts.profile.accounts if a.id == id_), None)


def card(facts: Facts, id_: CardId | None) -> Card | None:
    """The caller's card with this id."""
    return next((c for c in facts.profile.cards if c.id == id_), None)


def bill(facts: Facts, id_: BillId | None) -> Bill | None:
    """The caller's bill with this id."""
    return next((b for b in facts.profile.bills if b.id == id_), None)


def account_name(facts: Facts, id_: AccountId) -> Reply:
    """An account as said aloud; its last digits only where names repeat."""
    found = account(facts, id_)
    if found is None:
        return reply("name.some_account")
    twins = [a for a in facts.profile.accounts if a.name == found.name]
    if len(twins) > 1:
        return reply("name.account_ending", name=found.name, last4=found.last4)
    return reply("name.account", name=found.name)


def card_name(found: Card) -> Reply:
    """A card as said aloud."""
    return reply("name.card", name=found.name, last4=found.last4)


def payee_name(facts: Facts, id_: PayeeId) -> str:
    """A payee's name as written in the book."""
    found = facts.payees.get(id_)
    return found.name if found is not None else ""


def payee_told_apart(facts: Facts, id_: PayeeId, rivals: Iterable[PayeeId]) -> Reply:
    """A payee's name, with relationship, bank or last digits where a rival bears the same name."""
    found = facts.payees.get(id_)
    if found is None:
        return reply("name.payee", name="")
    twins = [facts.payees[r] for r in rivals if r in facts.payees and facts.payees[r].name == found.name]
    if len(twins) < 2:  # noqa: PLR2004 - itself and another
        return reply("name.payee", name=found.name)
    if found.relationship and len({t.relationship for t in twins}) == len(twins):
        return reply("name.payee_relation", name=found.name, relation=found.relationship)
    return reply("name.payee_ending", name=found.name, last4=found.account_last4)


def last_digits(facts: Facts, key: str) -> str:
    """The last digits of an offered payee's account or of an offered card; none for anything else."""
    payee = facts.payees.get(PayeeId(key))
    offered = card(facts, CardId(key))
    return payee.account_last4 if payee is not None else offered.last4 if offered is not None else ""


def marks(facts: Facts, choices: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The words that tell each offered payee from the others: bank, part of its name, relationship, aliases."""
    said = [_said_of(facts.payees[PayeeId(key)]) if PayeeId(key) in facts.payees else {} for key in choices]
    return tuple(
        tuple(word for word in own if not any(word in other for other in said if other is not own)) for own in said
    )


def _said_of(payee: Payee) -> dict[str, None]:
    """In order and without repetition."""
    vague = dialogue_rules().vague
    ending = next((end for end in vague if not payee.bank.isascii() and payee.bank.endswith(end)), "")
    parts = [word for word in payee.bank.split() if word.casefold() not in vague] if payee.bank.isascii() else []
    words = (payee.bank, payee.bank.removesuffix(ending), *parts, payee.relationship, *payee.aliases)
    return dict.fromkeys(word.casefold() for word in words if word)
