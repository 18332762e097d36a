"""One sum that several are to share: nobody divides it for the caller, who is asked how much each of them gets."""

from typing import Final

from schemas.ids import language
from schemas.intent import Annotation, Context, Evidence, Intent, Route, Slot, SlotName, Slots, Understood
from services.understanding.correction.named import Find, Mentions
from services.understanding.fast.asides.reasons import CALLER
from services.understanding.fast.ruleset.grammar import grammar
from services.understanding.fast.words.hearing import Hearing

_ABOUT: Final = frozenset({None, Intent.TRANSFER_MONEY})
_EXACT: Final = "exact"
"""The topic of words which tell an amount by what only the caller knows."""


def shared_out(heard: Annotation, found: Understood, context: Context, find: Find) -> Understood | None:
    """An order of which neither the sum nor the payee is taken; None where not several share one."""
    rules, text = grammar(language(heard.transcript.locale)), heard.transcript.text
    if not context.idle or found.intent not in _ABOUT or found.vetoes:
        return None
    words = rules.units(text).words
    if not any(rules.accounts.shared_out.scan(words, at) for at in range(len(words))):
        return None
    named = Mentions.within(Hearing.by(rules, heard, context), find).everyone
    if not any(_joined(rules.accounts.joined, text, each) for each, _ in named):  # "we split it, send dave twenty"
        return None
    rule = rules.accounts.rule("shared_out")
    topic = Slot(_EXACT, Evidence(0, len(text), text, rule))
    lacks = (SlotName.AMOUNT, SlotName.PAYEE)
    return Understood(Intent.TRANSFER_MONEY, Slots(topic=topic), lacks, Route.FAST, 1.0, rule)


def _joined(joints: tuple[str, ...], text: str, name: Evidence) -> bool:
    """Whether somebody else stands beside a name, joined to it: not "kate and i split the bill"."""
    behind = next((text[name.end + len(joint) :] for joint in joints if text.startswith(joint, name.end)), "")
    beside = behind.split(maxsplit=1)
    return text.endswith(joints, 0, name.start) or (bool(beside) and beside[0].casefold() not in CALLER)
