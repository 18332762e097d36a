"""Which of what was offered is meant: its place there."""

from schemas.ids import PayeeId
from schemas.intent import SlotName, Slots, Understood
from services.dialogue.events import Facts
from services.dialogue.names import apart_by_ear, bill, last_digits, marks
from services.dialogue.rules import dialogue_rules
from services.dialogue.state import DialogueState


def pointed(state: DialogueState, heard: Understood, number: int) -> int:
    """Which was pointed at, 1-based: of two the other one, where it is said not to be that one; else none of them."""
    if SlotName.PAYEE not in heard.rejected or number < 1:
        return number
    return 3 - number if len(state.choices) == 2 else len(state.choices) + 1  # noqa: PLR2004 - one or the other


def other_card(state: DialogueState, heard: Understood) -> int | None:
    """Which of two cards is meant, 1-based, where the other one is said not to be."""
    card = heard.slots.card
    if card is None or SlotName.CARD not in heard.rejected or len(state.choices) != 2:  # noqa: PLR2004 - one or the other
        return None
    return 2 - state.choices.index(card.value) if card.value in state.choices else None


def told_by_name(state: DialogueState, heard: Understood, facts: Facts) -> int | None:
    """Which of those who were offered is told by the name alone, 1-based: 「小野」, asked whether 小野 or 大野."""
    match, choices = heard.payees, state.choices
    alone = heard.slots == Slots() and [each.slot for each in heard.unresolved] == [SlotName.PAYEE] and not heard.unread
    if not alone or match is None or not match.candidates or state.asked is not SlotName.PAYEE:
        return None
    best, others = match.candidates[0], {each.id for each in match.candidates[1 : match.plausible]}
    if best.score < dialogue_rules().told or best.id not in choices or not others.issubset(choices):
        return None
    heard_apart = all(other == best.id or apart_by_ear(facts, best.id, PayeeId(other)) for other in choices)
    return choices.index(best.id) + 1 if heard_apart else None


def marked(state: DialogueState, heard: Understood, facts: Facts) -> int | None:
    """Which of those who were offered is told by a word that is but a part of another's name: "harbour, i think"."""
    slots, choices = heard.slots, state.choices
    due = bill(facts, slots.bill.value) if slots.bill is not None else None
    named = slots.payee or slots.bill
    other = slots.payee.value if slots.payee is not None else due.payee_id if due is not None else None
    payee = facts.payees.get(other) if other is not None else None
    if named is None or payee is None or state.asked is not SlotName.PAYEE or payee.id in choices:
        return None
    surface = named.evidence.surface.casefold()
    if any(name.casefold() in surface for name in (payee.name, *payee.aliases, *([due.name] if due else []))):
        return None
    fitting = [at for at, told in enumerate(marks(facts, choices), 1) if not set(told).isdisjoint(surface.split())]
    return fitting[0] if len(fitting) == 1 else None


def ending_in(state: DialogueState, digits: str, facts: Facts) -> int:
    """Which of what was offered has a number that ends so, 1-based; beyond them where none or several do."""
    numbers = [last_digits(facts, key) for key in state.choices]
    fitting = [place for place, number in enumerate(numbers, 1) if number and number.endswith(digits)]
    return fitting[0] if len(fitting) == 1 else len(state.choices) + 1


def place_of_paid_last(choices: tuple[str, ...], facts: Facts) -> int:
    """Where that one stands who was paid last of those who were offered; −1 where there is none."""
    paid = [(payee.last_paid, at) for at, id_ in enumerate(choices) if (payee := facts.payees.get(PayeeId(id_)))]
    days = sorted(((day, at) for day, at in paid if day is not None), reverse=True)
    return days[0][1] if days and days[0][0] not in {day for day, _ in days[1:]} else -1
