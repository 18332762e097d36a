"""A few words behind a history that was told: "and the one before that", "and at the gas station", 「その前の日は」."""

from dataclasses import replace
from typing import Final

from schemas.balances import Measure, Reckoning
from schemas.ids import AccountId, RuleId
from schemas.intent import TOLD_ALONE, Evidence, Intent, Route, Slot, Slots, Topic, Understood
from schemas.span import SpanKind
from services.understanding.correction.said import Said

_AGAIN: Final = RuleId("intents.same_history@1")
_ONE_BEFORE: Final = RuleId("intents.one_before@1")
_STRETCH: Final = RuleId("intents.stretch_before@1")
_OTHERS: Final = RuleId("intents.others@1")
_COST: Final = RuleId("intents.cost_then@1")
_IT: Final = RuleId("intents.of_history@1")
_AS_THEN: Final = RuleId("intents.as_then@1")
_OPEN: Final = frozenset({None, Intent.QNA, Intent.BALANCE_INQUIRY, Intent.RECENT_TRANSACTIONS}) | TOLD_ALONE


def followed_up(said: Said, found: Understood) -> Understood | None:
    """More of the history, or another one like it; None where nothing such is asked for."""
    if not said.context.idle or said.context.code or found.then is not None:
        return None
    if (few := _last_few(said)) is not None:
        return few
    if (cost := _cost_then(said, found)) is not None:
        return cost
    if said.context.recent is not Intent.RECENT_TRANSACTIONS:
        return None
    if found.intent in _OPEN | {Intent.TRANSFER_MONEY} and said.rules.patterns.as_then.fullmatch(said.text):
        before = Slots(reckoning=Slot(Reckoning(Measure.BEFORE), said.heard.whole(_AS_THEN)))
        return Understood(Intent.TRANSFER_MONEY, before, (), Route.FAST, 1.0, _AS_THEN)
    return _further(said, found) if found.intent in _OPEN else None


def _further(said: Said, found: Understood) -> Understood | None:
    patterns, text = said.rules.patterns, said.text
    one, whole = Slot(1, said.heard.whole(_ONE_BEFORE)), said.heard.whole(_AGAIN)
    if patterns.one_before.fullmatch(text):
        return _history(_ONE_BEFORE, Slots(choice=one))
    if (before := patterns.stretch_before.fullmatch(text)) is not None:
        unit = next(name for name, words in before.groupdict().items() if words is not None)
        return _history(_STRETCH, Slots(portion=Slot(unit, whole)))
    if patterns.others.fullmatch(text):
        return _history(_OTHERS, Slots())
    if patterns.of_history.fullmatch(text):
        return _history(_IT, Slots(choice=one))
    return _elsewhere(said, found)


def _elsewhere(said: Said, found: Understood) -> Understood | None:
    """The same at another shop, that is no name of the caller's own things or payees."""
    at, match, words = said.rules.patterns.and_at.fullmatch(said.text), said.heard.payees, said.units.words
    nouns = said.hearing.nouns
    owned = any(nouns.nouns[e.symbol].id is not None for i in range(len(words)) for e in nouns.trie.scan(words, i))
    named = match is not None and match.choice is not None
    if at is None or found.rule is not None or owned or named or said.heard.spans:
        return None
    shop = said.heard.evidence(at.start("shop"), at.end("shop"), _AGAIN)
    return _history(_AGAIN, Slots(merchant=Slot(shop.surface, shop)))


