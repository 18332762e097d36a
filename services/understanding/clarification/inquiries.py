"""What is looked up: each of several accounts that are named, their sum, the bills of a stretch of days."""

from dataclasses import replace
from itertools import pairwise
from typing import Final

from schemas.ids import AccountId, BillId, PayeeId, RuleId
from schemas.intent import (
    MONEY_MOVING,
    READING,
    TOLD_ALONE,
    Evidence,
    Intent,
    Route,
    Slot,
    Slots,
    Topic,
    Understood,
)
from schemas.span import DateValue, SpanKind
from services.understanding.clarification.money_questions import NamedThings
from services.understanding.correction.merging import one_after_another, set_back
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import bill_slot, own_bill

_RULE: Final = RuleId("intents.inquired@1")
_AGAIN: Final = RuleId("intents.same_history@1")
_THERE: Final = RuleId("intents.in_there@1")
_UNPAID: Final = RuleId("intents.left_unpaid@1")
_SUMMED: Final = frozenset({Intent.RECENT_TRANSACTIONS, Intent.BILL_INQUIRY})
"""What was told of which the sum may be asked."""
_MOST_BILLS: Final = 4
"""Bills asked about in a row, at most."""


def remembered(said: Said, found: Understood) -> Understood | None:
    """What was paid, or is due, where a sum of it is but remembered: 「丸栄さんのお金、3600円やったかね」."""
    patterns, text, match = said.rules.patterns.inquiries, said.text, said.heard.payees
    sums = [span for span in said.heard.spans if span.kind is SpanKind.MONEY]
    told = found.intent in {None, Intent.QNA} | MONEY_MOVING and found.then is None
    if len(sums) != 1 or not told or not said.context.idle or not patterns.recalled.match(text, sums[0].end):
        return None
    if patterns.ordered.search(text, 0, sums[0].start):  # 「電気代払って、八千円だったかな」
        order = said.part(0, sums[0].start)
        return order if order is not None and order.intent is Intent.BILL_PAYMENT and order.sure else None
    due = own_bill(said.hearing, 0, len(said.units.words))
    if due is not None:
        return _asked(said, said.units.ends[due[0].end - 1], patterns.due_now)
    return _asked(said, match.end, patterns.paid_then) if match is not None and match.candidates else None


def in_there(said: Said, found: Understood) -> Understood | None:
    """What is left "in there", of the account that was spoken of; None of all of them."""
    of_all = found.intent is Intent.BALANCE_INQUIRY and found.slots == Slots() and not (found.then or found.unresolved)
    there = of_all and said.context.idle and said.rules.patterns.inquiries.in_there.search(said.text)
    return replace(found, rule=_THERE) if there else None


def left_unpaid(said: Said, found: Understood) -> Understood | None:
    """What is due of a bill that is not to be paid, or how long it can wait: "i'm not paying the gas yet"."""
    patterns, text, context = said.rules.patterns, said.text, said.context
    unsure = found.intent in MONEY_MOVING and not found.sure
    open_to = unsure or found.intent in {None, Intent.QNA, Intent.DENY, Intent.CANCEL}
    if not (open_to and context.idle) or context.code or found.then is not None:
        return None
    refused = patterns.inquiries.not_paid.search(text)
    if not (refused or patterns.inquiries.can_wait.search(text)):
        return None
    if any(span.kind is SpanKind.MONEY for span in said.heard.spans) or patterns.refusals.bids.search(text):
        return None
    due = own_bill(said.hearing, 0, len(said.units.words))
    if due is not None:
        slots = Slots(bill=bill_slot(said.hearing, *due, _UNPAID))
        return Understood(Intent.BILL_INQUIRY, slots, (), Route.FAST, 1.0, _UNPAID if refused else _RULE)
    bare = refused is not None and refused.re.groups and refused["it"] is not None
    return Understood(Intent.DENY, route=Route.FAST, confidence=1.0, rule=_UNPAID) if bare else None


def spent(said: Said, found: Understood) -> Understood | None:
    """What was spent on something that is none of the caller's bills: 「残高とタクシー代を教えて」."""
    cost = said.rules.patterns.inquiries.cost.search(said.text)
    if cost is None or found.intent not in {None, Intent.BALANCE_INQUIRY} or not said.context.idle:
        return None
    context = said.context
    if any(cost["name"] in each.name for of in (context.bills, context.accounts, context.cards) for each in of):
        return None
    spent_there = _asked(said, cost.end("name"), said.rules.patterns.inquiries.spent_there)
    if spent_there is None or cost["beside"] is None or found.intent is None:
        return spent_there
    return one_after_another([spent_there, found])


