"""Words about balances, by patterns over the words in which accounts and sums stand as letters: `balances.yaml`."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeVar

from pydantic import Field

from rules.load import RuleFile, exists, load
from schemas.balances import Bound
from schemas.ids import AccountId, language
from schemas.intent import MONEY_MOVING, TOLD_ALONE, Evidence, Intent, Route, Slot, Slots, Understood
from schemas.span import SUMS, MoneyValue, Span, SpanKind
from services.understanding.correction.amounts import comes_to
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said

_PART: Final = re.compile(r"\{([A-Z_]+)\}")
Thing = TypeVar("Thing")
_DROPPED: Final = "'’"
_WHOLE: Final = 100
_BOUNDS: Final = {
    "over": Bound.OVER,
    "least": Bound.LEAST,
    "under": Bound.UNDER,
    "most": Bound.MOST,
    "or_more": Bound.LEAST,
    "or_less": Bound.MOST,
    "not_under": Bound.LEAST,
    "enough": Bound.ENOUGH,
}


class PartedFile(RuleFile):
    """Patterns that are put together of `parts`, each named in braces."""

    meets: str
    parts: dict[str, str] = Field(default_factory=dict)

    def pattern(self, text: str) -> re.Pattern[str]:
        """A pattern with its parts."""
        while _PART.search(text):
            text = _PART.sub(lambda part: self.parts[part[1]], text)
        return re.compile(text)


class BalancesFile(PartedFile):
    """See rules/intents/en/balances.yaml."""

    conditions: tuple[str, ...] = ()
    between: str = ""
    only: str = "(?!)"
    tail: str = ""
    asked: tuple[str, ...] = ()
    instead: dict[str, str] = Field(default_factory=dict)
    some: str = ""
    no_sum: str = "(?!)"
    more_sums: str = "(?!)"
    plain: tuple[tuple[str, str], ...] = ()
    above: tuple[str, ...] = ()
    up_to: tuple[str, ...] = ()
    share: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    halved: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    places: dict[str, int] = Field(default_factory=dict)
    staying: tuple[str, ...] = ()
    due_but: tuple[str, ...] = ()
    over_least: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BalanceRules:
    """One language's, compiled; each pattern with what it is one of."""

    file: BalancesFile
    meets: re.Pattern[str]
    patterns: dict[str, tuple[re.Pattern[str], ...]]
    between: re.Pattern[str]
    only: re.Pattern[str]
    tail: re.Pattern[str]
    no_sum: re.Pattern[str]
    more_sums: re.Pattern[str]
    plain: tuple[tuple[re.Pattern[str], str], ...]


@lru_cache(maxsize=8)
def balance_rules(of: str) -> BalanceRules | None:
    """The rules of a language that has some. Raises RulesInvalid."""
    path = f"intents/{of}/balances.yaml"
    if not exists(path):
        return None
    file = load(path, BalancesFile)
    kinds = ("asked", "above", "up_to", "share", "before", "halved", "ordinal", "staying", "due_but", "over_least")
    patterns = {kind: tuple(map(file.pattern, getattr(file, kind))) for kind in kinds}
    space = "" if file.pattern(" {IF}").search(" ") else " "
    patterns["conditions"] = tuple(file.pattern("{IF}" + space + each) for each in file.conditions)
    between, only, tail, no_sum, more_sums = map(
        file.pattern, (file.between, file.only, file.tail, file.no_sum, file.more_sums)
    )
    plain = tuple((file.pattern(said), words) for said, words in file.plain)
    return BalanceRules(file, re.compile(file.meets), patterns, between, only, tail, no_sum, more_sums, plain)


