"""One sum that several are to share, or in halves: nobody divides it for the caller, who is asked for each amount."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from schemas.ids import AccountId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from services.understanding.correction.coordinated_names import in_a_row
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said
from services.understanding.fast.freeform.told import own_accounts
from services.understanding.fast.ruleset.grammar import Grammar

_ABOUT: Final = frozenset({None, Intent.TRANSFER_MONEY})
_TWO: Final = 2


def shared_out(said: Said, found: Understood) -> Understood | None:
    """The orders of which no sum is taken; None where not several share one."""
    rules, text, words = said.rules, said.text, said.units.words
    if not said.context.idle or found.intent not in _ABOUT or found.vetoes:
        return None
    topic: Slot[str] = Slot(Topic.SPLIT, said.heard.whole(rules.cues.rule("shared_out")))
    if len([*rules.cues.halves.edges(words)]) >= _TWO and (orders := [*_orders(said, found, topic)]):
        return one_after_another(orders)
    if not rules.cues.shared_out.holds(words):
        return None
    named = Mentions.of_all(said).everyone
    if not any(_joined(rules, text, each) for each, _ in named):  # "we split it, send dave twenty"
        return None
    orders = [*_orders(said, found, topic)] if rules.spaced else []
    return one_after_another(orders) if orders else unmeasured(replace(topic, value=Topic.EXACT))


def unmeasured(topic: Slot[str]) -> Understood:
    """An order of which nothing is known but that nobody can tell its amount."""
    lacks = (SlotName.AMOUNT, SlotName.PAYEE)
    return Understood(Intent.TRANSFER_MONEY, Slots(topic=topic), lacks, Route.FAST, 1.0, topic.evidence.rule)


def _orders(said: Said, found: Understood, topic: Slot[str]) -> Iterator[Understood]:
    """An order for each who gets it, or each own account that does or pays."""
    everyone = sorted(Mentions.of_all(said).everyone, key=lambda each: each[0].start)
    row = max([each for each in in_a_row(said) if each[1]], everyone, key=len)
    payees = {ids[0]: Slot(ids[0], place, tuple(ids[1:])) for place, ids in row}
    several: dict[str, dict[Any, Slot[Any]]] = {"payee": payees, "target": {}, "source": {}}
    for part, edge, account in own_accounts(said.hearing):
        several[part][account] = Slot(AccountId(account), said.hearing.said(edge.start, edge.end, topic.evidence.rule))
    sources = [("source", each) for each in several["source"].values()]
    receivers = [(name, each) for name in ("payee", "target") for each in several[name].values()]
    parts = receivers if len(receivers) > 1 or len(sources) <= 1 else sources
    for at, (name, each) in enumerate(parts if receivers else ()):
        others = sources if parts is receivers else receivers
        given: dict[str, Any] = {**dict(others if len(others) == 1 else ()), name: each, "topic": None if at else topic}
        order = replace(unmeasured(topic), missing=(SlotName.AMOUNT,), payees=found.payees, slots=Slots(**given))
        yield replace(order, doubted=(SlotName.PAYEE,)) if name == "payee" and each.readings else order


def _joined(rules: Grammar, text: str, name: Evidence) -> bool:
    """Whether somebody else stands beside a name, joined to it: not "kate and i split the bill"."""
    joints = rules.cues.joined
    behind = next((text[name.end + len(joint) :] for joint in joints if text.startswith(joint, name.end)), "")
    beside = behind.split(maxsplit=1)
    return text.endswith(joints, 0, name.start) or (bool(beside) and beside[0].casefold() not in rules.words.callers)
