"""Days that only the order tells: a weekday in the week that it is for, and the day on which its bill falls due.

「来週の金曜に」 … 「やっぱり木曜で」, 「水道代を期日に払って」, "pay the water bill when it's due".
"""

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from schemas.consent import Awaited
from schemas.ids import RuleId, is_rule
from schemas.intent import (
    COUNTED,
    MONEY_MOVING,
    Annotation,
    Context,
    Evidence,
    Intent,
    Mention,
    Slot,
    SlotName,
    Understood,
)
from schemas.span import Ambiguity, DateValue, Span, SpanKind
from services.understanding.correction.merging import one_after_another
from services.understanding.correction.said import Said
from services.understanding.fast.ruleset.cue_phrases import CuePhrases

_WEEKDAY: Final = "dates.weekday"
"""The rule of a weekday without a week."""
_DUE: Final = RuleId("intents.falls_due@1")
_WEEK: Final = timedelta(days=7)
_MARKS: Final = re.compile(r"[、。,'’\s]")
_LED: Final = re.compile(r"^(?:for|on)(?=the|a|one|two|three|\d)")
"""What may lead up to a day that is counted from another."""
_PAYING: Final = frozenset({Intent.BILL_PAYMENT, Intent.INFORM, Intent.CORRECT})


def by_the_order(said: Said, found: Understood) -> Understood | None:
    """The same with such a day as a date; None where there is none."""
    if found.intent not in COUNTED:
        return None
    paid = _to_no_name(said, found)
    if (due := _on_its_fall(said, paid or found)) is not None or paid is not None:
        return due or paid
    if said.rules.spaced:
        counted = _after_its_day(said, found) or _in_its_week(said, found)
    else:
        counted = _from_its_day(said, found) or _in_its_week(said, found)
    return counted or _falling_due(said, found) or _to_nobody(found, said.context)


def each_on_its_own(said: Said, found: Understood) -> Understood | None:
    """Of several bills that are told in one breath each with the day on which it falls due itself."""
    return _on_its_fall(said, found) if found.then is not None else None


def likened(said: Said, found: Understood) -> Understood | None:
    """The orders without a day that was, to which they are but likened: "… twelve hundred, same as last week"."""
    like, rest = said.rules.patterns.orders.likened, found.then and likened(said, found.then)
    past = {s.start for s in said.heard.spans if isinstance(s.value, DateValue) and s.value.end < said.today}
    if found.intent not in MONEY_MOVING or found.slots.amount is None:
        return replace(found, then=rest) if rest is not None else None

    def alike(day: Slot[DateValue] | Mention) -> bool:
        return day.evidence.start in past and like.search(said.text, 0, day.evidence.start) is not None

    open_ = tuple(each for each in found.unresolved if each.slot is not SlotName.DATE or not alike(each))
    date_ = found.slots.date if found.slots.date is None or not alike(found.slots.date) else None
    if rest is None and open_ == found.unresolved and date_ is found.slots.date:
        return None
    return replace(found, slots=replace(found.slots, date=date_), unresolved=open_, then=rest or found.then)


def _to_no_name(said: Said, found: Understood) -> Understood | None:
    """An order to pay a bill, where the day on which it falls due was read as a payee's name: 「全部期日に払って」."""
    days = [m for m in found.unresolved if m.slot is SlotName.PAYEE and m.evidence.surface in said.rules.cues.due_days]
    bare = found.slots.amount is None and found.slots.payee is None
    if found.intent is not Intent.TRANSFER_MONEY or not days or not bare:
        return None
    paid = said.context.terms.bill
    at = tuple(replace(m, slot=SlotName.DATE) if m in days else m for m in found.unresolved)
    meant = Intent.BILL_PAYMENT if paid is None else Intent.CORRECT
    return replace(found, intent=meant, unresolved=at, payees=None)


