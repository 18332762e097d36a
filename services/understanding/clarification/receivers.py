"""Somebody and an own account that are both to receive the money: neither is read back, it is asked to whom it goes.

In a language whose accounts are told by the words behind them: 「田中さんに貯蓄口座へ五千円」. Where a word before it
says less, "twenty to ken for savings", it may as well be what pays: that is asked.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId
from schemas.intent import Annotation, Evidence, Intent, Mention, Route, SlotName, Topic, Understood
from schemas.payee import MatchOutcome
from schemas.span import overlap
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import others_accounts, own_accounts
from services.understanding.fast.words.vocabulary import vocabulary

_MOVES: Final = frozenset({Intent.TRANSFER_MONEY, Intent.INFORM, Intent.CORRECT})
_NEAR: Final = 2
"""Words before an account of which one may say that the money goes there."""
_POSSESSIVES: Final = ("'s", "’s")
_MOST_WORDS: Final = 8
"""Words of "everyone in my family apart from", at most."""
_RECEIVERS: Final = frozenset({SlotName.PAYEE, SlotName.TARGET})


def two_receivers(said: Said, found: Understood) -> Understood | None:
    """The same order without whom it goes to; None where the words name one receiver, or none."""
    rules = said.rules
    if rules.spaced:
        return _them_and(said, found) or _beside(said, found)
    if found.intent not in _MOVES or not _somebody(said.heard, found):
        return None
    place, hangs = _onto(said), found.slots.condition
    if place is not None and hangs is not None and overlap(place, hangs.evidence):  # 「生活費に20万以上残るなら」
        return None
    conditional = found.slots.about == Topic.CONDITIONAL
    if place is not None and conditional and any(overlap(place, each) for each in found.unread):
        return None  # 「普通に足りなかったら」
    repaired = rules.cues.repairs.holds(said.units.words)
    both = found.slots.payee is not None and found.slots.target is not None
    second = found.then is not None and found.then.slots.amount is not None
    if place is None or ((repaired or second) and not both):
        return None
    named = tuple(
        each for each in found.unresolved if each.slot not in _RECEIVERS and not overlap(each.evidence, place)
    )
    rule = rules.cues.rule("two_receivers")
    asked = () if found.intent is Intent.TRANSFER_MONEY else (Mention(SlotName.PAYEE, replace(place, rule=rule)),)
    return replace(
        found,
        slots=replace(found.slots, payee=None, target=None),
        missing=tuple(dict.fromkeys((*found.missing, SlotName.PAYEE))),
        route=Route.FAST if found.route is Route.FAST else Route.CLARIFY,
        rule=rule,
        payees=None,
        unresolved=(*named, *asked),
        then=None,
    )


def _beside(said: Said, found: Understood) -> Understood | None:
    """The order without an own account that it names beside somebody; whom it goes to is asked, or what pays it."""
    target, payee, rules = found.slots.target, found.slots.payee, said.rules
    if payee is not None and found.intent in _MOVES and (other := _elsewhere(said)) is not None:
        return replace(found, unread=(*found.unread, other))
    if payee is not None and found.intent in _MOVES and (own := _own_beside(said, found, payee.evidence)) is not None:
        return own
    waits = found.intent is Intent.CORRECT and bool(said.context.terms.names)
    if target is None or found.intent not in _MOVES or not (payee is not None or waits):
        return None
    rule = rules.cues.rule("two_receivers")
    onto = not rules.words.onto.isdisjoint(rules.units(said.text[: target.evidence.start]).words[-_NEAR:])
    kept = replace(found.slots, target=None)
    if not onto:
        pays = Mention(SlotName.SOURCE, replace(target.evidence, rule=rule))
        return replace(found, slots=kept, rule=rule, unresolved=(*found.unresolved, pays))
    if payee is None:  # the account in place of somebody
        return None
    missing = tuple(dict.fromkeys((*found.missing, SlotName.PAYEE)))
    return replace(found, slots=replace(kept, payee=None), missing=missing, rule=rule, payees=None)


def _them_and(said: Said, found: Understood) -> Understood | None:
    """The order without its payee, nor a sum that may be two: "send him two hundred and forty eight to ann"."""
    payee, amount, words = found.slots.payee, found.slots.amount, said.units.words
    if payee is None or amount is None or found.intent is not Intent.TRANSFER_MONEY or found.then is not None:
        return None
    evidence, rules = amount.evidence, said.rules.words
    place = said.units.covering(evidence.start, evidence.end)
    if place is None or place[0] == 0 or words[place[0] - 1] not in rules.them or place[1] >= len(words):
        return None
    if words[place[1]] not in rules.onto or payee.evidence.start < evidence.end:
        return None
    two = said.rules.cues.joints.holds(words[slice(*place)])
    slots = replace(found.slots, payee=None, amount=None if two else amount)
    missing = (SlotName.AMOUNT, SlotName.PAYEE) if two else (SlotName.PAYEE,)
    return replace(found, slots=slots, missing=missing, rule=said.rules.cues.rule("two_receivers"), payees=None)


def _own_beside(said: Said, found: Understood, payee: Evidence) -> Understood | None:
    """An own account that no rule took: another receiver, or right behind the name: "emily savings"."""
    hearing, slots = said.hearing, found.slots
    taken = [
        *found.unread,
        *(each.evidence for each in (*found.unresolved, slots.payee, slots.source, slots.target) if each),
    ]
    rule, into = said.rules.cues.rule("two_receivers"), [e for part, e, _ in own_accounts(hearing) if part == "target"]
    for edge in (*into, *others_accounts(hearing)):
        place = hearing.said(edge.start, edge.end, rule)
        between = said.text[payee.end : place.start]
        if any(overlap(place, each) for each in taken):
            continue
        if between and not between.strip(" ,") and payee.surface[-2:] not in _POSSESSIVES:
            return replace(found, unread=(*found.unread, place))
        if edge in into:
            missing = tuple(dict.fromkeys((*found.missing, SlotName.PAYEE)))
            return replace(found, slots=replace(slots, payee=None), missing=missing, rule=rule, payees=None)
    return None


def _elsewhere(said: Said) -> Evidence | None:
    """An account of somebody's that nobody knows, where the money is to go there: "to her other account"."""
    units, rules = said.units, said.rules
    for at in range(_NEAR, len(units.words)):
        end = rules.cues.elsewhere.longest(units.words, at)[0]
        if end > at and not rules.words.onto.isdisjoint(units.words[at - _NEAR : at]):
            rule = rules.cues.rule("two_receivers")
            return said.heard.evidence(units.starts[at], units.ends[end - 1], rule)
    return None


