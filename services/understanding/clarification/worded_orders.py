"""Orders in a sentence of another shape, put in plain words and read so; and a share of a sum that is told.

"25 for the club and 18 for the mobile, do both", "it was ninety, split three ways, send him my share".
All that is named has its place in what is read, or it is not read so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from pydantic import BaseModel, ConfigDict

from rules.load import exists, load
from schemas.balances import Measure, Reckoning
from schemas.ids import language
from schemas.intent import MONEY_MOVING, Evidence, Intent, Route, Slot, SlotName, Understood
from schemas.payee import MatchOutcome
from schemas.span import SUMS, DateValue, MoneyValue, SpanKind, overlap
from services.understanding.clarification.balance_terms import PartedFile, lettered
from services.understanding.clarification.reckoned_orders import month_before
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import one_after_another, places, put_back
from services.understanding.correction.said import Said

_GAP: Final = re.compile(r"\{([a-z_0-9]+)\}")
_WAYS: Final = "ways"
_PERCENT: Final = "percent"
"""What an amount is multiplied by, where it is no number: by so many ways, by a percentage."""
_PLUS: Final = "plus"
_WORD: Final = re.compile(r" ([A-Za-z]+)")
_WHOLE: Final = 100
_NAME: Final = 6
"""Characters of a name before a particle, at most."""
_OPEN: Final = frozenset({SlotName.AMOUNT, SlotName.PAYEE})


class OrderWording(BaseModel):
    """A sentence, and the orders that it is put in; what their sum, or what was paid before, is multiplied by.

    A pattern of words that it `needs` is looked for before anything that is named, which takes far longer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str
    needs: str = ""
    put: tuple[str, ...]
    times: str = ""
    before: bool = False
    sole: bool = False