def _last_few(said: Said) -> Understood | None:
    """So many of an account: 「お店の口座の直近三件だけでええわ」."""
    few = said.rules.patterns.last_few.fullmatch(said.text)
    if few is None:
        return None
    spans = [span for span in said.heard.spans if span.kind is SpanKind.NUMBER and span.start == few.start("number")]
    many = next((int(e) for span in spans for e in span.values if isinstance(e, str) and e.isdecimal()), 0)
    units, nouns, account = said.units, said.hearing.nouns, None
    if few["account"]:
        end, symbols = nouns.trie.longest(units.words, 0)
        ids = [n.id for n in map(nouns.nouns.__getitem__, symbols) if n.kind == "account" and n.id is not None]
        if not ids or not said.rules.patterns.beside_account.fullmatch(
            said.text, units.ends[end - 1], few.end("account")
        ):
            return None
        account = Slot(AccountId(ids[0]), said.heard.evidence(0, units.ends[end - 1], _AGAIN))
    if not many:
        return None
    return _history(_AGAIN, Slots(account=account, choice=Slot(many, Evidence.of(spans[0]))))


def _cost_then(said: Said, found: Understood) -> Understood | None:
    """What something cost that is none of the caller's bills: 「ライブのチケットいくらだったっけ」."""
    cost, match = said.rules.patterns.cost_then.fullmatch(said.text), said.heard.payees
    if cost is None or found.intent is not None or found.slots != Slots() or (match is not None and match.choice):
        return None
    shop = said.heard.evidence(cost.start("shop"), cost.end("shop"), _AGAIN)
    name = shop.surface.replace(said.rules.patterns.of, "")
    return Understood(Intent.RECENT_TRANSACTIONS, Slots(merchant=Slot(name, shop)), (), Route.FAST, 1.0, _COST)


def sent_to(said: Said) -> Slot[str] | None:
    """That whom money went to is asked, of who is named."""
    match = said.heard.payees
    if match is None or not said.rules.patterns.and_to.fullmatch(
        f"{said.text[: match.start]}_{said.text[match.end :]}"
    ):
        return None
    return Slot(str(Topic.SENT), said.heard.whole(_AGAIN))


def whether(said: Said, found: Understood) -> Understood | None:
    """A history with what of it is asked: if it came in, only what was spent, by what name; of "that" the last one."""
    patterns, slots = said.rules.patterns, found.slots
    if found.intent in {None, Intent.QNA} and found.then is None and patterns.income_in.fullmatch(said.text):
        topic = Slot(str(Topic.RECEIVED), said.heard.whole(_AGAIN))
        found = Understood(Intent.RECENT_TRANSACTIONS, Slots(topic=topic), (), Route.FAST, 1.0, _AGAIN)
        slots = found.slots
    if found.intent is not Intent.RECENT_TRANSACTIONS or found.by("recent_transactions.it"):
        return _of_one(said, found) if found.by("recent_transactions.it") else None
    about, word = list[str](), patterns.income.search(said.text) if slots.about == Topic.RECEIVED else None
    if word is not None and slots.merchant is None and slots.payee is None:
        slots = replace(slots, merchant=Slot(word[0], said.heard.evidence(*word.span(), _AGAIN)))
    sums = any(span.kind in {SpanKind.MONEY, SpanKind.DIGITS} for span in said.heard.spans)
    asks = slots.merchant or slots.payee or slots.bill
    if asks and not sums and slots.choice is None and patterns.asks_whether.search(said.text):
        about.append(str(Topic.WHETHER))
    if not asks and slots.topic is None and patterns.spends.search(said.text):
        about.append(str(Topic.SPENT))
    if about:
        had = (slots.topic.value, *slots.topic.readings) if slots.topic is not None else ()
        first, *rest = (*had, *about)
        slots = replace(slots, topic=Slot(first, said.heard.whole(_AGAIN), tuple(rest)))
    return replace(found, slots=slots) if slots is not found.slots else None


def _of_one(said: Said, found: Understood) -> Understood | None:
    """Of what was just told one, where "that" is asked about and not "those"."""
    if said.rules.patterns.of_those.search(said.text):
        return None
    return replace(found, slots=replace(found.slots, choice=Slot(1, said.heard.whole(_IT))))


def _history(rule: RuleId, slots: Slots) -> Understood:
    return Understood(Intent.RECENT_TRANSACTIONS, slots, (), Route.FAST, 1.0, rule)