@dataclass(frozen=True, eq=False)
class BalanceWords:
    """An utterance whose accounts, sums and percentages stand as letters: "if A has more than M move M to A"."""

    said: Said
    rules: BalanceRules
    text: str
    starts: tuple[int, ...]
    things: dict[int, tuple[Evidence, str | MoneyValue]]

    @classmethod
    def of(cls, said: Said) -> "BalanceWords | None":
        """That of what was heard; None where nothing in it is about balances."""
        if cls not in said.made:
            rules = balance_rules(language(said.heard.transcript.locale))
            met = rules is not None and rules.meets.search(said.text.casefold()) is not None
            said.made[cls] = _reduced(said, rules) if met and rules is not None else None
        words: BalanceWords | None = said.made[cls]
        return words

    def start(self, at: int) -> int:
        """Where in what was heard a character of `text` stands."""
        return self.starts[at] if at < len(self.starts) else len(self.said.text)

    def evidence(self, match: re.Match[str], group: str | int = 0) -> Evidence:
        """The words that are matched."""
        start, end = self.start(match.start(group)), self.start(match.end(group))
        rule = self.rules.file.rule
        return self.said.heard.evidence(start, start + len(self.said.text[start:end].rstrip()), rule)

    def account(self, match: re.Match[str]) -> Slot[AccountId] | None:
        """The own account that is matched, by its name or as the one whose balance was told."""
        named = match.groupdict()
        if named.get("account") is not None:
            evidence, id_ = self.things[match.start("account")]
            assert isinstance(id_, str), "an A is an account"
            return Slot(AccountId(id_), evidence)
        told = self.said.context.told
        return Slot(told[0], self.evidence(match, "it")) if named.get("it") is not None and len(told) == 1 else None

    def sum(self, match: re.Match[str]) -> MoneyValue | None:
        """The sum that is matched."""
        thing = self.things[match.start("sum")][1] if match.groupdict().get("sum") is not None else None
        return thing if isinstance(thing, MoneyValue) else None

    def share(self, match: re.Match[str]) -> Fraction | None:
        """What part of something is matched."""
        if match.groupdict().get("percent") is not None:
            percent = self.things[match.start("percent")][1]
            return Fraction(str(percent)) / _WHOLE
        for name, words in match.groupdict().items():
            if words is not None and name.startswith("share_"):
                return Fraction(*map(int, name.split("_")[1:]))
        return None

    def order(self, *gone: re.Match[str], begin: int = 0) -> Understood | None:
        """What is ordered by the words from `begin` on that are not `gone`, where each of them has its place in it."""
        text, size = self.said.text, self.start(begin)
        text = " " * size + text[size:]
        for match in gone:
            text = self._without(text, match)
        return self._sure(self._read(text))

    def answer(self, gone: re.Match[str]) -> Understood | None:
        """What is answered, or corrected, by the words that are not `gone`, with a part of a bill in their place."""
        told = self._read(self._without(self.said.text, gone))
        alone = told.intent in TOLD_ALONE and told.whole and told.slots == Slots(portion=told.slots.portion)
        return told if alone and told.slots.portion is not None else None

    def _sure(self, order: Understood) -> Understood | None:
        sure = order.intent in MONEY_MOVING and order.route is Route.FAST and order.rule is not None
        return order if sure and order.whole and not order.vetoes and not order.doubted else None

    def transfer(self, gone: re.Match[str]) -> Understood | None:
        """The same, of a transfer whose amount is told by what is `gone`."""
        order = self.order(gone)
        if order is None or order.intent is not Intent.TRANSFER_MONEY:
            order = self._with_some(gone)
        if order is None or order.slots.amount is not None:
            return None
        return order if order.slots.topic is None and order.slots.portion is None else None

    def _with_some(self, gone: re.Match[str]) -> Understood | None:
        """The same with a sum in the place of what is `gone`, where less is no order: 「定期に移して」."""
        at, some = self.start(gone.start()), self.rules.file.some
        text = self._without(self.said.text, gone)
        if not some or text[at : at + len(some)].strip():
            return None
        order = self._sure(self._read(text[:at] + some + text[at + len(some) :]))
        amount = order.slots.amount if order is not None and order.intent is Intent.TRANSFER_MONEY else None
        if order is None or amount is None or amount.evidence.start != at:
            return None
        return replace(order, slots=replace(order.slots, amount=None))

    def offer(self, gone: re.Match[str]) -> Understood | None:
        """What transfer to whom may be ordered by the words that are not `gone`."""
        order = self._read(self._without(self.said.text, gone))
        offered = order.intent is Intent.TRANSFER_MONEY and order.route is Route.EXTRACT and order.then is None
        return order if offered and order.slots.payee is not None and order.slots.amount is None else None

    def _read(self, text: str) -> Understood:
        for said, plain in self.rules.plain:
            if (found := said.search(text)) is not None:
                text = text[: found.start()] + plain.ljust(len(found[0])) + text[found.end() :]
        return said_in(self.said.again(text), self.said.text)

    def _without(self, text: str, match: re.Match[str]) -> str:
        """`text` without what is matched, but for what it keeps, or has other words for."""
        start, end = self.start(match.start()), self.start(match.end())
        plain = " " * (end - start)
        for name, words in match.groupdict().items():
            if words is None or not name.startswith(("keep", "to_")):
                continue
            first, last = self.start(match.start(name)) - start, self.start(match.end(name)) - start
            meant = self.said.text[start + first : start + last]
            if name.startswith("to_"):
                meant = self.rules.file.instead[name.removeprefix("to_")].rjust(last - first)
            plain = plain[:first] + meant + plain[first + len(meant) :]
        return text[:start] + plain + text[end:]