class WordedFile(PartedFile):
    """See rules/intents/en/worded.yaml."""

    to: dict[str, str]
    count: str
    who: str = "(?!)"
    stops: str
    partly: str
    way: str
    ways: dict[int, str]
    orders: tuple[OrderWording, ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    """One language's, compiled."""

    file: WordedFile
    meets: re.Pattern[str]
    needs: re.Pattern[str]
    """What any of the orders needs."""
    count: re.Pattern[str]
    who: re.Pattern[str]
    stops: re.Pattern[str]
    partly: re.Pattern[str]
    ways: dict[int, re.Pattern[str]]
    orders: tuple[tuple[re.Pattern[str], OrderWording], ...]


@lru_cache(maxsize=8)
def _rules(of: str) -> _Rules | None:
    """The rules of a language that has some. Raises RulesInvalid."""
    path = f"intents/{of}/worded.yaml"
    if not exists(path):
        return None
    file = load(path, WordedFile)
    ways = {number: file.pattern(file.way.replace("#", words)) for number, words in file.ways.items()}
    orders = tuple((file.pattern(each.say), each) for each in file.orders)
    needs = "|".join(dict.fromkeys(each.needs for each in file.orders))
    words = (file.meets, needs, file.count, file.who, file.stops, file.partly)
    meets, needed, count, who, stops, part = map(file.pattern, words)
    return _Rules(file, meets, needed, count, who, stops, part, ways, orders)


@dataclass(frozen=True, eq=False)
class _Worded:
    """An utterance in small letters whose names, accounts, bills, sums, percentages and days stand as letters."""

    said: Said
    rules: _Rules
    text: str
    starts: tuple[int, ...]
    things: dict[int, tuple[Evidence, object]]

    def span(self, match: re.Match[str], group: str) -> tuple[int, int]:
        """Where in what was heard a group stands."""
        begin, end = match.span(group)
        last = self.things[end - 1][0].end if end - 1 in self.things else self.starts[end - 1] + 1
        return self.starts[begin], last


def worded(said: Said, found: Understood) -> Understood | None:
    """The orders, one behind the other; None where the words have no such shape, or something of them no place."""
    rules = _rules(language(said.heard.transcript.locale))
    settled = found.sure and not found.missing and found.intent in MONEY_MOVING and not found.doubted
    if rules is None or not said.context.idle or said.context.code or (settled and found.slots.reckoning):
        return None
    text = said.text.casefold()
    if not rules.meets.search(text) or not rules.needs.search(text):
        return None
    words = _reduced(said, rules)
    for pattern, wording in rules.orders:
        match = pattern.fullmatch(words.text)
        if match is None or not _placed(words, match, wording):
            continue
        orders = [_order(words, match, wording, each) for each in wording.put if _filled(match, each)]
        if orders and all(orders):
            return one_after_another([order for order in orders if order is not None])
    return None


def partly(said: Said, found: Understood) -> Understood | None:
    """The order without its sum, where only a part of that is said to be meant and nobody took it: "… half of it"."""
    rules, amount = _rules(language(said.heard.transcript.locale)), found.slots.amount
    if rules is None or amount is None or found.intent is not Intent.TRANSFER_MONEY or not said.context.idle:
        return None
    if found.rule == rules.file.rule or rules.partly.search(said.text.casefold(), amount.evidence.end) is None:
        return None
    missing = (*(each for each in found.missing if each is not SlotName.AMOUNT), SlotName.AMOUNT)
    return replace(found, slots=replace(found.slots, amount=None), missing=missing)


def _filled(match: re.Match[str], put: str) -> bool:
    """Whether the sentence has all that an order needs."""
    groups = match.groupdict()
    return all(groups[name] is not None for name in _GAP.findall(put) if name[-1].isdigit())


def _placed(words: _Worded, match: re.Match[str], wording: OrderWording) -> bool:
    """Whether everything that is named is of an order, or said of it before; and nothing takes it back.

    With whom a sum is shared, or from whom it came, has no place else, but where it is `sole`.
    """
    kept = [name for name, words_ in match.groupdict().items() if words_ is not None]
    groups = [match.span(name) for name in kept if not name.startswith("talk")]
    used = {at for at in words.things if any(begin <= at < end for begin, end in groups)}
    values = {str(words.things[at][1]) for at in used}
    for at in words.things.keys() - used:
        evidence, thing = words.things[at]
        told = words.said.rules.patterns.stories.told_of.search(words.said.text, 0, evidence.start) is not None
        past = isinstance(thing, DateValue) and (told or thing.end <= words.said.today) and "talk" in match.groupdict()
        with_him = not wording.sole and wording.times and words.text[at] == "N" and at < match.end("talk")
        if not past and not with_him and str(thing) not in values:
            return False
    return not any(words.rules.stops.search(match[name]) for name in kept if name.startswith("talk"))


def _order(words: _Worded, match: re.Match[str], wording: OrderWording, put: str) -> Understood | None:
    """One of the orders, with its words where they were said; None where it is not read whole."""
    said, text, origins = words.said, "", list[int | None]()
    for at, piece in enumerate(_GAP.split(put)):
        if at % 2 == 0:
            text, origins = text + piece, [*origins, *[None] * len(piece)]
        elif match[piece]:
            begin, end = words.span(match, piece)
            lead, tail = words.rules.file.to[match[piece][-1]].split("_") if piece.startswith("to_") else ("", "")
            text += lead + said.text[begin:end] + tail
            origins += [*[None] * len(lead), *range(begin, end), *[None] * len(tail)]
    order = put_back(said.again(text), said.text, places(origins))
    whole = order.rule is not None and order.intent in MONEY_MOVING and order.route is Route.FAST and order.then is None
    if not whole or order.unread or order.vetoes or not _OPEN.issuperset(order.missing) or order.doubted:
        return None
    if {each.slot for each in order.unresolved} != {SlotName.PAYEE}.intersection(order.missing):
        return None
    return _scaled(words, match, wording, order)


def _scaled(words: _Worded, match: re.Match[str], wording: OrderWording, order: Understood) -> Understood | None:
    """The order with its part of the sum; without one where that does not come out even, or nobody knows which part."""
    factor = _factor(words, match, wording.times)
    slots = order.slots
    if wording.before and factor is not None and slots.payee is not None and slots.amount is None:
        period = None
        if match.groupdict().get("month") is not None:
            period = month_before(words.said.today)
            if words.things[match.start("month")][1] != period:
                return None
        reckoning = Reckoning(Measure.BEFORE, share=factor, period=period)
        by = Slot(reckoning, words.said.heard.whole(words.rules.file.rule))
        return replace(order, slots=replace(slots, reckoning=by), missing=())
    if (factor == 1 and wording.times != _PLUS) or (slots.amount is None and SlotName.AMOUNT not in order.missing):
        return order
    more = words.things[match.start("more")][1] if wording.times == _PLUS else None
    return _multiplied(words, order, factor, more if isinstance(more, MoneyValue) else None)


def _multiplied(
    words: _Worded, order: Understood, factor: Fraction | None, more: MoneyValue | None
) -> Understood | None:
    """The order with so much of its sum, and more of the same currency."""
    slots = order.slots
    if slots.amount is None:
        return None
    currencies = {each.currency for each in (more, slots.amount.value) if each is not None and each.currency}
    if len(currencies) > 1:
        return None
    extra, currency = more.amount_minor if more is not None else 0, next(iter(currencies), None)
    sums = (slots.amount.value, *slots.amount.readings)
    parts = [each.amount_minor * factor + extra for each in sums] if factor else []
    if not parts or any(each.denominator != 1 or each <= 0 for each in parts):
        return replace(order, slots=replace(slots, amount=None), missing=(SlotName.AMOUNT,))
    value, *others = [replace(slots.amount.value, amount_minor=int(each), currency=currency) for each in parts]
    told = replace(slots.amount, value=value, readings=tuple(others))
    return replace(order, slots=replace(slots, amount=told), rule=words.rules.file.rule)


def _factor(words: _Worded, match: re.Match[str], times: str) -> Fraction | None:
    """What part of what is told is meant; None where nobody knows."""
    if times == _PERCENT:
        percent = Fraction(str(words.things[match.start("percent")][1])) / _WHOLE
        return percent if 0 < percent <= 1 else None
    if times == _WAYS:
        told = [number for number, ways in words.rules.ways.items() if ways.search(words.text)]
        return Fraction(1, told[0]) if len(told) == 1 else None
    return Fraction(times) if times not in {"", _PLUS} else Fraction(1)


def _reduced(said: Said, rules: _Rules) -> _Worded:
    return _Worded(said, rules, *lettered(said.paused, lambda text: _things(said, rules, text)))


def _things(said: Said, rules: _Rules, text: str) -> list[tuple[Evidence, str, object]]:
    """All that is named, in its order; of two in one place the longer, or the first of these."""
    counts = [match.span() for match in rules.count.finditer(text)]
    named = Mentions.of_all(said)
    found: list[tuple[Evidence, str, object]] = [(each, "A", id_) for each, id_ in named.accounts()]
    found += [(each, "B", id_) for each, id_ in named.nouns_of("bill")]
    found += [(_in_full(said, each), "N", ids) for each, ids in named.everyone]
    found += [(each, "N", ids) for match in rules.who.finditer(text) for each, ids in _doer(said, match, rules)]
    match = said.heard.payees
    if match is not None and match.choice is not None and not said.rules.spaced:
        found.append((Evidence.naming(match, rules.file.rule), "N", (match.choice,)))
    for span in said.heard.spans:
        letter = "P" if span.kind is SpanKind.PERCENT else "M" if span.kind in SUMS else "D"
        if letter != "M" or not any(begin <= span.start < end for begin, end in counts):
            found.append((Evidence.of(span), letter, span.value))
    kept = list[tuple[Evidence, str, object]]()
    for each in sorted(found, key=lambda one: one[0].start - one[0].end):
        if not any(overlap(each[0], other[0]) for other in kept):
            kept.append(each)
    return sorted(kept, key=lambda one: one[0].start)


def _doer(said: Said, match: re.Match[str], rules: _Rules) -> Iterator[tuple[Evidence, object]]:
    """Who did something, by the longest end of the characters, or words, before it that is clearly somebody's name."""
    begin, end = match.span("name")
    for at in range(begin if said.rules.spaced else max(begin, end - _NAME), end):
        if said.rules.spaced and at > begin and said.text[at - 1] != " ":
            continue
        who = said.called(said.text[at:end])
        if who is not None and who.outcome is MatchOutcome.CLEAR and who.choice is not None:
            begun = begin if said.text[begin:at].strip().casefold() in said.names else at
            yield said.heard.evidence(begun, end, rules.file.rule), [who.choice]
            return


def _in_full(said: Said, name: Evidence) -> Evidence:
    """A name with the words behind it that are names too: "my lawyer felix amato"."""
    end = name.end
    while (word := _WORD.match(said.text, end)) is not None and word[1].casefold() in said.names:
        end = word.end()
    return replace(name, end=end, surface=said.text[name.start : end])
