"""Two own accounts the other way round: "from checking to savings, no, the other way around"."""

from dataclasses import replace

from schemas.ids import RuleId, language
from schemas.intent import Annotation, Context, Intent, Route, Understood
from services.understanding.cuts import announcing
from services.understanding.fast.grammar import grammar
from services.understanding.merging import Look


def swapped(heard: Annotation, found: Understood, context: Context, look: Look) -> Understood | None:
    """The transfer between own accounts with these in one another's place; None where nothing asks for that."""
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    units = rules.units(text)
    at = announcing(rules, units.words, rules.accounts.swaps)
    if at is None or found.intent is not Intent.TRANSFER_MONEY or context.code:
        return None
    one = look(0, units.ends[at - 1], context)
    source, target = one.slots.source, one.slots.target
    if one.intent is not Intent.TRANSFER_MONEY or one.route is not Route.FAST or source is None or target is None:
        return None
    slots = replace(one.slots, source=replace(target), target=replace(source))
    return replace(one, slots=slots, rule=RuleId(f"{rules.accounts.id}.swapped@{rules.accounts.version}"))