def paid_twice(said: Said, found: Understood) -> Understood | None:
    """What went to somebody, where it may have gone twice: no yes or no, for the entries tell."""
    patterns = said.rules.patterns.inquiries
    twice = patterns.paid_twice.search(said.text)
    if twice is None or found.intent not in {None, Intent.QNA} or found.rule is not None or not said.context.idle:
        return None
    (start, end), then, text = twice.span("twice"), patterns.paid_then, said.text
    asked = set_back(said.again(text[:start] + then + text[end:]), text, start, end, len(then))
    named = asked.slots.payee or asked.slots.merchant or asked.slots.bill
    if asked.intent is not Intent.RECENT_TRANSACTIONS or not named or asked.route is not Route.FAST:
        return None
    return replace(asked, slots=replace(asked.slots, topic=None))


def of_each_bill(said: Said, found: Understood) -> Understood | None:
    """What is asked of each of several bills in a row: 「給食費と学童費それぞれいくらですか」."""
    if found.intent not in {None, Intent.QNA, Intent.BILL_INQUIRY} or found.slots.bill or not said.context.idle:
        return None
    row = _bills_in_a_row(said)
    if not 1 < len(row) <= _MOST_BILLS:
        return None
    start, size = row[0][0], row[-1][0] - row[0][0]
    asked = set_back(said.again(said.text[:start] + said.text[start + size :]), said.text, start, start + size, 0)
    if asked.intent is not Intent.BILL_INQUIRY or asked.route is not Route.FAST or not asked.slots.bill:
        return None
    told = [Slot(bill, said.heard.evidence(start, end, _RULE)) for start, end, bill in row]
    return one_after_another([replace(asked, slots=replace(asked.slots, bill=slot)) for slot in told])


def _bills_in_a_row(said: Said) -> list[tuple[int, int, BillId]]:
    """The code points at which each of the caller's bills is named, where nothing else stands between them."""
    units, nouns, words = said.units, said.hearing.nouns, said.units.words
    row = list[tuple[int, int, BillId]]()
    for at in range(len(words) if len(said.context.bills) > 1 else 0):
        end, symbols = nouns.trie.longest(words, at)
        ids = {noun.id for noun in map(nouns.nouns.__getitem__, symbols) if noun.kind == "bill" and noun.id}
        if len(ids) == 1 and (not row or units.starts[at] >= row[-1][1]):
            row.append((units.starts[at], units.ends[end - 1], BillId(ids.pop())))
    between = [said.text[one[1] : two[0]] for one, two in pairwise(row)]
    return row if all(map(said.rules.patterns.inquiries.in_a_row.fullmatch, between)) else []


def _asked(said: Said, at: int, words: str) -> Understood | None:
    """What the text up to a code point means with these words behind it, where it only looks something up."""
    meant = set_back(said.again(said.text[:at] + words), said.text, at, len(said.text), len(words))
    return meant if meant.intent in READING and meant.route is Route.FAST else None


def asked_on(said: Said, found: Understood) -> Understood | None:
    """The history that was just told, of somebody else ("and kayla?") or its sum: 「合計でいくら」."""
    context = said.context
    if not context.idle or context.recent not in _SUMMED or found.then is not None:
        return None
    if context.recent is Intent.BILL_INQUIRY:
        return _owed_in_all(said)
    if said.rules.patterns.inquiries.its_sum.fullmatch(said.text) is not None:
        total = Slots(topic=Slot(str(Topic.TOTAL), said.heard.whole(_AGAIN)))
        return Understood(Intent.RECENT_TRANSACTIONS, total, (), Route.FAST, 1.0, _AGAIN)
    match = said.heard.payees
    if match is None or match.choice is None or found.intent not in {None, *TOLD_ALONE}:
        return None
    named = f"{said.text[: match.start]}_{said.text[match.end :]}"
    to = said.rules.patterns.inquiries.and_to.fullmatch(named)
    sent = Slot(str(Topic.SENT), said.heard.whole(_AGAIN)) if to is not None else None
    if sent is None and not said.rules.patterns.inquiries.and_of.fullmatch(named):
        return None
    payee = Slot(PayeeId(match.choice), Evidence.naming(match, _AGAIN))
    return Understood(
        Intent.RECENT_TRANSACTIONS, Slots(payee=payee, topic=sent), (), Route.FAST, 1.0, _AGAIN, payees=match
    )


def _owed_in_all(said: Said) -> Understood | None:
    """What the bills come to that were just told, each with what is due of it."""
    ids, whole = tuple(bill.id for bill in said.context.bills), said.heard.whole(_AGAIN)
    asked = said.rules.patterns.inquiries.its_sum.fullmatch(said.text) and said.context.recent_bill is None
    if not asked or len(ids) < 2:  # noqa: PLR2004 - of one bill there is no sum
        return None
    slots = Slots(topic=Slot(str(Topic.TOTAL), whole), bill=Slot(ids[0], whole, ids[1:]))
    return Understood(Intent.BILL_INQUIRY, slots, (), Route.FAST, 1.0, _AGAIN)


