"""Cards: which is locked or unlocked, and what is asked about them: whether one is locked, or does not work. Pure."""

from dataclasses import replace

from schemas.banking import Card
from schemas.decision import Answer, Clarify, Execute, LockCard, Refuse, Reply, ReplyParam
from schemas.intent import Intent, SlotName, Topic
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.names import both, card, card_name, reply, told_of
from services.dialogue.phases import Asking, Offering, OfferingPerson, Task, Unlocking
from services.dialogue.questions import ask, done, which
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState, Memory, Step


def asked_of_card(memory: Memory, task: Task, facts: Facts) -> Step | None:
    """What is asked about a card, the others or, where none is told, all of them; None where nothing is."""
    known = card(facts, task.card)
    if task.asked == Topic.TROUBLE:
        return _in_trouble(memory, task, facts)
    others = [each for each in facts.profile.cards if each.id != task.card]
    if known is not None and (task.asked == Topic.WHETHER or not others):
        others = [known]
    if task.asked not in {Topic.OTHERS, Topic.WHETHER} or not others:
        return None
    told = _state(others[0], facts)
    for each in others[1 : dialogue_rules().choices]:
        told = both(told, _state(each, facts))
    return done(memory, Answer(reply=told))


def _state(one: Card, facts: Facts) -> Reply:
    return reply("card.is_locked" if one.locked else "card.is_not_locked", card=card_name(facts, one))


def lock_or_unlock(memory: Memory, task: Task, facts: Facts) -> Step:
    """Lock or unlock the one that is named, or ask which."""
    if (asked := which(memory, task, facts)) is not None:
        return asked
    lock = task.intent is Intent.CARD_LOCK
    open_to = tuple(c for c in facts.profile.cards if c.locked is not lock)
    called = task.card_heard.casefold()
    open_to = tuple(c for c in open_to if called in c.name.casefold()) or open_to
    chosen = card(facts, task.card) or (open_to[0] if len(open_to) == 1 else None)
    if chosen is None and open_to:
        return _which_card(memory, task, open_to, "ask.card_lock" if lock else "ask.card_unlock", facts)
    if chosen is None:
        return done(memory, Refuse(reply("card.none_to_lock" if lock else "card.none_to_unlock")))
    if chosen.locked is lock:
        said = reply("card.already_locked" if lock else "card.already_unlocked", card=card_name(facts, chosen))
        return done(memory, Refuse(said))
    if lock:
        return done(memory, Execute(LockCard(chosen.id)))
    unlocking = Unlocking(chosen.id)
    return DialogueState(unlocking, memory), Execute(unlocking.action)


def _which_card(memory: Memory, task: Task, cards: tuple[Card, ...], asked: str, facts: Facts) -> Step:
    """Which of several cards, and how many others there are."""
    offered, others = told_of(cards, dialogue_rules().choices)
    more = (reply("name.other_cards", count=others),) if others else ()
    names: tuple[ReplyParam, ...] = (*(card_name(facts, c) for c in offered), *more)
    return ask(memory, Asking(task, SlotName.CARD, tuple(c.id for c in offered)), reply(asked, cards=names))


def _in_trouble(memory: Memory, task: Task, facts: Facts) -> Step:
    """A card that does not work: one that is locked is offered to be unlocked; for another a person is offered."""
    cards = facts.profile.cards
    found = card(facts, task.card) or (cards[0] if len(cards) == 1 else None)
    if found is None and cards:
        return _which_card(memory, task, cards, "ask.card_trouble", facts)
    if found is None:
        return DialogueState(OfferingPerson(), memory), Clarify(reply("offer.person_sorry"))
    if found.locked:
        unlock = Task(Intent.CARD_UNLOCK, card=found.id)
        said = both(_state(found, facts), offer_of(unlock, facts))
        return DialogueState(Offering(unlock, said), memory), Clarify(said)
    memory = replace(memory, recent=replace(task, card=found.id))
    return DialogueState(OfferingPerson(), memory), Clarify(both(_state(found, facts), reply("offer.person")))
