"""Which of several meanings is meant, and what two in one breath mean together."""

from dataclasses import replace
from typing import Final

from schemas.consent import Awaited
from schemas.intent import MONEY_MOVING, Context, Intent, Route, Slot, SlotName, Slots, Understood
from schemas.span import DateValue

CARDS: Final = frozenset({Intent.CARD_LOCK, Intent.CARD_UNLOCK})
SERIOUS: Final = MONEY_MOVING | CARDS
LEANING: Final = tuple(f"again.{each}" for each in ("all", "but", "to", "joined", "short", "more", "too", "payee_too"))
"""The rules of an order that is as the last one in what it does not tell."""
_REFUSALS: Final = frozenset({Intent.CANCEL, Intent.DENY})
_OFFERED: Final = {
    Awaited.LOCK: CARDS,
    Awaited.UNLOCK: CARDS,
    Awaited.PERSON: frozenset({Intent.HUMAN_HANDOFF}),
}
_TO_THEM: Final = "transfer_money.to_them"
_FOR_WHAT: Final = ("bill_payment.for_what", "transfer_money.for_what")
"""Names of rules of words that tell what money is for."""
Rank = tuple[int, int, int]
"""Rule class, nearness and names not found: the lowest is meant."""


def choose(made: list[tuple[Rank, Understood]], precedence: tuple[Intent, ...]) -> Understood | None:
    """The best of several meanings, told by rank and by `precedence`; one without an intent where they differ."""
    if not made:
        return None
    best = min(rank for rank, _ in made)
    top = [found for rank, found in made if rank == best]
    if all(found.intent in precedence for found in top):
        first = next(intent for intent in precedence if any(found.intent is intent for found in top))
        top = [found for found in top if found.intent is first]
    if len({found.intent for found in top}) == 1:
        return max(
            top,
            key=lambda found: (
                sum(v is not None for v in _values(found.slots)),
                -len(found.unresolved),
                -len(found.missing),
            ),
        )
    return replace(top[0], intent=None, slots=Slots(), missing=(), route=Route.EXTRACT, confidence=0.0)


def named_for(intent: Intent | None, slots: Slots) -> Slots:
    """What was told, as the guessed intent names it."""
    if intent is Intent.BALANCE_INQUIRY:
        return Slots(account=slots.source)
    return slots


def mixed(found: Understood | None, context: Context) -> Understood | None:
    """What is offered, asked for in one breath with something else, is asked about: neither may be what is wanted."""
    offered, part = _OFFERED.get(context.terms.awaited, frozenset()), found
    while part is not None:
        if part.intent in offered:
            return Understood(Intent.CONFIRM, route=Route.FAST, confidence=1.0)
        part = part.then
    return found


def joined(one: Understood, two: Understood) -> Understood | None:
    """Two parts as one meaning: a refusal goes before what else is wanted, and undoes what would move money."""
    if one.intent is Intent.HUMAN_HANDOFF and two.intent is Intent.CARD_LOCK:
        one, two = two, one  # the lock is done first, whatever becomes of the call
    if two.intent is Intent.HUMAN_HANDOFF:
        return replace(one, then=two) if one.intent is Intent.CARD_LOCK else replace(two, then=one)
    if _for_what(one) and two.intent is Intent.TRANSFER_MONEY and two.slots.payee and two.slots.amount:
        return on_its_day(two, one.slots.date)
    if one.intent in _REFUSALS and two.intent in _REFUSALS:
        return two
    if two.intent in _REFUSALS:
        return two if one.intent in SERIOUS else replace(two, then=one)
    if one.intent is two.intent and two.slots == one.slots:
        return one
    return two if one.intent is Intent.DENY else replace(one, then=two)


def _for_what(part: Understood) -> bool:
    """Whether it orders nothing, and tells what money is for that is no bill of the caller's: 家賃今日だ."""
    return part.by(*_FOR_WHAT) and part.slots.bill is None and part.then is None


def on_its_day(order: Understood, day: Slot[DateValue] | None) -> Understood:
    """The order, on the day of what was told before it, unless it names one of its own."""
    if day is None or order.slots.date is not None:
        return order
    left = tuple(m for m in order.unresolved if m.evidence.start != day.evidence.start)
    return replace(order, slots=replace(order.slots, date=day), unresolved=left)


def apart(one: Understood, two: Understood, *, led: bool = False) -> bool:
    """Whether two commands are two: "send five and six to ann" may be one amount said twice; `led` by a third one."""
    if one.intent is Intent.CANCEL and two.intent in MONEY_MOVING and two.slots == Slots() and not two.unresolved:
        return False  # 「もういいから送って」 may be to go on
    if one.by("qna.cash") and two.intent is Intent.TRANSFER_MONEY and SlotName.AMOUNT in two.missing:
        return False  # 貯金から二万おろしてバイトの方に入れて: one transfer
    if one.by("bill_inquiry.recent") and two.intent is Intent.BILL_PAYMENT and _side_by_side(one.slots, two.slots):
        return False  # 水道代と新聞代を払って
    last = two.in_turn[-1]
    if _verbless(one) and last.intent is Intent.RECENT_TRANSACTIONS and (last.slots.payee or last.slots.bill):
        return False  # 妹に一万円、大家さんに九万円送ったっけ: its verb is the question's
    if one.intent is not Intent.TRANSFER_MONEY or two.intent is not Intent.TRANSFER_MONEY:
        return True
    named = all(
        part.slots.payee is not None
        or (part is one and part.by(_TO_THEM))
        or part.slots.target is not None
        or any(mention.slot is SlotName.PAYEE for mention in part.unresolved)
        or part.by(*LEANING)
        for part in (one, two)
    )
    told = led and all(part.slots.amount is not None and part.slots.payee is not None for part in (one, two))
    return named and (told or not (_verbless(one) and _verbless(last)))


def _side_by_side(one: Slots, two: Slots) -> bool:
    """Whether two bills stand beside each other, with a mark or "and" of one character between them."""
    if one.bill is None or two.bill is None:
        return False
    return two.bill.evidence.start - one.bill.evidence.end == 1


def _verbless(part: Understood) -> bool:
    return part.by("transfer_money.and_to")


def _values(slots: Slots) -> list[object]:
    return [getattr(slots, name) for name in Slots.__slots__]
