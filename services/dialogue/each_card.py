"""Every card that was offered, or all of them, one after the other."""

from collections.abc import Collection
from dataclasses import replace

from schemas.banking import Card
from schemas.decision import Reply
from schemas.intent import Intent, SlotName
from services.dialogue.advance import advance
from services.dialogue.events import Facts
from services.dialogue.names import both, card, card_name, reply, told_of
from services.dialogue.phases import Offering, Task
from services.dialogue.prompts import missed
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Step
from services.dialogue.turns import waiting


def with_others(offered: tuple[str, ...], things: tuple[str, ...], task: Task) -> tuple[str, ...]:
    """What was offered, with the others of which only the number was told."""
    narrowed = task.doubts or task.card_heard
    return things if not narrowed and offered == told_of(things, dialogue_rules().choices)[0] else offered


def all_cards(state: DialogueState, task: Task, facts: Facts) -> Step:
    """Lock every card that was offered, or all that are open where stopping "the card" was, one after the other."""
    open_to = tuple(card.id for card in facts.profile.cards if not card.locked)
    asked = set(with_others(state.choices, open_to, task)) if state.asked is SlotName.CARD else set[str]()
    if isinstance(state.phase, Offering) and task.card is None:
        asked = set(open_to)
    if task.intent is not Intent.CARD_LOCK or task.asked or not asked:
        return missed(state, facts)
    return _one_by_one(state, task, asked, facts)


def every_card(state: DialogueState, task: Task, facts: Facts) -> Step:
    """Lock all cards that are open: "stop all my cards"."""
    open_to = {card.id for card in facts.profile.cards if not card.locked}
    return _one_by_one(state, task, open_to, facts) if open_to else advance(state.memory, task, facts)


def _one_by_one(state: DialogueState, task: Task, asked: Collection[str], facts: Facts) -> Step:
    first, *rest = (replace(task, card=card.id, doubts=()) for card in facts.profile.cards if card.id in asked)
    return advance(waiting(state.memory.missed(0), tuple(rest), next_=True), first, facts)


def first_of_two(state: DialogueState, facts: Facts) -> Card | None:
    """The card that was just locked, or is offered to be, where another one is named behind it."""
    offered = state.task if isinstance(state.phase, Offering) else None
    first = offered or state.memory.recent
    return card(facts, first.card) if first is not None and first.intent is Intent.CARD_LOCK else None


def beside_the_first(first: Card | None, task: Task, offer: Reply, facts: Facts) -> Reply:
    """An offer to lock a card, behind how the first one stands where that is another."""
    if first is None or task.card in {None, first.id}:
        return offer
    kept = "card.stays_locked" if first.locked else "card.not_locked"
    return both(reply(kept, card=card_name(facts, first)), offer)