def bound_of(match: re.Match[str]) -> Bound:
    """How a balance has to stand to what is matched; at least so, where nothing says it."""
    told = (bound for name, bound in _BOUNDS.items() if match.groupdict().get(name) is not None)
    return next(told, Bound.LEAST)


def _reduced(said: Said, rules: BalanceRules) -> BalanceWords:
    return BalanceWords(said, rules, *lettered(said.paused, lambda text: _things(said, rules, text)))


def lettered(
    heard: str, named: Callable[[str], Iterable[tuple[Evidence, str, Thing]]]
) -> tuple[str, tuple[int, ...], dict[int, tuple[Evidence, Thing]]]:
    """Words in small letters, in which letters stand for what is named; where each stood; and what is there."""
    text = heard.casefold()
    text = text if len(text) == len(heard) else heard
    letters, starts, things, at = list[str](), list[int](), dict[int, tuple[Evidence, Thing]](), 0

    def keep(end: int) -> None:
        for place in range(at, end):
            if text[place] not in _DROPPED:
                letters.append(text[place])
                starts.append(place)

    for evidence, letter, thing in named(text):
        keep(evidence.start)
        things[len(letters)] = (evidence, thing)
        letters.append(letter)
        starts.append(evidence.start)
        at = evidence.end
    keep(len(text))
    return "".join(letters), tuple(starts), things


def _things(said: Said, rules: BalanceRules, text: str) -> Iterator[tuple[Evidence, str, str | MoneyValue]]:
    """The accounts, sums and percentages in what was heard, in their order; of two in one place the account."""
    accounts = Mentions.of_all(said).accounts()
    found: list[tuple[Evidence, str, str | MoneyValue]] = [(evidence, "A", id_) for evidence, id_ in accounts]
    found += _sums(said, (span for span in said.heard.spans if not rules.no_sum.match(text, span.end)))
    for more in rules.more_sums.finditer(text):  # what counts as no number where such a verb follows
        part = said.part(*more.span())
        if part is not None and part.slots.amount is not None and not part.slots.amount.readings:
            found.append((said.heard.evidence(*more.span(), rules.file.rule), "M", part.slots.amount.value))
    end = 0
    for evidence, letter, thing in sorted(found, key=lambda each: (each[0].start, each[1])):
        if evidence.start >= end:
            yield evidence, letter, thing
            end = evidence.end


def _sums(said: Said, spans: Iterable[Span]) -> Iterator[tuple[Evidence, str, str | MoneyValue]]:
    for span in spans:
        if span.kind is SpanKind.PERCENT:
            yield Evidence.of(span), "P", str(span.value)
        elif span.kind in SUMS and said.rules.units(span.surface).words != said.rules.words.one:
            values = comes_to(span, said.heard)
            if len(values) == 1:
                yield Evidence.of(span), "M", values[0]
