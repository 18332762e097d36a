"""Two own accounts the other way round, and the other one of two: "the other way around", "use the other account"."""

from dataclasses import replace

from schemas.consent import ORDERS
from schemas.ids import AccountId
from schemas.intent import Context, Intent, Route, Slot, Slots, Understood
from services.understanding.correction.editing_terms import announced_up_to, announcing
from services.understanding.correction.said import Said


def swapped(said: Said, found: Understood) -> Understood | None:
    """The transfer between own accounts with these in one another's place; None where nothing asks for that."""
    rules, units, context = said.rules, said.units, said.context
    if context.code:
        return None
    if context.terms.awaited in ORDERS:
        return _read_back(said) if found.consent is None else None
    at = announcing(rules, units.words, rules.cues.swaps)
    if at is None:
        return None
    one = said.look(0, units.ends[at - 1], context)
    if one.intent is not Intent.TRANSFER_MONEY or one.route is not Route.FAST or one.slots.target is None:
        return None
    source, target = one.slots.source or _other(one.slots.target, context), one.slots.target
    if source is None:
        return None
    slots = replace(one.slots, source=replace(target), target=replace(source))
    return replace(one, slots=slots, rule=rules.cues.rule("swapped"))


def _other(account: Slot[AccountId], context: Context) -> Slot[AccountId] | None:
    """The other one of two accounts, from which what goes to the one is taken."""
    others = [each.id for each in context.accounts if each.id != account.value]
    return Slot(others[0], account.evidence) if len(others) == 1 else None


def _read_back(said: Said) -> Understood | None:
    """What was read back between two own accounts, where nothing is said but that these change places."""
    rules, units, terms = said.rules, said.units, said.context.terms
    source, target = terms.source, terms.target
    if (other := _the_other(said)) is not None:
        return other
    if source is None or target is None or announcing(rules, ("", *units.words), rules.cues.swaps) != 1:
        return None
    begin, stop, rule = units.starts[0], units.ends[-1], rules.cues.rule("swapped")
    evidence = said.heard.evidence(begin, stop, rule)
    slots = Slots(source=Slot(target, evidence), target=Slot(source, evidence))
    return Understood(Intent.CORRECT, slots, route=Route.FAST, confidence=1.0, rule=rule)


def _the_other(said: Said) -> Understood | None:
    """What was read back from the other one of two accounts, where nothing else is said than that."""
    rules, units, context = said.rules, said.units, said.context
    source, words = context.terms.source, ("", *units.words)
    others = [each.id for each in context.accounts if each.id != source]
    if source is None or len(others) != 1 or others[0] == context.terms.target:
        return None
    begins = [at for at in range(1, len(words)) if rules.cues.other_account.longest(words, at)[0] == len(words)]
    if not begins or (begins[0] > 1 and announced_up_to(rules, words, 1) != begins[0]):
        return None
    begin, rule = units.starts[begins[0] - 1], rules.cues.rule("swapped")
    evidence = said.heard.evidence(begin, len(said.text), rule)
    slots = Slots(source=Slot(others[0], evidence))
    return Understood(Intent.CORRECT, slots, route=Route.FAST, confidence=1.0, rule=rule)
