"""Somebody and an own account that are both to receive the money: neither is read back, it is asked to whom it goes.

In a language whose accounts are told by the words behind them: 「田中さんに貯蓄口座へ五千円」. Where a word before it
says less, "twenty to ken for savings", it may as well be what pays: that is asked.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Evidence, Intent, Mention, Route, SlotName, Understood
from schemas.payee import MatchOutcome
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.grammar import Grammar, grammar
from services.understanding.fast.words.vocabulary import vocabulary

_MOVES: Final = frozenset({Intent.TRANSFER_MONEY, Intent.INFORM, Intent.CORRECT})
_NEAR: Final = 2
"""Words before an account of which one may say that the money goes there."""
_RECEIVERS: Final = frozenset({SlotName.PAYEE, SlotName.TARGET})


def two_receivers(heard: Annotation, found: Understood, context: Context) -> Understood | None:
    """The same order without whom it goes to; None where the words name one receiver, or none."""
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    if rules.spaced:
        return _beside(rules, text, found, context)
    if found.intent not in _MOVES or not _somebody(heard, found):
        return None
    units = rules.units(text)
    place = _onto(rules, units, text, context)
    repaired = rules.accounts.repairs.holds(units.words)
    both = found.slots.payee is not None and found.slots.target is not None
    second = found.then is not None and found.then.slots.amount is not None
    if place is None or ((repaired or second) and not both):
        return None
    named = tuple(each for each in found.unresolved if each.slot not in _RECEIVERS and not _over(each, place))
    rule = rules.accounts.rule("two_receivers")
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


def _beside(rules: Grammar, text: str, found: Understood, context: Context) -> Understood | None:
    """The order without an own account that it names beside somebody; whom it goes to is asked, or what pays it."""
    target, payee = found.slots.target, found.slots.payee
    if payee is not None and found.intent in _MOVES and (other := _elsewhere(rules, text)) is not None:
        return replace(found, unread=(*found.unread, other))
    waits = found.intent is Intent.CORRECT and bool(context.terms.names)
    if target is None or found.intent not in _MOVES or not (payee is not None or waits):
        return None
    rule = rules.accounts.rule("two_receivers")
    onto = not rules.words.onto.isdisjoint(rules.units(text[: target.evidence.start]).words[-_NEAR:])
    kept = replace(found.slots, target=None)
    if not onto:
        pays = Mention(SlotName.SOURCE, replace(target.evidence, rule=rule))
        return replace(found, slots=kept, rule=rule, unresolved=(*found.unresolved, pays))
    if payee is None:  # the account in place of somebody
        return None
    missing = tuple(dict.fromkeys((*found.missing, SlotName.PAYEE)))
    return replace(found, slots=replace(kept, payee=None), missing=missing, rule=rule, payees=None)


def _elsewhere(rules: Grammar, text: str) -> Evidence | None:
    """An account of somebody's that nobody knows, where the money is to go there: "to her other account"."""
    units = rules.units(text)
    for at in range(_NEAR, len(units.words)):
        end = rules.accounts.elsewhere.longest(units.words, at)[0]
        if end > at and not rules.words.onto.isdisjoint(units.words[at - _NEAR : at]):
            start, stop = units.starts[at], units.ends[end - 1]
            return Evidence(start, stop, text[start:stop], rules.accounts.rule("two_receivers"))
    return None


def another_than(heard: Annotation, found: Understood) -> Understood | None:
    """The order without a payee who is named as the one that is not meant: 「佐藤健じゃないほうの健さんに」."""
    payee, text = found.slots.payee, heard.transcript.text
    if payee is None or found.intent not in _MOVES:
        return None
    if grammar(language(heard.transcript.locale)).patterns.not_this.match(text, payee.evidence.end) is None:
        return None
    missing = tuple(dict.fromkeys((*found.missing, SlotName.PAYEE)))
    return replace(found, slots=replace(found.slots, payee=None), missing=missing, payees=None)


def _somebody(heard: Annotation, found: Understood) -> bool:
    """Whether somebody is to receive it; what a rule did not read may have named him without a slot."""
    named = found.slots.payee is not None or any(each.slot is SlotName.PAYEE for each in found.unresolved)
    match = heard.payees
    return named or (found.route is not Route.FAST and match is not None and match.outcome is MatchOutcome.CLEAR)


def _onto(rules: Grammar, units: Units, text: str, context: Context) -> Evidence | None:
    """Where an account is named as one that receives; one that the caller lacks must be called an account."""
    nouns, marks, size = vocabulary(rules, context), rules.accounts, len(units.words)
    for at in range(size):
        for edge in nouns.trie.scan(units.words, at):
            noun = nouns.nouns[edge.symbol]
            if noun.kind != "account" or edge.end == size or not marks.onto.scan(units.words, edge.end):
                continue
            if noun.id is not None or any(marks.places.scan(units.words, inner) for inner in range(at, edge.end)):
                start, end = units.starts[at], units.ends[edge.end - 1]
                return Evidence(start, end, text[start:end], RuleId(marks.id))
    return None


def _over(mention: Mention, place: Evidence) -> bool:
    """Whether the account was taken for one that pays, or for a name."""
    return mention.evidence.start < place.end and place.start < mention.evidence.end
