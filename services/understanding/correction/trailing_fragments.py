"""What follows an order and is no second one: an amount or account alone, an order like it, a value said besides.

"Send ann fifty, sixty", "pay the phone, uh, pay the water": it is asked which is meant, or what was said is kept.
"""

from dataclasses import replace
from typing import Any, Final

from schemas.intent import COUNTED, MONEY_MOVING, TOLD_ALONE, Intent, Route, SlotName, Understood
from services.understanding.correction.merging import same, values
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import VERBS
from services.understanding.fast.ruleset.cue_phrases import DENIAL, DENIED
from services.understanding.fast.ruleset.grammar import Grammar

_EITHER: Final = frozenset({"payee", "bill"})
"""Of what two orders in one breath may be one order, corrected."""


def no_second_order(said: Said, whole: Understood) -> Understood | None:
    """The order with what stands behind it as its own, or unread; None where nothing else is behind it."""
    return _said_twice(said, whole) or _another_like_it(said, whole) or _another_account(whole) or _told_besides(whole)


def _said_twice(said: Said, whole: Understood) -> Understood | None:
    """Another amount alone, or begun anew for the same one, is no second order: it is asked which is meant."""
    first, then = whole.slots.amount, whole.then
    if whole.intent not in COUNTED or first is None or then is None or then.intent not in COUNTED:
        return None
    second = then.slots.amount
    if set(values(then.slots)) == {"portion"} and whole.slots.bill is not None:
        return replace(whole, slots=replace(whole.slots, portion=then.slots.portion), then=then.then)
    alone = set(values(then.slots)) == {"amount"} or _begun_anew(said, whole, then)
    if second is None or not alone or same(first, second):
        return None
    named = [mention.evidence for mention in then.unresolved if not _hesitates(said.rules, mention.evidence.surface)]
    rules, text = said.rules, said.text
    if named and _another(rules, text[first.evidence.end : second.evidence.start], text[second.evidence.end :]):
        return None  # "and forty to bob", who is nobody here
    if any(rules.patterns.orders.onto.match(text, each.end) for each in named):
        return None  # 「、健に五千円」: one of two who are called so
    both = replace(first, readings=(*first.readings, second.value))
    return replace(whole, slots=replace(whole.slots, amount=both), then=then.then, unread=(*whole.unread, *named))


def _begun_anew(said: Said, whole: Understood, then: Understood) -> bool:
    """Whether an order without a verb is begun again for the same payee: 「妹に八千とんで、妹に九千円送って」."""
    one, two, endings = whole.slots.payee, then.slots.payee, said.rules.endings
    if endings is None or one is None or two is None or not same(one, two):
        return False
    words = said.rules.units(said.text[one.evidence.end : two.evidence.start]).words
    joins = said.rules.phrases.conjunctions.ends(words, len(words), len(words))
    ordered = any(edge.end > edge.start + 1 for row in endings.rows(words) for edge in row)
    return not joins and not ordered and {*values(whole.slots), *values(then.slots)} == {"amount", "payee"}


def _another(rules: Grammar, between: str, behind: str) -> bool:
    """Whether words join a second order to a first one, name it anew, or tell where its money goes."""
    units = rules.units(between).words
    verbs = rules.named(VERBS)
    tries = any(edge.symbol in verbs for edge in rules.trie.edges(units))
    joined = rules.phrases.conjunctions.holds(units)
    return tries or joined or not rules.words.onto.isdisjoint(rules.units(behind).words)


def _another_like_it(said: Said, whole: Understood) -> Understood | None:
    """An order after one that differs in one thing, and a mere hesitation or what was done, may be the one meant.

    "Pay the phone, uh, pay the water", "thirty for ann, hmm, thirty for bob"; in any after "forget ann".
    """
    then = whole.then
    if then is None or whole.intent is not then.intent or whole.intent not in MONEY_MOVING:
        return None
    one, two = values(whole.slots), values(then.slots)
    other = [name for name in one if name in two and not same(one[name], two[name])]
    if not _EITHER & set(other):
        return None
    begin, stop = (each(s.evidence.start for s in slots.values()) for each, slots in ((max, one), (min, two)))
    rules, units = said.rules, said.rules.units(said.text[begin:stop]).words
    if rules.phrases.conjunctions.holds(units):
        return None
    hesitates = rules.cues.hesitations.holds(units) or _past(rules, units)
    if not _refuses(rules, units) and (one.keys() != two.keys() or len(other) != 1 or not hesitates):
        return None
    both: dict[str, Any] = {name: replace(one[name], readings=(two[name].value,)) for name in other}
    doubted = (*whole.doubted, *(SlotName(name) for name in other if name != "amount"))
    more = tuple(slot.evidence for name, slot in two.items() if name not in one)
    return replace(
        whole,
        slots=replace(whole.slots, **both),
        then=then.then,
        doubted=doubted,
        unread=(*whole.unread, *more),
    )


def _refuses(rules: Grammar, units: tuple[str, ...]) -> bool:
    """Whether words say of something that it is not meant: "forget ann"."""
    marks = (rules.cues.repairs.longest(units, at)[1] for at in range(len(units)))
    return any(not {DENIAL, DENIED}.isdisjoint(symbols) for symbols in marks)


def _past(rules: Grammar, units: tuple[str, ...]) -> bool:
    """Whether something is told that was done before."""
    return any(rules.guard_names[edge.symbol] == "past" for edge in rules.guards.edges(units))


def _another_account(whole: Understood) -> Understood | None:
    """An account alone after an order, which else may ask for its balance, is said of the order: it is asked which."""
    then, source = whole.then, whole.slots.source
    if whole.intent not in COUNTED or then is None or then.intent is not Intent.BALANCE_INQUIRY:
        return None
    account = then.slots.account
    if then.route is not Route.CLARIFY or account is None:
        return None
    if source is None or source.value == account.value:
        return replace(whole, then=then.then, unread=(*whole.unread, account.evidence))
    both = replace(source, readings=(account.value,))
    doubted = (*whole.doubted, SlotName.SOURCE)
    return replace(whole, slots=replace(whole.slots, source=both), then=then.then, doubted=doubted)


def _hesitates(rules: Grammar, words: str) -> bool:
    """Whether there is nothing in them but links of a repair, though they were taken for a name: "er"."""
    units = rules.units(words).words
    return all(rules.cues.links.longest(units, at)[0] > at for at in range(len(units)))


def _told_besides(whole: Understood) -> Understood | None:
    """A value said after a command or an answer is no second command: it is not left out."""
    then = whole.then
    if whole.intent not in COUNTED or then is None or then.intent not in TOLD_ALONE:
        return None
    said, later = values(whole.slots), values(then.slots)
    if set(said) == {"portion"} and set(later) == {"amount"} and not then.unresolved:  # 半分でいいや、五千円で
        return replace(whole, slots=then.slots, then=then.then)
    rest = tuple(
        slot.evidence
        for name, slot in later.items()
        if name not in said or said[name].value != slot.value  # said twice is said once
    )
    return replace(whole, then=then.then, unread=(*whole.unread, *rest, *(m.evidence for m in then.unresolved)))