def balances_summed(said: Said, found: Understood) -> Understood | None:
    """What accounts come to: those that are named, and where that is one or none, those that were told before."""
    context, told = said.context, said.context.told if said.context.recent is Intent.BALANCE_INQUIRY else ()
    if not context.idle or context.code or len(context.accounts) < 2 or found.then is not None:  # noqa: PLR2004
        return None
    things = NamedThings(said, found)
    if said.rules.patterns.inquiries.balances_summed.fullmatch(things.text) is None:
        return None
    named = tuple(_named(said))
    among = named if len(named) > 1 else (*(each for each in told[-1:] if each not in named), *named) if named else told
    two = len(among) == 2  # noqa: PLR2004
    if len(among) < 2 or (things.of("M") and not two):  # noqa: PLR2004 - of one account there is no sum
        return None
    whole = said.heard.whole(_RULE)
    slots = Slots(account=Slot(among[0], whole, among[1:]), topic=Slot(str(Topic.TOTAL), whole))
    return Understood(Intent.BALANCE_INQUIRY, slots, (), Route.FAST, 1.0, _RULE)


def inquired(said: Said, found: Understood) -> Understood | None:
    """The inquiry with what else was said of what is looked up; None where nothing was."""
    if found.then is not None or found.slots.bill is not None:
        return None
    if found.intent is Intent.BALANCE_INQUIRY:
        return _of_accounts(said, found)
    if found.intent is Intent.RECENT_TRANSACTIONS:
        return _summed(said, found)
    return _of_days(said, found) if found.intent is Intent.BILL_INQUIRY and found.slots.period is None else None


def _summed(said: Said, found: Understood) -> Understood | None:
    """A history of which the sum is asked: "how much did i spend this week", and not what was paid the last time."""
    patterns, topic = said.rules.patterns, found.slots.topic
    asked = patterns.inquiries.sum_asked.search(said.text) and not patterns.inquiries.one_asked.search(said.text)
    if found.slots.choice is not None or not (asked or said.rules.cues.in_all.holds(said.units.words)):
        return None
    whole = said.heard.whole(_RULE)
    if topic is None and patterns.stories.came_in.search(said.text):
        topic = Slot(str(Topic.RECEIVED), whole)
    total = Slot(str(Topic.TOTAL), whole) if topic is None else replace(topic, readings=(str(Topic.TOTAL),))
    return replace(found, slots=replace(found.slots, topic=total))


def _of_accounts(said: Said, found: Understood) -> Understood | None:
    """Of each account that is named where several are, or by more than a word; the sum where it is asked for."""
    slots, accounts = found.slots, _named(said)
    several = len(accounts) > 1 or (accounts and _in_full(said))
    if slots.account is None and several and not found.unresolved:
        slots = replace(slots, account=Slot(accounts[0], said.heard.whole(_RULE), tuple(accounts[1:])))
    if said.rules.cues.in_all.holds(said.units.words):
        slots = replace(slots, topic=Slot(Topic.TOTAL, said.heard.whole(_RULE)))
    return replace(found, slots=slots) if slots is not found.slots else None


def _named(said: Said) -> list[AccountId]:
    """The caller's accounts that are named, each by its longest name."""
    nouns, words, at = said.hearing.nouns, said.units.words, 0
    found: list[AccountId] = []
    while at < len(words):
        end, symbols = nouns.trie.longest(words, at)
        named = (noun.id for noun in map(nouns.nouns.__getitem__, symbols) if noun.kind == "account")
        found += [AccountId(id_) for id_ in named if id_ is not None and id_ not in found]
        at = max(end, at + 1)
    return found


def _in_full(said: Said) -> bool:
    """Whether an account is named by more than one word, "current account": alone "current" may say when."""
    nouns, words = said.hearing.nouns, said.units.words
    named = ((edge, nouns.nouns[edge.symbol]) for edge in nouns.trie.edges(words)) if said.rules.spaced else ()
    return any(edge.end > edge.start + 1 and noun.kind == "account" and noun.id is not None for edge, noun in named)


def _of_days(said: Said, found: Understood) -> Understood | None:
    """The bills that fall due in the stretch of days that is named, or up to the day."""
    days = [(span, span.value) for span in said.heard.spans if isinstance(span.value, DateValue)]
    if len(days) != 1 or (day := days[0][1]).end < said.today:
        return None
    span = days[0][0]
    place = said.units.covering(span.start, span.end)
    if place is not None and said.rules.cues.limited(said.units, *place) is not None:
        day = replace(day, start=said.today)
    return replace(found, slots=replace(found.slots, period=Slot(day, Evidence.of(span))))
