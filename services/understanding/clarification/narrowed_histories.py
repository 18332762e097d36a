"""What of a history is asked: whether it came in, what was spent or earned, at which shop, to whom it went."""

from dataclasses import replace
from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence, Intent, Route, Slot, SlotName, Slots, Topic, Understood
from schemas.span import DateValue, SpanKind
from services.understanding.clarification.money_questions import NamedThings
from services.understanding.correction.said import Said

_RULE: Final = RuleId("intents.asked_of_money@1")
_FROM: Final = RuleId("intents.came_from@1")


def came_from(said: Said, found: Understood) -> Understood | None:
    """What came in from the one whose money is asked after, and of nobody else: "did tamsin's rent come in"."""
    if found.intent not in {None, Intent.RECENT_TRANSACTIONS, Intent.QNA} or said.context.code:
        return None
    patterns = said.rules.patterns.own
    asked = patterns.came_from.fullmatch(NamedThings(said, found).text)
    days = [Slot(span.value, Evidence.of(span)) for span in said.heard.spans if isinstance(span.value, DateValue)]
    if asked is None or len(days) > 1 or patterns.income.search(asked["owner"] or asked["giver"]):
        return None
    whom, whole, match = asked["owner"] or asked["giver"], said.heard.whole(_FROM), said.heard.payees
    if match is None or match.choice is None or match.heard.casefold() not in whom:
        match = said.called(whom)  # of a relation too: "my mom's check"
    sure = match.choice if match is not None else None
    whether = (str(Topic.WHETHER),) if patterns.asks_whether.search(said.text) else ()
    slots = Slots(
        topic=Slot(str(Topic.RECEIVED), whole, whether) if not asked["either"] else None,  # a cheque that cleared
        period=days[0] if days else None,
        merchant=Slot(whom, whole) if sure is None else None,
        payee=Slot(PayeeId(sure), whole) if sure is not None else None,
    )
    return Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, 1.0, _FROM)


def narrowed_history(said: Said, found: Understood) -> Understood | None:
    """A history with what of it is asked: if it came in, by what name, only what was spent; of "that" the last one."""
    patterns, slots, whole = said.rules.patterns.own, found.slots, said.heard.whole(_RULE)
    if found.by("recent_transactions.it") and not patterns.of_those.search(said.text):
        return replace(found, slots=replace(slots, choice=Slot(1, whole)))
    if found.intent is not Intent.RECENT_TRANSACTIONS or found.by("recent_transactions.it"):
        return None
    bill = next((each.evidence for each in found.unresolved if each.slot is SlotName.BILL), None)
    if bill is not None and not said.rules.spaced and not (slots.merchant or slots.payee or slots.bill):
        slots = replace(slots, merchant=Slot(bill.surface, bill))  # of a bill that nobody sends, not of all
        found = replace(found, unresolved=tuple(each for each in found.unresolved if each.evidence != bill))
    elif slots == Slots(topic=slots.topic, choice=slots.choice, period=slots.period) and not found.unresolved:
        found = replace(found, unresolved=NamedThings(said, found).others)  # the rent, whose payments are asked about
    slots = _to_whom(said, slots)
    if slots.payee and slots.about == Topic.RECEIVED and not said.rules.spaced and patterns.went_out.search(said.text):
        slots = replace(slots, topic=None)  # 「花子への振込は届いた」
    word = patterns.income.search(said.text) if slots.about == Topic.RECEIVED else None
    if word is not None and slots.merchant is None and slots.payee is None:
        slots = replace(slots, merchant=Slot(word[0], whole))
    shop = patterns.shop_kind.search(said.text) if slots.merchant is None and slots.payee is None else None
    if shop is not None:  # a card of the caller's is called so
        slots = replace(slots, merchant=Slot(shop[0], said.heard.evidence(*shop.span(), _RULE)))
    slots = _with_what_is_asked(said, found, slots, billed=bill is not None)
    return replace(found, slots=slots) if slots is not found.slots or found.unresolved else None


def _with_what_is_asked(said: Said, found: Understood, slots: Slots, *, billed: bool) -> Slots:
    """The slots with what of a history is asked: whether it is there, what was spent, or what came in."""
    patterns, whole = said.rules.patterns.own, said.heard.whole(_RULE)
    sums = any(span.kind in {SpanKind.MONEY, SpanKind.DIGITS} for span in said.heard.spans)
    named, about = slots.merchant or slots.payee or slots.bill, ""
    if named and not (sums or billed) and slots.choice is None and patterns.asks_whether.search(said.text):
        about = Topic.WHETHER
    elif not (named or found.unresolved) and slots.about in {"", Topic.TOTAL}:
        out, came = patterns.spends.search(said.text), patterns.earns.search(said.text)
        about = "" if bool(out) is bool(came) else Topic.SPENT if out else Topic.RECEIVED
    if about:
        asked = (slots.about, *slots.topic.readings) if slots.topic is not None else ()
        first, *rest = (str(about), *asked) if about == Topic.RECEIVED else (*asked, str(about))
        slots = replace(slots, topic=Slot(first, whole, tuple(rest)))
    return slots


def _to_whom(said: Said, slots: Slots) -> Slots:
    """With who is named where nobody is told, in a language without spaces: 「翔太に先月と今月でいくら送った」."""
    match = said.heard.payees if not (said.rules.spaced or slots.payee or slots.merchant) else None
    if match is None or match.choice is None:
        return slots
    behind = said.text[match.end :]
    for span in said.heard.spans:
        behind = behind.replace(span.surface, "D") if span.kind is SpanKind.DATE else behind
    if not said.rules.patterns.own.how_much_to.match(behind):
        return slots
    return replace(slots, payee=Slot(PayeeId(match.choice), Evidence.naming(match, _RULE)))