def _on_its_fall(said: Said, found: Understood) -> Understood | None:
    """The orders with the day on which each one's bill falls due, or so many before it, in whatever words of theirs."""
    told = said.rules.patterns.orders.falls_due.search(said.text) if found.intent in _PAYING else None
    if told is None:
        return None
    orders = found.in_turn
    named = [each.slots.bill.evidence.end if each.slots.bill is not None else 0 for each in orders]
    before = [n for n, end in enumerate(named) if end <= told.start()]
    theirs = before if len(before) in {0, len(orders)} else before[-1:]
    theirs = theirs or [0]  # "on the due date pay the water bill"
    dated = [_falling(said, each, told) if n in theirs else None for n, each in enumerate(orders)]
    if not any(dated):
        return None
    return one_after_another([new or old for new, old in zip(dated, orders, strict=True)])


def _falling(said: Said, order: Understood, told: re.Match[str]) -> Understood | None:
    """One order for that day; None where it has another one already, or no bill is told."""
    bill, context = order.slots.bill, said.context
    paid = bill.value if bill is not None else context.terms.bill or context.recent_bill
    due = next((each.due_on for each in context.bills if each.id == paid), None)
    apart, start, end = order.slots.date, *told.span()
    if due is None or order.intent not in _PAYING or (apart and not start <= apart.evidence.start < end):
        return None
    count = next((_MARKS.sub("", each).lower() for each in told.groupdict().values() if each), "")
    days = said.rules.cues.due_before.get(count, None if count else 0)
    if days is None:
        return None
    meant = due - timedelta(days=days)
    slots = replace(order.slots, date=Slot(DateValue(meant, meant), said.heard.evidence(start, end, _DUE)))
    open_ = tuple(e for e in order.unresolved if not start <= e.evidence.start < end and e.slot is not SlotName.DATE)
    unread = tuple(e for e in order.unread if not (start <= e.start and e.end <= end))
    return replace(order, slots=slots, unresolved=open_, unread=unread)


def _to_nobody(found: Understood, context: Context) -> Understood | None:
    """A name that nobody bears, said to a bill that is read back: it is not left out."""
    named = [each for each in found.unresolved if each.slot is SlotName.PAYEE]
    if context.terms.awaited is not Awaited.BILL or found.intent is not Intent.CORRECT or not named:
        return None
    rest = tuple(each for each in found.unresolved if each.slot is not SlotName.PAYEE)
    return replace(found, unresolved=rest, unread=(*found.unread, *(each.evidence for each in named)))


def _from_its_day(said: Said, found: Understood) -> Understood | None:
    """So many days before or after the day of what was read back: 「翌日にして」."""
    day, ordered, rules = found.slots.date, said.context.terms.on, said.rules.cues
    if day is None or ordered is None:
        return None
    words, behind = day.evidence.surface, said.text[day.evidence.end :].removeprefix(rules.as_many)
    shift = next((way for word, way in rules.shifting.items() if behind.startswith(word)), 0)
    if words not in rules.from_its_day and (not shift or rules.month in words):
        return None
    count = rules.from_its_day.get(words, shift * day.value.start.day)  # 五日ずらして: by five days, not to the fifth
    meant = ordered + timedelta(days=count)
    return replace(found, slots=replace(found.slots, date=replace(day, value=DateValue(meant, meant), readings=())))


def _after_its_day(said: Said, found: Understood) -> Understood | None:
    """The same, where no day was made of the words: "the day after"."""
    days, on = said.rules.cues.from_its_day, said.context.terms.on
    named = next((each for each in found.unresolved if each.slot is SlotName.DATE), None)
    if named is None or on is None or found.slots.date is not None:
        return None
    count = days.get(named.evidence.surface.lower())
    if count is None:
        return None
    meant = on + timedelta(days=count)
    slots = replace(found.slots, date=Slot(DateValue(meant, meant), named.evidence))
    return replace(found, slots=slots, unresolved=tuple(each for each in found.unresolved if each is not named))


