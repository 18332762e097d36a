"""One sum that several are to share: nobody divides it for the caller, who is asked how much each of them gets."""

from typing import Final

from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from services.understanding.correction.named import Mentions
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.grammar import Grammar

_ABOUT: Final = frozenset({None, Intent.TRANSFER_MONEY})


def shared_out(said: Said, found: Understood) -> Understood | None:
    """An order of which neither the sum nor the payee is taken; None where not several share one."""
    rules, text, words = said.rules, said.text, said.units.words
    if not said.context.idle or found.intent not in _ABOUT or found.vetoes:
        return None
    if not rules.accounts.shared_out.holds(words):
        return None
    named = Mentions.of_all(said).everyone
    if not any(_joined(rules, text, each) for each, _ in named):  # "we split it, send dave twenty"
        return None
    rule = rules.accounts.rule("shared_out")
    return unmeasured(Slot(Topic.EXACT, said.heard.whole(rule)))


def unmeasured(topic: Slot[str]) -> Understood:
    """An order of which nothing is known but that nobody can tell its amount."""
    lacks = (SlotName.AMOUNT, SlotName.PAYEE)
    return Understood(Intent.TRANSFER_MONEY, Slots(topic=topic), lacks, Route.FAST, 1.0, topic.evidence.rule)


def _joined(rules: Grammar, text: str, name: Evidence) -> bool:
    """Whether somebody else stands beside a name, joined to it: not "kate and i split the bill"."""
    joints = rules.accounts.joined
    behind = next((text[name.end + len(joint) :] for joint in joints if text.startswith(joint, name.end)), "")
    beside = behind.split(maxsplit=1)
    return text.endswith(joints, 0, name.start) or (bool(beside) and beside[0].casefold() not in rules.words.callers)
