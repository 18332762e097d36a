"""What the next answer is an answer to, and what a yes would agree to."""

from typing import Final

from schemas.banking import Card, TransferOrder
from schemas.consent import Awaited, Terms
from schemas.ids import CardId
from schemas.intent import Intent, Understood
from schemas.kana import TO_HIRAGANA
from services.dialogue.events import Facts
from services.dialogue.names import bill
from services.dialogue.phases import Confirming, Offering, OfferingPerson, ReadBack, Reading, SteppingUp, Task
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState

_PART: Final = 2
"""Characters of a part of a name, at least."""
_CARD: Final = {Intent.CARD_LOCK: Awaited.LOCK, Intent.CARD_UNLOCK: Awaited.UNLOCK}


def terms_of(state: DialogueState, facts: Facts) -> Terms:
    """What a yes would agree to now."""
    match state.phase:
        case Reading(it) | Confirming(it):
            return _order(it, facts, more=bool(state.memory.queue))
        case Offering(task):
            return _offered(task, facts)
        case OfferingPerson():
            return Terms(Awaited.PERSON, to="person")
        case SteppingUp():
            return Terms(Awaited.CODE, to="code")
        case _:
            return _asked(state)


def _asked(state: DialogueState) -> Terms:
    if state.task is None:
        return Terms()
    which = state.task.intent is Intent.CARD_LOCK
    return Terms(Awaited.CARD if which else Awaited.SLOT, to="slot", bill=state.task.bill, so_far=_so_far(state.task))


def _so_far(task: Task) -> int:
    """The one sum that is told, or that cannot be; 0 where there is none."""
    sums = task.amounts or ((task.refused,) if task.refused is not None else ())
    return sums[0].amount_minor if len(sums) == 1 else 0


def agreed(state: DialogueState, heard: Understood, facts: Facts) -> bool:
    """Whether the grammar of consent proved the words a yes to what waits here, and to nothing else."""
    return heard.consent is not None and heard.consent.to == terms_of(state, facts).to


def surely(heard: Understood) -> bool:
    """Whether a yes is sure enough to be acted on."""
    return heard.confidence >= dialogue_rules().yes_confidence


def _order(it: ReadBack, facts: Facts, *, more: bool) -> Terms:
    order = it.order
    due = bill(facts, order.bill_id)
    day = order.on or facts.today
    return Terms(
        Awaited.DOUBTED if it.doubted else Awaited.TRANSFER if due is None else Awaited.BILL,
        to=it.proposal,
        amount=order.amount,
        names=_names(order, facts),
        source=order.source,
        target=order.to_account,
        bill=order.bill_id,
        on=day,
        today=day == facts.today,
        in_part=due is not None and order.amount != due.due,
        more=more,
        so_far=order.amount.minor,
    )


def _offered(task: Task, facts: Facts) -> Terms:
    awaited = _CARD.get(task.intent, Awaited.TASK)
    if awaited is Awaited.TASK:
        today = task.on in {None, facts.today}
        return Terms(awaited, to=task.intent.value, bill=task.bill, on=task.on, today=today, so_far=_so_far(task))
    card = task.card or only_card(facts, locked=awaited is Awaited.UNLOCK)
    return Terms(awaited, to=f"{task.intent.value}:{card or ''}", card=card)


def only_card(facts: Facts, *, locked: bool) -> CardId | None:
    """The one card that can be meant, where there is one."""
    able: tuple[Card, ...] = tuple(card for card in facts.profile.cards if card.locked is locked)
    return able[0].id if len(able) == 1 else None


def _names(order: TransferOrder, facts: Facts) -> tuple[str, ...]:
    """All that the payee, and who sends the bill, may be called: whole, by part, by kana, by relationship.

    A part of a name without spaces begins or ends it, and stands in nobody else's.
    """
    payee = facts.payees.get(order.payee_id) if order.payee_id is not None else None
    if payee is None:
        return ()
    said = (payee.name, payee.kana, payee.kana.translate(TO_HIRAGANA), *payee.aliases, payee.relationship)
    parts = [part for name in said[:3] for part in name.split()]
    if not payee.name.isascii() and payee.name == parts[0]:
        others = " ".join(each.name for each in facts.payees.values() if each.id != payee.id)
        cuts = range(_PART, len(payee.name) - 1)
        halves = (half for at in cuts for half in (payee.name[:at], payee.name[-at:]))
        parts += [half for half in halves if half not in others]
    return tuple(dict.fromkeys(name for name in (*said, *parts) if name))