def _in_its_week(said: Said, found: Understood) -> Understood | None:
    """A weekday alone, said to an order for a day of a later week: that week's, where the order's day was denied.

    Where it was not, the next of that name may be meant as well: which one is asked.
    """
    day, ordered, heard = found.slots.date, said.context.terms.on, said.heard
    if day is None or ordered is None or said.context.terms.today or not is_rule(_rule(said, day), _WEEKDAY):
        return None
    meant = ordered + timedelta(days=day.value.start.weekday() - ordered.weekday())
    if meant == day.value.start or meant - day.value.start < timedelta() or abs(meant - ordered) >= _WEEK:
        return None
    there = DateValue(meant, meant)
    if _denied(heard, day.evidence, ordered.weekday()):
        return replace(found, slots=replace(found.slots, date=replace(day, value=there, readings=())))
    both = replace(day, readings=(there,))
    return replace(found, slots=replace(found.slots, date=both), doubted=(*found.doubted, SlotName.DATE))


def _rule(said: Said, day: Slot[DateValue]) -> RuleId | None:
    spans = (span for span in said.heard.spans if span.kind is SpanKind.DATE and span.start == day.evidence.start)
    return next((span.rule for span in spans if of_any_week(said, span)), None)


def of_any_week(said: Said, day: Span) -> bool:
    """Whether nothing tells the week of a day: "thursday", and not "this thursday"."""
    return day.ambiguity is Ambiguity.PAST_OR_FUTURE or (day.ambiguity is None and not said.rules.spaced)


def _denied(heard: Annotation, day: Evidence, weekday: int) -> bool:
    """Whether the order's own weekday is named before the other one: 金曜じゃなくて木曜."""
    return any(
        span.kind is SpanKind.DATE
        and span.end <= day.start
        and isinstance(span.value, DateValue)
        and span.value.start.weekday() == weekday
        for span in heard.spans
    )


def _falling_due(said: Said, found: Understood) -> Understood | None:
    """The day on which the bill that is paid falls due, where it is called just that."""
    rules, context = said.rules.cues, said.context
    paid = found.slots.bill.value if found.slots.bill is not None else context.terms.bill
    if paid is None and found.intent is Intent.BILL_PAYMENT:
        paid = context.recent_bill  # じゃあ期日に払って
    due = next((bill.due_on for bill in context.bills if bill.id == paid), None)
    named = [
        each
        for each in found.unresolved
        if each.slot is SlotName.DATE or (each.slot is SlotName.PAYEE and each.evidence.surface in rules.due_days)
    ]
    if due is None or found.intent not in _PAYING or not named or found.slots.date is not None:
        return None
    before = [_days_before(rules, each.evidence.surface) for each in named]
    if None in before or len(set(before)) > 1:
        return None
    due -= timedelta(days=before[0] or 0)
    either = named[0].evidence.surface in rules.due_or_now and due != said.today  # "when is it due" … "pay it then"
    now, doubted = ((DateValue.day(said.today),), (SlotName.DATE,)) if either else ((), ())
    slots = replace(found.slots, date=Slot(DateValue(due, due), named[0].evidence, now))
    left = tuple(each for each in found.unresolved if each not in named)
    return replace(found, slots=slots, unresolved=left, doubted=(*found.doubted, *doubted))


def _days_before(rules: CuePhrases, surface: str) -> int | None:
    """How many days before a bill falls due words say, 0 for the day itself; None where they are about another day."""
    said = _MARKS.sub("", surface).lower()
    if rules.spaced:  # "the day before its due date", or "the day before" alone
        said = _LED.sub("", said).replace("aheadof", "before")
        count = max((each for each in rules.due_before if said.startswith(each)), key=len, default="")
        day = said.removeprefix(count)
    else:
        count = max((each for each in rules.due_before if said.endswith(each) and said != each), key=len, default="")
        day = said.removesuffix(count).removesuffix(rules.of) if count else said
    named = day in rules.due_days or (count and not day)
    return rules.due_before.get(count, 0) if named else None
