"""Speakable names of things: accounts by name and last digits, payees with what tells them apart."""

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, TypeVar

from schemas.banking import Account, Bill, Card
from schemas.decision import Reply, ReplyParam
from schemas.ids import AccountId, BillId, CardId, PayeeId, RuleId, language
from schemas.payee import Payee
from services.dialogue.events import Facts
from services.dialogue.rules import dialogue_rules

_T = TypeVar("_T")
_VOWELS: Final = dict(zip("アイウエオ", "AIUEO", strict=True))


def reply(id_: str, **params: ReplyParam) -> Reply:
    """A reply by its template's id."""
    return Reply(RuleId(id_), params)


def told_of(things: tuple[_T, ...], most: int) -> tuple[tuple[_T, ...], int]:
    """Those that are named, and how many others there are; one more is named as soon as counted."""
    told = things if len(things) <= most + 1 else things[:most]
    return told, len(things) - len(told)


def both(first: Reply, second: Reply) -> Reply:
    """One sentence, and another."""
    return reply("say.both", first=first, second=second)


def beyond(said: Reply | None, told: Sequence[Reply]) -> Reply | None:
    """What a reply says besides what was done, which is told again by itself."""
    if said is None or said in told:
        return None
    first, second = said.params.get("first"), said.params.get("second")
    if said.id != "say.both" or not isinstance(first, Reply) or not isinstance(second, Reply):
        return said
    first, second = beyond(first, told), beyond(second, told)
    return second if first is None else first if second is None else both(first, second)


def account(facts: Facts, id_: AccountId | None) -> Account | None:
    """The caller's account with this id."""
    return next((a for a in facts.profile.accounts if a.id == id_), None)


def card(facts: Facts, id_: CardId | None) -> Card | None:
    """The caller's card with this id."""
    return next((c for c in facts.profile.cards if c.id == id_), None)


def bill(facts: Facts, id_: BillId | None) -> Bill | None:
    """The caller's bill with this id."""
    return next((b for b in facts.profile.bills if b.id == id_), None)


def open_bills(facts: Facts) -> tuple[Bill, ...]:
    """The caller's bills, but those that were paid in this call."""
    return tuple(b for b in facts.profile.bills if b.id not in facts.paid)


def account_name(facts: Facts, id_: AccountId) -> Reply:
    """An account as said aloud; its last digits only where names repeat."""
    found = account(facts, id_)
    if found is None:
        return reply("name.some_account")
    twins = [a for a in facts.profile.accounts if a.name == found.name]
    if len(twins) > 1:
        return reply("name.account_ending", name=found.name, last4=found.last4)
    return reply("name.account", name=found.name)


def by_reading(facts: Facts) -> bool:
    """Whether names are said as they sound, and told apart by what can be heard."""
    return language(facts.locale) in dialogue_rules().by_reading


def card_name(facts: Facts, found: Card) -> Reply:
    """A card as said aloud."""
    alone = len([c for c in facts.profile.cards if c.name == found.name]) < 2  # noqa: PLR2004 - itself and another
    if alone and by_reading(facts):
        return reply("name.card_only", name=found.name)
    return reply("name.card", name=found.name, last4=found.last4)


def day_name(facts: Facts, day: date) -> Reply:
    """A day as said aloud."""
    near = by_reading(facts) and day.year == facts.today.year
    return reply("date.near", near=day) if near else reply("date.full", date=day)


def payee_name(facts: Facts, id_: PayeeId) -> str:
    """A payee's name as written in the book."""
    found = facts.payees.get(id_)
    return found.name if found is not None else ""


def said_name(facts: Facts, id_: PayeeId) -> str:
    """A payee's name as said aloud."""
    found = facts.payees.get(id_)
    return "" if found is None else _said(found, facts)


def _said(payee: Payee, facts: Facts) -> str:
    return payee.kana if payee.kana and by_reading(facts) else payee.name


def payee_told_apart(facts: Facts, id_: PayeeId, rivals: Iterable[PayeeId] | None = None) -> Reply:
    """A payee's name, with bank, relationship or last digits where a rival's is the same, or sounds like it.

    `rivals` are all in the book where none are given.
    """
    found = facts.payees.get(id_)
    if found is None:
        return reply("name.payee", name="")
    book = facts.payees
    others = book.values() if rivals is None else [book[rival] for rival in rivals if rival in book]
    name, twins = _said(found, facts), _alike(others, found, facts)
    if len(twins) < 2:  # noqa: PLR2004 - itself and another
        return reply("name.payee", name=name)
    if by_reading(facts) and found.bank and len({t.bank for t in twins}) == len(twins):
        return reply("name.payee_bank", name=name, bank=found.bank)
    if found.relationship and len({t.relationship for t in twins}) == len(twins):
        return reply("name.payee_relation", name=name, relation=found.relationship)
    return reply("name.payee_ending", name=name, last4=found.account_last4)


def payee_at_bank(facts: Facts, id_: PayeeId, name: Reply) -> Reply:
    """A payee for a read-back, told apart as `name`: with the bank, in a language that says it."""
    found = facts.payees.get(id_)
    if found is None or not found.bank or not by_reading(facts) or name.id == "name.payee_bank":
        return name
    return reply("name.payee_at", payee=name, bank=found.bank)


