"""The grammar of consent: what an answer means, told by all of its words. The only place where a `Consent` is made.

It is an automaton of its own over a lattice without fillers: no word is skipped, and what was restated is read only
where it is the same as what waits. So a yes with anything else beside it is no yes, whatever stands where.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Final

from rules.kept import kept
from rules.load import load
from schemas.consent import NO_TERMS, Awaited, Consent, Terms
from schemas.ids import RuleId
from schemas.intent import Annotation, Context, Intent
from schemas.money import exponent
from schemas.span import Ambiguity, DateValue, MoneyValue, Span, SpanKind, amount_readings
from schemas.transcript import Source
from services.understanding.fast.consent.consent_file import ActRule, ConsentAutomaton, ConsentFile, compiled
from services.understanding.fast.consent.hearings import OtherHearings
from services.understanding.fast.patterns.lattice import Edge, Lattice, Step, Trie
from services.understanding.fast.patterns.uncollected import uncollected
from services.understanding.fast.patterns.units import Units
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.vocabulary import vocabulary

_NOW: Final = ("now", "today_too", "due_soon")
"""Lists of words for today, or for a time that is meant to be reached by what is done at once."""
_EVERY: Final = "every_one"
_WHOLE: Final = ("whole", "whole_paid")
"""Lists of words for all of a bill, which agree to no part of it."""
_VALUE: Final = "value"
_ASKED: Final = ("?", "？")
_UNFINISHED: Final = ("...", "…", "-", "–", "—", "、", ",")
_OF_ONE_DAY: Final = frozenset({None, Ambiguity.PAST_OR_FUTURE})
"""No order is for a day that was: "yes, friday" says the one to come."""
_REACH: Final = 60
"""Units in which words that lead up to something else, or say no first, are looked for."""
_ANSWERS: Final = frozenset({Intent.CONFIRM, Intent.DENY, Intent.CANCEL})


@dataclass(frozen=True, slots=True)
class ConsentAnswer:
    """What an utterance answers. CONFIRM without `consent`: words that some say for yes and others for no.

    `doubted`: a yes that was perhaps not what was said.
    """

    intent: Intent
    rule: RuleId
    consent: Consent | None = None
    doubted: bool = False


class ConsentGrammar:
    """The compiled grammar of one language."""

    def __init__(self, file: ConsentFile, answers: ConsentAutomaton, rules: Grammar) -> None:
        self._file = file
        self._rules = rules
        self._symbols, self._trie, self._automaton = answers.symbols, answers.trie, answers.automaton
        self._hearings = OtherHearings(file, answers, rules)
        self._leads, self._objections = len(file.acts), len(file.acts) + 1
        self._first = {
            to: self._automaton.first_of([i for i, act in enumerate(file.acts) if to in act.to]) for to in Awaited
        }

    def answer(self, heard: Annotation, context: Context) -> ConsentAnswer | None:
        """What the whole of `heard` answers in `context`; None where any word of it says something else."""
        transcript = heard.transcript
        found = self._whole(transcript.text, heard.spans, context)
        if found is None or (found.typed and transcript.source is not Source.TYPED):
            return None
        rule = RuleId(f"{self._file.id}.{found.id}@{self._file.version}")
        if not found.agrees:
            unsure = found.act is Intent.WAIT and self._may_agree(heard, context)
            return ConsentAnswer(Intent.CONFIRM if unsure else found.act, rule, doubted=unsure)
        whole = partial(self._other, heard.spans, context)
        if transcript.source is Source.DTMF or self._hearings.contradict(transcript, whole):
            return ConsentAnswer(found.act, rule, doubted=True)
        return ConsentAnswer(found.act, rule, Consent(context.terms.to, rule))

    def disagreeing(self, heard: Annotation, context: Context) -> Annotation:
        """A yes without the other hypotheses that are yeses themselves, in whatever words: オッケー, オーケーです."""
        best, *others = heard.transcript.hypotheses or (None,)
        if best is None or not others:
            return heard
        whole = ((each, self._other(heard.spans, context, each.text)) for each in others)
        kept = (best, *(each for each, found in whole if found is None or not found.agrees))
        return replace(heard, transcript=replace(heard.transcript, hypotheses=kept))

    def part(self, text: str, context: Context) -> Intent | None:
        """What answer a part of an utterance would be, alone. It agrees to nothing; None where its end goes on."""
        units = self._rules.units(text)
        if not units.words or units.words[-1] in self._file.open:
            return None
        found = self._whole(text, (), context)
        return None if found is None else found.act

    def agrees(self, text: str, context: Context) -> bool:
        """Whether a part of an utterance would be a yes, alone."""
        found = self._whole(text, (), context)
        return found is not None and found.agrees

    def gives_up(self, heard: Annotation, context: Context, start: int) -> list[int]:
        """Where a wish to give up what waits, which begins at a unit, may end, the last first."""
        units = self._rules.units(heard.transcript.text)
        if not self._trie.begins(units.words, start):
            return []
        size, first = len(units.words), self._first[context.terms.awaited]
        sets = self._automaton.run(self._lattice(units, heard.spans, context), start, size, first)
        acts = self._file.acts
        ends = ((at, self._automaton.accepted(sets[at])) for at in range(size, start, -1))
        return [at for at, found in ends if found and found[0] < self._leads and acts[found[0]].act is Intent.CANCEL]

    def begins(self, units: Units) -> list[int]:
        """Where words that only lead up to something else may end, the last first; never the whole utterance."""
        return self._prefixes(units, self._leads)

    def objects(self, units: Units) -> bool:
        """Whether it begins with a no."""
        return bool(self.refusals(units))

    def refusals(self, units: Units) -> list[int]:
        """Where a no at its beginning may end, the last first."""
        return self._prefixes(units, self._objections)

    def _whole(self, text: str, spans: tuple[Span, ...], context: Context) -> ActRule | None:
        units = self._rules.units(text)
        size = len(units.words)
        if size == 0:
            return None
        if context.terms == NO_TERMS and not self._trie.begins(units.words, 0):
            return None
        lattice = self._lattice(units, spans, context)
        reached = self._automaton.run(lattice, 0, size, self._first[context.terms.awaited])[size]
        accepted = [i for i in self._automaton.accepted(reached) if i < self._leads]
        act = self._file.acts[accepted[0]] if accepted else None
        if act is None or act.act not in _ANSWERS:
            return act
        return None if (_asks(text) and not act.questions) or (act.agrees and _unfinished(text)) else act

    def _other(self, spans: tuple[Span, ...], context: Context, text: str) -> ActRule | None:
        return self._whole(text, _same_spans(spans, text), context)

    def _may_agree(self, heard: Annotation, context: Context) -> bool:
        """Whether another hypothesis, about as likely, is a yes: of えー it is ええ."""
        others = self._hearings.others(heard.transcript)
        near = (self._whole(other, (), context) for other, odds in others if odds <= self._file.doubt.other)
        return any(found is not None and found.agrees for found in near)

    def _prefixes(self, units: Units, template: int) -> list[int]:
        reach = min(len(units.words) - 1, _REACH)
        if reach < 1 or not self._trie.begins(units.words, 0):
            return []
        sets = self._automaton.run(self._lattice(units, (), Context()), 0, reach, self._automaton.first_of([template]))
        return [at for at in range(reach, 0, -1) if template in self._automaton.accepted(sets[at])]

    def _lattice(self, units: Units, spans: tuple[Span, ...], context: Context) -> Lattice:
        agreeing = self._agreeing(units, spans, context)
        named = self._names(context.terms.names)
        payee, terms = self._symbols["payee"], context.terms
        barred = {symbol for each in _untrue(terms) if (symbol := self._symbols.get(each)) is not None}

        def phrases(at: int) -> list[Step]:
            steps = self._trie.steps(units.words, at)
            if all(barred.isdisjoint(read) for _, read in steps):
                return steps
            return [(end, tuple(each for each in read if each not in barred)) for end, read in steps]

        def scan(at: int) -> list[Edge]:
            return [*agreeing.get(at, ()), *(Edge(at, edge.end, payee) for edge in named.scan(units.words, at))]

        return Lattice(len(units.words), phrases, scan)

    def _names(self, names: tuple[str, ...]) -> Trie:
        """What the payee is called, as phrases; a name that is a word of an answer is told by more than itself."""
        trie = Trie()
        for units in (self._rules.units(name).words for name in names):
            if units and self._trie.longest(units, 0)[0] < len(units):
                trie.add(units, 0)
        return trie

    def _agreeing(self, units: Units, spans: tuple[Span, ...], context: Context) -> dict[int, list[Edge]]:
        """Edges of what was restated, where it is the same as what waits; of any value besides."""
        terms, found, symbols = context.terms, dict[int, list[Edge]](), self._symbols
        if terms == NO_TERMS:
            return found  # nothing waits that could be restated
        for span in spans:
            place = units.covering(span.start, span.end)
            whole = place is not None and units.ends[place[1] - 1] <= span.end  # of "fifty's fine" only a part is right
            name = _agrees(span, terms) if whole else ""
            if place is not None:
                found.setdefault(place[0], []).extend(Edge(*place, symbols[each]) for each in (_VALUE, name) if each)
        nouns = vocabulary(self._rules, context)
        for at in range(len(units.words)):
            for edge in nouns.trie.scan(units.words, at):
                noun = nouns.nouns[edge.symbol]
                says = (_VALUE, *_same(noun.kind, noun.id, terms)) if noun.id is not None else ()
                found.setdefault(at, []).extend(Edge(at, edge.end, symbols[each]) for each in says)
        return found


def _same_spans(spans: tuple[Span, ...], other: str) -> tuple[Span, ...]:
    """What another hypothesis says in the same words."""
    places = ((span, other.find(span.surface)) for span in spans)
    return tuple(replace(span, start=at, end=at + len(span.surface)) for span, at in places if at >= 0)


def _asks(text: str) -> bool:
    return any(mark in text for mark in _ASKED)


def _unfinished(text: str) -> bool:
    return text.rstrip().endswith(_UNFINISHED)


def _agrees(span: Span, terms: Terms) -> str:
    """The symbol of a span that says what the terms say, in every reading; empty for any other."""
    if span.kind in {SpanKind.MONEY, SpanKind.NUMBER} and terms.amount is not None:
        readings = amount_readings(span, exponent(terms.amount.currency)) if span.ambiguity is None else ()
        wanted = terms.amount
        same = [_is_amount(value, wanted.minor, wanted.currency) for value in readings]
        return "amount" if same and all(same) else ""
    if span.kind is SpanKind.DATE and terms.on is not None and span.ambiguity in _OF_ONE_DAY:
        return "day" if span.value == DateValue.day(terms.on) else ""
    return ""


def _is_amount(value: MoneyValue, minor: int, currency: str) -> bool:
    return value.amount_minor == minor and value.currency in {None, currency}


def _same(kind: str, id_: str, terms: Terms) -> Iterable[str]:
    wanted = {
        "account": (("source", terms.source), ("target", terms.target)),
        "card": (("card", terms.card),),
        "bill": (("bill", terms.bill),),
    }
    return (name for name, own in wanted[kind] if own == id_)


def _untrue(terms: Terms) -> Iterator[str]:
    """Lists of words that are not so of what waits: nobody agrees by them."""
    if not terms.today:
        yield from _NOW
    if terms.in_part:
        yield from _WHOLE
    if terms.in_part or not terms.more:
        yield _EVERY


@lru_cache(maxsize=8)
@uncollected()
def consent_grammar(spoken: str, rules: Grammar) -> ConsentGrammar:
    """The grammar of consent of a language, compiled once and kept. Raises RulesInvalid."""
    file = load(f"consent/{spoken}.yaml", ConsentFile)
    return ConsentGrammar(file, kept(f"consent-{spoken}", partial(compiled, file)), rules)
