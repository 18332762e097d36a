"""An order that is taken back or told as past in words of no rule: it is asked about, and nothing is looked up for it.

"I was going to send ann thirty dollars but I won't", 電気代払って、もう払ってた. No value of it is kept.
A card that is to be locked and turns up in the same breath is asked about likewise.
"""

from typing import Final

from schemas.ids import PayeeId
from schemas.intent import MONEY_MOVING, Evidence, Intent, Route, Slot, Slots, Understood
from schemas.span import DateValue
from services.understanding.clarification.conditions import led_by_condition
from services.understanding.correction.editing_terms import MAX_CUTS, PAUSES, announced_cuts
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.ruleset.meanings import CARDS

_OPEN: Final = frozenset({None, Intent.QNA})
_ASKS: Final = ("?", "？")
_ASKING: Final = frozenset({"question", "recurring"})
_HARMLESS: Final = frozenset({"past", "negation"})
"""Vetoes with which it may still be an order that was meant, and is not now."""


def unsettled(said: Said, found: Understood) -> Understood | None:
    """An offer of what was ordered; None where nothing was, or something is asked."""
    rules, context = said.rules, said.context
    words = said.units.words
    called_off = rules.spaced and rules.cues.withdrawing.closes(words)  # "i was going to pay it but never mind"
    if context.idle and found.route is not Route.FAST and called_off:
        return Understood(
            Intent.DENY, route=Route.FAST, confidence=1.0, rule=rules.cues.rule("unsettled"), payees=found.payees
        )
    if found.intent is Intent.CARD_LOCK and found.then is None and context.idle and _turned_up(said):
        return _asked(rules, Intent.CARD_LOCK)
    behind = found.then if found.intent is Intent.CANCEL and context.idle and not rules.spaced else None
    if behind is not None and behind.intent in MONEY_MOVING:  # 送らないで、母に三万円は: nothing else was to be stopped
        return _asked(rules, behind.intent)
    if not context.idle or context.code or found.rule is not None or said.text.rstrip().endswith(_ASKS):
        return None
    return (led_by_condition(said) if found.intent in _OPEN else None) or _not_meant(said, found)


def called_off(said: Said, found: Understood) -> Understood | None:
    """A payment to somebody that is to be stopped, where nothing is at hand: to whom, and for which day."""
    match = said.heard.payees
    if match is None or not match.choice or not said.context.idle or found.route is Route.FAST:
        return None
    if not said.rules.cues.calling_off.meets(said.units.words):
        return None
    text = f"{said.text[: match.start]}_{said.text[match.end :]}"
    if said.rules.patterns.refusals.called_off.search(text) is None:
        return None
    rule = said.rules.cues.rule("called_off")
    days = [(Evidence.of(span), span.value) for span in said.heard.spans if isinstance(span.value, DateValue)]
    slots = Slots(
        payee=Slot(PayeeId(match.choice), Evidence.naming(match, rule)),
        date=Slot(days[0][1], days[0][0]) if len(days) == 1 else None,
    )
    return Understood(Intent.CANCEL, slots, (), Route.FAST, 1.0, rule, payees=match)


def _not_meant(said: Said, found: Understood) -> Understood | None:
    """The offer of what was meant once, or is said not to be wanted."""
    vetoes = found.stopped
    if not vetoes or found.route is not Route.QNA:
        return None
    intent = _ordered(said) if not vetoes - _HARMLESS else None
    if intent is None and not vetoes & _ASKING:
        intent = _dropped(said, refused="refusal" in vetoes)
    return _asked(said.rules, intent) if intent is not None else None


def _asked(rules: Grammar, intent: Intent) -> Understood:
    return Understood(intent, route=Route.CLARIFY, rule=rules.cues.rule("unsettled"))


def _turned_up(said: Said) -> bool:
    """Whether words behind a command to lock a card tell that there is no need to."""
    rules, words, back = said.rules, said.units.words, said.rules.symbols.get("card_back")
    return back is not None and any(e.symbol == back for at in range(1, len(words)) for e in rules.trie.scan(words, at))


def _ordered(said: Said) -> Intent | None:
    """What is ordered before words that announce something anew, or behind those that tell what was meant once."""
    rules, units = said.rules, said.units
    begin = rules.cues.intended.longest(units.words, 0)[0]
    ends = [cut.end for cut in announced_cuts(said)][:MAX_CUTS]
    if 0 < begin < len(units.words):
        joins = (at for at in range(begin, len(units.words)) if rules.phrases.conjunctions.longest(units.words, at)[1])
        ends += [units.ends[at - 1] for at in joins if at > begin][:MAX_CUTS]
    for end in ends:
        order = said.look(units.starts[begin], end, said.context) if units.starts[begin] < end else None
        if order is None or order.rule is None or order.route is not Route.FAST:
            continue
        if order.intent in MONEY_MOVING | CARDS:
            return order.intent
    return None


def _dropped(said: Said, *, refused: bool) -> Intent | None:
    """What is ordered in the first clauses, where a later one says that it is not wanted, or the deed is `refused`."""
    rules, text = said.rules, said.text
    ends = [pause.start() for pause in PAUSES.finditer(text) if pause.start() and pause.end() < len(text)]
    ends = sorted({*ends, *(cut.end for cut in announced_cuts(said))})
    later = rules.units(text[ends[0] :]).words if ends else ()
    if not refused and not rules.cues.dropping.holds(later):
        return None
    orders = (said.look(0, end, said.context) for end in ends[:MAX_CUTS])
    return next((o.intent for o in orders if o.rule is not None and o.intent in MONEY_MOVING | CARDS), None)
