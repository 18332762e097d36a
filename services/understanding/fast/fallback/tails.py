"""What is wanted behind words that nobody read, in a language that says last what is wanted: 「…残高を教えて」.

Only what does nothing is taken so, or the wish for a person: a word of a money command is never passed over.
"""

from dataclasses import replace
from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import READING, Evidence, Intent, Route, Slot, Understood
from schemas.span import Span, SpanKind
from services.understanding.fast.freeform.cued import period_of
from services.understanding.fast.patterns.units import in_nouns
from services.understanding.fast.words.hearing import Hearing

_RULE: Final = RuleId("intents.tails@1")
TAKEN: Final = READING | {Intent.HUMAN_HANDOFF}
STOPS: Final = frozenset({"question", "negation", "conditional", "reported", "recurring", "trouble"})
"""Vetoes with which the words before may say that something else is meant."""
_DOES: Final = ("transfer_do", "transfer_able", "repay_do", "pay_do", "pay_able", "lock_do", "unlock_do", "lost_do")
_ORDERS: Final = ("transfer_do", "repay_do")
_BACK: Final = ("no", "change")
"""Lists of words that take something back."""
_SHORTEST: Final = 3
"""Units of a verb with its ending, at least: 「ない」 alone loses nothing."""
_LEAST: Final = 4
_MOST: Final = 40
"""Units of what is wanted, at least, and of what stands before it, at most."""


def taken(found: Understood | None) -> bool:
    """Whether what the last words ask for does nothing, or is a person, and nothing of it is open."""
    if found is None or found.intent not in TAKEN or found.route not in {Route.FAST, Route.HUMAN}:
        return False
    return not found.unresolved and found.then is None


def told_before(hearing: Hearing, found: Understood, cut: int) -> Understood:
    """`found` behind the code point `cut`; a list with where the money went, right before it, and the days."""
    heard, slots = hearing.heard, found.slots
    if found.intent is not Intent.RECENT_TRANSACTIONS:
        return found
    days = [each for each in heard.spans if each.kind is SpanKind.DATE]
    period = slots.period or (period_of(days) if len(days) == 1 else None)
    slots = replace(slots, period=period, merchant=_shop(hearing, slots.merchant, days, cut))
    match, told = heard.payees, slots.payee or slots.merchant
    if told or match is None or match.choice is None:
        return replace(found, slots=slots)
    if hearing.grammar.patterns.names.to_or_from.fullmatch(heard.transcript.text, match.end, cut) is None:
        return found
    payee = Slot(PayeeId(match.choice), Evidence.naming(match, _RULE))
    return replace(found, slots=replace(slots, payee=payee), payees=match)


def _shop(hearing: Hearing, merchant: Slot[str] | None, days: list[Span], cut: int) -> Slot[str] | None:
    """Where it was spent, with what of its name stands before the code point `cut`: 「先月まるふく｜スーパーで」."""
    text, patterns = hearing.text, hearing.grammar.patterns.own
    begin = max((day.end for day in days if day.end <= cut), default=0)
    if merchant is None and patterns.spent.match(text, cut) is not None:
        name, end = patterns.spent_at.fullmatch(text, begin, cut), 0
    elif merchant is not None and begin and merchant.evidence.start == cut:
        name, end = patterns.shop.fullmatch(text, begin, cut), merchant.evidence.end
    else:
        return merchant
    if name is None:
        return merchant
    start, end = name.start("name"), end or name.end("name")
    return Slot(text[start:end], Evidence(start, end, text[start:end], _RULE))


def begins_behind(hearing: Hearing) -> tuple[int, ...]:
    """The units at which what is wanted may begin, behind others that ask for nothing and name no sum."""
    reading = hearing.reading
    does, size = hearing.grammar.named(_DOES), len(reading.words)
    sums = {span.start for span in hearing.heard.spans if span.kind is SpanKind.MONEY}
    found: list[int] = []
    for at in range(1, min(size - _LEAST, _MOST) + 1):
        steps = reading.lattice.steps(at - 1)
        acts = any(end - at + 1 >= _SHORTEST and not does.isdisjoint(read) for end, read in steps)
        if acts or reading.units.starts[at - 1] in sums:
            break
        before, word = reading.words[at - 1 : at + 1]
        if (
            at not in reading.within
            and before not in hearing.grammar.words.joining
            and not (in_nouns(before) and in_nouns(word))
        ):
            found.append(at)
    return tuple(found)


def ends_in_order(hearing: Hearing, verbs: tuple[str, ...] = _ORDERS) -> bool:
    """Whether the utterance ends in a verb that is asked for, of sending or of `verbs`."""
    reading = hearing.reading
    size, symbols = len(reading.words), hearing.grammar.named(verbs)
    return any(edge.end == size for edge in reading.lattice.of(symbols))


def of_its_own(hearing: Hearing, found: Understood) -> Understood:
    """A whole order while a code is awaited, where no word takes anything back, as one more: 「健に三万円送って」."""
    slots, symbols = found.slots, hearing.grammar.symbols
    whole = slots.bill or (slots.amount and (slots.payee or slots.target))
    if hearing.grammar.spaced or not hearing.context.code or found.intent is not Intent.CORRECT or not whole:
        return found
    taken_back = found.rejected or not hearing.reading.lattice.said().isdisjoint(symbols[name] for name in _BACK)
    if taken_back or not ends_in_order(hearing, (*_ORDERS, "pay_do")):
        return found
    return replace(found, intent=Intent.BILL_PAYMENT if slots.bill else Intent.TRANSFER_MONEY)