def another_than(said: Said, found: Understood) -> Understood | None:
    """The order without a payee who is named as the one that is not meant: 「佐藤健じゃないほうの健さんに」."""
    payee = found.slots.payee
    if payee is None or found.intent not in _MOVES:
        return None
    left_out = said.rules.spaced and _left_out(said, payee.evidence)
    if not left_out and said.rules.patterns.names.not_this.match(said.text, payee.evidence.end) is None:
        return None
    missing = tuple(dict.fromkeys((*found.missing, SlotName.PAYEE)))
    route = Route.FAST if left_out else found.route
    return replace(found, slots=replace(found.slots, payee=None), missing=missing, payees=None, route=route)


def named_besides(said: Said, found: Understood) -> Understood | None:
    """The order, with somebody else whom a later clause names; which is meant is asked: 「花子に、一郎です、」."""
    payee, behind = found.slots.payee, said.rules.patterns.names.named_apart
    if payee is None or payee.readings or found.then is not None or found.intent not in _MOVES or said.rules.spaced:
        return None
    if behind.search(said.text, payee.evidence.end) is None:
        return None
    for evidence, id_ in Mentions.of_all(said).payees():
        alone = evidence.start > payee.evidence.end and behind.match(said.text, evidence.end) is not None
        if alone and id_ != payee.value:
            either = replace(payee, readings=(id_,))
            rule = said.rules.cues.rule("doubled")
            return replace(found, slots=replace(found.slots, payee=either), rule=rule, doubted=(SlotName.PAYEE,))
    return None


def _left_out(said: Said, payee: Evidence) -> bool:
    """Whether all are meant but the payee: "anyone but emily"."""
    units, marks = said.units, said.rules.cues.all_but
    place = units.covering(payee.start, payee.end) if marks.meets(units.words) else None
    return place is not None and marks.ends(units.words, place[0], _MOST_WORDS)


def _somebody(heard: Annotation, found: Understood) -> bool:
    """Whether somebody is to receive it; what a rule did not read may have named him without a slot."""
    named = found.slots.payee is not None or any(each.slot is SlotName.PAYEE for each in found.unresolved)
    match = heard.payees
    return named or (found.route is not Route.FAST and match is not None and match.outcome is MatchOutcome.CLEAR)


def _onto(said: Said) -> Evidence | None:
    """Where an account is named as one that receives; one that the caller lacks must be called an account."""
    nouns, marks = vocabulary(said.rules, said.context), said.rules.cues
    units, size = said.units, len(said.units.words)
    for at in range(size):
        for edge in nouns.trie.scan(units.words, at):
            noun = nouns.nouns[edge.symbol]
            if noun.kind != "account" or edge.end == size or not marks.onto.scan(units.words, edge.end):
                continue
            if noun.id is not None or any(marks.places.begins(units.words, inner) for inner in range(at, edge.end)):
                start, end = units.starts[at], units.ends[edge.end - 1]
                return said.heard.evidence(start, end, RuleId(marks.id))
    return None
