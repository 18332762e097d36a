"""Namesakes told apart behind the order: "send john porter eighty, the cedar one", "… not the harbour one".

And who somebody is, right behind the name, "pay priya, my accountant, fifty", or before it: 家主の松尾さん; where which
one was asked, "my landlord marcus" as well.
"""

from dataclasses import replace
from itertools import islice
from typing import Final

from schemas.ids import PayeeId
from schemas.intent import COUNTED, SlotName, Understood
from schemas.payee import FindPayee, MatchOutcome, PayeeMatch
from services.understanding.correction.merging import said_in
from services.understanding.correction.name_completion import Told
from services.understanding.correction.said import Said

_MOST: Final = 3
"""Places that are looked at."""


def qualified(said: Said, find: FindPayee, told: Told) -> Understood | None:
    """The order for the one whom a bank or an account's end tells; None where neither is told of an open name."""
    match, text, spaced = said.heard.payees, said.text, said.rules.spaced
    if not spaced or match is None or match.outcome is not MatchOutcome.ASK or not said.context.idle:
        return None
    for later in islice(said.rules.patterns.names.qualified.finditer(text, match.end), _MOST):
        bank = later["bank"] or later["of_bank"] or later["not_bank"]
        told_by = f"at {bank}" if bank else str(later["ending"])
        one = _chosen(match, told_by, find, other=bool(later["other"] or later["not_bank"]))
        if one is None:
            continue
        start, end = later.span()
        order = said_in(told(text[:start] + " " * (end - start) + text[end:], _named(match, one)), text)
        if order.intent in COUNTED and order.rule is not None and order.slots.payee is not None:
            return order
    return None


def apposed(said: Said, find: FindPayee, told: Told) -> Understood | None:
    """The order without what else the payee is called beside the name; None where that may be somebody else."""
    match, text = said.heard.payees, said.text
    asked = said.context.asked is SlotName.PAYEE
    if match is None or match.outcome is MatchOutcome.NOBODY or not (said.context.idle or asked):
        return None
    patterns = said.rules.patterns.names
    before = patterns.preposed.search(text, 0, match.start) if asked else None
    places = [each.match(text, match.end) for each in (patterns.apposed_two, patterns.apposed)]
    for beside in (before, *places):
        one = _related(match, beside["name"], find) if beside is not None else None
        if beside is None or one is None:
            continue
        start, end = beside.span()
        order = said_in(told(text[:start] + " " * (end - start) + text[end:], _named(match, one)), text)
        return order if order.intent in COUNTED and order.rule is not None and order.whole else None
    return None


def introduced(said: Said, found: Understood, told: Told) -> Understood | None:
    """The order without what the payee is to the caller before the name, which may tell which of that name is meant."""
    match, text, of = said.heard.payees, said.text, said.rules.patterns.names.of
    if match is None or of not in text[: match.start] or not said.context.idle or found.whole:
        return None
    before = text[: match.start].rstrip()
    open_ = match.candidates[: max(1, match.plausible)]
    words = {each.id: f"{(each.relationship or '').split(of)[0]}{of}" for each in open_}
    own = [id_ for id_, words_ in words.items() if words_ != of and before.endswith(words_)]
    if len(own) != 1:
        return None
    start = len(before) - len(words[own[0]])
    order = told(text[:start] + " " * (match.start - start) + text[match.start :], _named(match, own[0]))
    return said_in(order, text) if order.intent in COUNTED and order.rule is not None and order.whole else None


def _related(match: PayeeMatch, name: str, find: FindPayee) -> PayeeId | None:
    """Who of those that may be meant is called so, in the caller's own word for them or in one of ours."""
    open_ = match.candidates[: match.plausible] if match.choice is None else match.candidates[:1]
    own = [each.id for each in open_ if (each.relationship or "").casefold() == name.casefold()]
    if len(own) == 1:
        return own[0]
    same = find(name)
    known = same is not None and same.heard == name and same.choice in {each.id for each in open_}
    return PayeeId(same.choice) if known and same is not None and same.choice is not None else None


def _chosen(match: PayeeMatch, told_by: str, find: FindPayee, *, other: bool) -> PayeeId | None:
    """Who of those that may be meant is told, or is left of two where that one is not meant."""
    open_ = match.candidates[: match.plausible]
    found = (find(f"{each.display_name} {told_by}") for each in open_)
    clear = {one.choice for one in found if one is not None and one.outcome is MatchOutcome.CLEAR}
    there = [each.id for each in open_ if each.id in clear]
    left = [each.id for each in open_ if each.id not in there] if other and there else there
    return left[0] if len(left) == 1 and len(clear) == 1 else None


def _named(match: PayeeMatch, one: PayeeId) -> PayeeMatch:
    first = [replace(each, score=1.0) for each in match.candidates if each.id == one]
    rest = [replace(each, score=0.0) for each in match.candidates if each.id != one]
    return replace(match, candidates=(*first, *rest), outcome=MatchOutcome.CLEAR, choice=one, plausible=1)
