"""Which template takes a range of units, and what it makes of them: the one best meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from schemas.consent import Awaited
from schemas.ids import RuleId
from schemas.intent import Context, Intent, Route, SlotName, Understood
from services.understanding.fast.asides.vetoes import vetoes_met
from services.understanding.fast.matching.occasions import NEARNESS, applies
from services.understanding.fast.matching.remainder import missing, owned_bill, unresolved
from services.understanding.fast.patterns.automaton import Capture
from services.understanding.fast.ruleset.confidence import confidence
from services.understanding.fast.ruleset.grammar import RANK, Grammar, Template
from services.understanding.fast.ruleset.lexicon import OTHER
from services.understanding.fast.ruleset.meanings import Rank, choose
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.left import settled
from services.understanding.fast.words.reading import UtteranceLattice
from services.understanding.fast.words.slots import Filling

_VERBAL: Final = frozenset({"refusal", "whether", "musing"})
"""The vetoes on what is itself denied, asked about or mused upon: no ending that it is read with takes them away."""


@dataclass(frozen=True, slots=True)
class MatchInput(Hearing):
    """An utterance and the templates that count in its context."""

    enabled: frozenset[int]


def _preference(template: Template) -> tuple[int, int]:
    """The rank of a template's meanings but for names not found."""
    return RANK[template.rule_class], NEARNESS[template.when]


class Matching:
    """One locale's templates."""

    def __init__(self, rules: Grammar, currency: str) -> None:
        self._grammar = rules
        self._currency = currency
        self._enabled: dict[tuple[SlotName | Intent | Awaited | bool | None, ...], frozenset[int]] = {}

    def enabled(self, context: Context, *, joined: bool = False, further: bool = False) -> frozenset[int]:
        """The templates that count in a context, behind another command or in a further clause."""
        awaited, asked = context.terms.awaited, (context.asked, context.confirming, context.code)
        billing = awaited is Awaited.BILL or context.terms.to == Intent.BILL_PAYMENT.value
        own = context.terms.target is not None
        key = (*asked, any(context.offered), context.recent, joined, further, awaited, billing, own)
        made = self._enabled.get(key)
        if made is None:
            chosen = partial(applies, context=context, joined=joined, further=further)
            made = self._enabled[key] = frozenset(i for i, t in enumerate(self._grammar.templates) if chosen(t))
        return made

    def within(self, hearing: MatchInput, start: int, end: int) -> tuple[Understood | None, tuple[RuleId, ...]]:
        """The one best meaning of units `start` … `end`, and the vetoes met on the way."""
        rules, lattice = self._grammar, hearing.reading.lattice
        sets = self._sets(hearing.reading, start)
        accepted = [i for i in rules.automaton.accepted(sets[end]) if i in hearing.enabled]
        if not accepted:
            return None, ()
        stopped = vetoes_met(hearing, start, end)
        vetoes = tuple(RuleId(f"veto.{name}") for name in sorted(stopped))
        made: list[tuple[Rank, Understood]] = []
        order = {index: _preference(rules.templates[index]) for index in accepted}
        for index in sorted(accepted, key=order.__getitem__):
            template = rules.templates[index]
            if made and made[0][0][:2] < order[index]:
                break  # what others make of it is worth less, whatever that is
            if template.vetoes & stopped and (rules.spaced or not _VERBAL.isdisjoint(stopped)):
                continue
            captures = rules.automaton.trace(lattice, sets, index, end)
            if template.vetoes & stopped and template.vetoes & vetoes_met(hearing, start, end, self._read(captures)):
                continue
            filling = Filling(hearing.text, hearing.reading, template.rule, self._currency, rules.cues)
            filling.take(captures)
            if filling.twice:
                vetoes += tuple(RuleId(f"veto.two_{slot}") for slot in sorted(filling.twice))
                continue
            filling.give(template.give)
            if hearing.find_payee is not None:
                filling.name_payee(hearing.find_payee)
            meaning = self._understood(hearing, template, filling)
            made.append(((*order[index], len(meaning.unresolved)), meaning))
        return choose(made, rules.confidence.precedence), vetoes

    def begun(self, hearing: MatchInput) -> bool:
        """Whether sentences that count begin with all units."""
        sets = self._sets(hearing.reading, 0)
        return not hearing.enabled.isdisjoint(self._grammar.automaton.reached(sets[len(hearing.reading.words)]))

    def _sets(self, reading: UtteranceLattice, start: int) -> list[int]:
        """The automaton's state sets from unit `start` on: the same in every context, and wherever a part ends."""
        sets = reading.runs.get(start)
        if sets is None:
            automaton, size = self._grammar.automaton, len(reading.words)
            sets = reading.runs[start] = automaton.run(reading.lattice, start, size, automaton.first)
        return sets

    def _read(self, captures: Sequence[Capture]) -> frozenset[int]:
        """The units that belong to a word of the grammar: where words have no spaces, a veto within one is none."""
        other = self._grammar.symbols[OTHER]
        return frozenset(
            at for capture in captures if (edge := capture.edge).symbol != other for at in range(edge.start, edge.end)
        )

    def _understood(self, hearing: MatchInput, template: Template, filling: Filling) -> Understood:
        slots = filling.slots()
        sure = confidence(self._grammar.confidence, template.rule_class, hearing.heard, filling.payees)
        found = Understood(
            intent=template.intent,
            slots=slots,
            missing=missing(template.wants, slots),
            route=template.route or self._route(template.intent, sure),
            confidence=sure,
            rule=template.rule,
            payees=filling.payees,
            unresolved=unresolved(filling.mentions, slots),
            rejected=tuple(SlotName(name) for name in template.rejects),
        )
        found = owned_bill(hearing, found)
        return settled(hearing, found, filling.left())

    def _route(self, intent: Intent, sure: float) -> Route:
        if intent is Intent.HUMAN_HANDOFF:
            return Route.HUMAN
        if intent is Intent.QNA:
            return Route.QNA
        if sure >= self._grammar.confidence.act:
            return Route.FAST
        return Route.CLARIFY if sure >= self._grammar.confidence.ask else Route.EXTRACT