def payee_in_full(facts: Facts, id_: PayeeId) -> Reply:
    """A payee by name, relationship and bank, as far as they are known."""
    found = facts.payees.get(id_)
    name, relation = said_name(facts, id_), "" if found is None else found.relationship
    told = reply("name.payee_relation", name=name, relation=relation) if relation else reply("name.payee", name=name)
    return told if found is None or not found.bank else reply("name.payee_at", payee=told, bank=found.bank)


def same_but_for_bank(facts: Facts, ids: tuple[PayeeId, ...]) -> tuple[str, ...]:
    """The banks by which payees of one name are told apart; none where something else has to."""
    found = [facts.payees[id_] for id_ in ids if id_ in facts.payees]
    banks = tuple(dict.fromkeys(payee.bank for payee in found if payee.bank))
    one_name = len({_said(payee, facts) for payee in found}) == 1
    return banks if by_reading(facts) and one_name and len(banks) == len(ids) > 1 else ()


def _alike(payees: Iterable[Payee], found: Payee, facts: Facts) -> list[Payee]:
    """Those whose names sound like one's. A book may have ten thousand: what begins otherwise is not looked at."""
    if not by_reading(facts):
        begin, heard = found.name[:1].casefold(), _heard(found.name)
        letters = next((each for each in dialogue_rules().sound_begins if begin in each), begin)
        either = {*letters, *letters.upper()}
        return [one for one in payees if one.name[:1] in either and _heard(one.name) == heard]
    sound = _sound(found.kana or found.name)
    begins = {unicodedata.normalize("NFC", sound[:1] + voiced) for voiced in ("", "\u3099", "\u309a")}
    near = [one for one in payees if (one.kana or one.name)[:1] in begins]
    return [one for one in near if _sound(one.kana or one.name) == sound]


def apart_by_ear(facts: Facts, one: PayeeId, other: PayeeId) -> bool:
    """Whether two payees' names, said carefully, are two: オノ and オオノ, not ヤマザキ and ヤマサキ."""
    names = [facts.payees[id_].kana for id_ in (one, other) if id_ in facts.payees]
    return by_reading(facts) and all(names) and len({"".join(_unvoiced(name)) for name in names}) > 1


def _unvoiced(name: str) -> list[str]:
    return [c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c) and c not in " 　"]


@lru_cache(maxsize=10_000)
def _heard(name: str) -> str:
    """What is surely heard of a name in Latin letters: Sean and Shawn, Stephen Clarke and Steven Clark are one."""
    plain = "".join(c for c in unicodedata.normalize("NFD", name.casefold()) if not unicodedata.combining(c))
    return dialogue_rules().heard(plain)


@lru_cache(maxsize=10_000)
def _sound(name: str) -> str:
    """A name without what is easily misheard on a line: voicing, long vowels, the space."""
    plain = [c for c in _unvoiced(name) if c != "ー"]
    return "".join(c for before, c in zip(["\0", *plain], plain, strict=False) if not _lengthens(before, c))


def _lengthens(before: str, kana: str) -> bool:
    """Whether a kana is but the second half of a long vowel: オオ, ユウ, コウ, ケイ."""
    if kana not in _VOWELS:
        return False
    vowel = unicodedata.name(before, "")[-1:]
    return _VOWELS[kana] in {vowel, {"O": "U", "E": "I"}.get(vowel, "")}


def last_digits(facts: Facts, key: str) -> str:
    """The last digits of an offered payee's account or of an offered card; none for anything else."""
    payee = facts.payees.get(PayeeId(key))
    offered = card(facts, CardId(key))
    return payee.account_last4 if payee is not None else offered.last4 if offered is not None else ""


def marks(facts: Facts, choices: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The words that tell each offered payee or card from the others: bank, part of its name, relationship, aliases."""
    said = [_said_of(facts.payees[PayeeId(key)]) if PayeeId(key) in facts.payees else {} for key in choices]
    cards = [card(facts, CardId(key)) for key in choices]
    said = [dict.fromkeys(c.name.split()) if c and c.name.isascii() else s for s, c in zip(said, cards, strict=True)]
    return tuple(
        tuple(word for word in own if not any(word in other for other in said if other is not own)) for own in said
    )


def _said_of(payee: Payee) -> dict[str, None]:
    """In order and without repetition."""
    rules = dialogue_rules()
    vague = rules.vague
    ending = next((end for end in vague if not payee.bank.isascii() and payee.bank.endswith(end)), "")
    parts = [word for word in payee.bank.split() if word.casefold() not in vague] if payee.bank.isascii() else []
    kinds = (ending, rules.vague_short.get(ending, ""))
    own, short = payee.relationship, payee.relationship.rpartition(" ")[2]  # "the aide", of a home aide
    alike = (words for key, words in rules.told_from.items() if key == own or (not key.isascii() and key in own))
    related = (own, short, *(word for words in alike for word in words))
    words = (payee.bank, payee.bank.removesuffix(ending), *kinds, *parts, *related, *payee.aliases)
    return dict.fromkeys(word.casefold() for word in words if word)
