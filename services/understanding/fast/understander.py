"""`Understander`: one utterance in, its meaning or an honest "not here" out. Pure, linear, well under a millisecond."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import Final

from rules.locales import locale_rules
from schemas.consent import ORDERS, Awaited
from schemas.ids import Locale, RuleId, language
from schemas.intent import (
    MONEY_MOVING,
    NO_SLOTS,
    READING,
    Annotation,
    Context,
    Intent,
    Route,
    Understood,
)
from schemas.payee import FindPayee
from schemas.span import SpanKind
from services.understanding.fast.asides.reasons import with_payee
from services.understanding.fast.asides.vetoes import goes_over, vetoes_met
from services.understanding.fast.clause_reader import ClauseReader
from services.understanding.fast.clauses.clauses import only, sentences
from services.understanding.fast.clauses.joining import told_both
from services.understanding.fast.clauses.joints import MAX_JOINTS, first_of, joints, on_the_same_day
from services.understanding.fast.clauses.segments import begins
from services.understanding.fast.consent.consent import ConsentGrammar, consent_grammar
from services.understanding.fast.fallback.asked import asked_how, conditional, of_its_account, of_its_bill
from services.understanding.fast.fallback.tails import STOPS as STOPS_BEHIND
from services.understanding.fast.fallback.tails import TAKEN, begins_behind, of_its_own, taken, told_before
from services.understanding.fast.fallback.unmatched import Unmatched
from services.understanding.fast.freeform.parts import as_source
from services.understanding.fast.matching.matching import Matching, MatchInput
from services.understanding.fast.matching.reasoned import corrected_twice, named_behind, reasoned
from services.understanding.fast.matching.remainder import of_the_bill
from services.understanding.fast.patterns.units import MAX_CHARS
from services.understanding.fast.ruleset.confidence import confidence
from services.understanding.fast.ruleset.grammar import Grammar, grammar
from services.understanding.fast.ruleset.leads import Lead, wanted
from services.understanding.fast.ruleset.meanings import CARDS, apart, joined, mixed
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.reading import read
from services.understanding.fast.words.vocabulary import owned

MAX_UNITS: Final = 80
"""Longer utterances are no commands; they go to extraction or retrieval."""
MAX_COMMANDS: Final = 3
"""So many commands may be said in one breath, in so many pieces as are joined at most;"""
_MAX_LEADS: Final = 8
"""and so many words may lead up to them, for the same reason."""
_PARTING: Final = RuleId("intents.parting@1")


class Understander:
    """The compiled grammar of one locale."""

    def __init__(self, rules: Grammar, consent: ConsentGrammar, currency: str) -> None:
        self._grammar = rules
        self._consent = consent
        self._matching = Matching(rules, currency)
        self._clauses = ClauseReader(rules, self._matching)
        self._unmatched = Unmatched(rules, consent, currency)

    @classmethod
    def for_locale(cls, locale: Locale) -> "Understander":
        """The understander of a locale, compiled once a process. Raises RulesInvalid, UnsupportedLocale."""
        return _for_locale(locale)

    def understand(self, heard: Annotation, context: Context, find_payee: FindPayee | None = None) -> Understood:
        """What `heard` means in `context`; never raises on any text.

        `find_payee` is asked about a name that the grammar sees and the payee search over the whole words did not.
        """
        reading, enabled = read(self._grammar, heard, context), self._matching.enabled(context)
        hearing = MatchInput(self._grammar, heard, context, reading, find_payee, enabled)
        size = len(reading.words)
        if size == 0:
            return Understood(None, payees=heard.payees)
        if len(heard.transcript.text) > MAX_CHARS or size > MAX_UNITS * (1 if self._grammar.spaced else 2):
            return self._unmatched.meaning(replace(hearing, find_payee=None), ())
        if (act := self._parting(hearing) or self._answered(heard, context)) is not None:
            return act
        found, vetoes = self._matching.within(hearing, 0, size)
        if found is None or (found.route is Route.CLARIFY and self._grammar.spaced):
            many = self._many(hearing)
            found = mixed(many, context) if found is None or (many and many.route is Route.FAST) else found
        elif found.intent in CARDS and found.slots.card is None:
            found = mixed(found, context)
        if found is None:
            found = self._behind(hearing) or self._asked_last(hearing)
        found = named_behind(hearing, found, partial(self._after_clauses, hearing))
        if found is None or conditional(hearing, found):
            meant = self._unmatched.meaning(hearing, vetoes)
            return replace(meant, begun=found is None and self._matching.begun(hearing))
        if found.intent is Intent.CORRECT and not (found.slots != NO_SLOTS or found.unresolved or found.rejected):
            found = replace(found, intent=Intent.DENY)  # something else is wanted, and what was not said
        found = with_payee(hearing, as_source(hearing, of_its_own(hearing, found)))
        found = of_its_bill(hearing, on_the_same_day(hearing, found))
        found = of_its_account(hearing, found)
        found = of_the_bill(found) if context.terms.awaited is Awaited.BILL else found
        return self._refused_for(hearing, asked_how(hearing, found))

    def _refused_for(self, hearing: Hearing, found: Understood) -> Understood:
        """What is only looked up, behind a no to an order that waits: a refusal, and that besides."""
        reading = hearing.reading
        if hearing.context.terms.awaited not in ORDERS or found.intent not in READING or found.then is not None:
            return found
        undone = any(self._grammar.cues.undoing.begins(reading.words, at) for at in (0, 1))
        if not undone or not self._consent.objects(reading.units):
            return found
        return Understood(Intent.DENY, route=Route.FAST, confidence=found.confidence, then=found)

    def _parting(self, hearing: Hearing) -> Understood | None:
        """A goodbye where nothing is awaited, and the wish for a moment anywhere."""
        phrases, words = self._grammar.phrases, hearing.reading.words
        if hearing.context.idle and only(phrases.closings, phrases.asides_unasked, words):
            wish = Intent.FAREWELL
        elif only(phrases.holds, phrases.asides, words):
            wish = Intent.WAIT
        else:
            return None
        return Understood(wish, route=Route.FAST, confidence=1.0, rule=_PARTING, payees=hearing.heard.payees)

    def _answered(self, heard: Annotation, context: Context) -> Understood | None:
        """An answer that is nothing else, in all of its words."""
        answer = self._consent.answer(heard, context)
        if answer is None:
            return None
        told = self._consent.disagreeing(heard, context) if answer.consent is not None else heard
        sure = confidence(self._grammar.confidence, "exact", told, None) if not answer.doubted else 0.0
        meant = Understood(answer.intent, route=Route.FAST, confidence=sure, rule=answer.rule, payees=heard.payees)
        return replace(meant, consent=answer.consent)

    def _many(self, hearing: MatchInput) -> Understood | None:
        """What is no one sentence: clauses that were all read, else several commands, else what was read of it."""
        found, whole = self._clauses.meaning(hearing, 0) if self._grammar.phrases.asides else (None, False)
        if found is not None and whole:
            return found
        joined = replace(hearing, enabled=self._matching.enabled(hearing.context, joined=True))
        many = self._several(joined, 0, MAX_COMMANDS) or self._instead(joined)
        many = many or self._led(joined) or self._after_clauses(joined)
        return many or found or reasoned(joined, partial(self._before, joined))

    def _before(self, hearing: MatchInput, end: int, start: int = 0) -> Understood | None:
        """What the units from `start` up to `end` say."""
        found = self._matching.within(hearing, start, end)[0]
        return found if found is not None or start else self._after_clauses(hearing, end)

    def _instead(self, hearing: MatchInput) -> Understood | None:
        """That what waits is dropped, and right behind it what is wanted instead: 「やめて残高教えて」."""
        units, size, context = hearing.reading.units, len(hearing.reading.words), hearing.context
        if self._grammar.spaced or context.terms.awaited not in ORDERS:
            return None
        for at in self._consent.refusals(units)[:_MAX_LEADS]:
            if self._consent.part(hearing.text[: units.ends[at - 1]], context) is not Intent.CANCEL:
                continue
            found = self._matching.within(hearing, at, size)[0]
            bare = found is not None and found.intent in MONEY_MOVING and found.slots == NO_SLOTS
            if bare:  # 「もういいよ払って」 may be to go on
                return None
            if found is not None and found.route is Route.FAST and found.intent in READING | MONEY_MOVING:
                return Understood(Intent.CANCEL, route=Route.FAST, confidence=found.confidence, then=found)
        return None

    def _led(self, hearing: MatchInput) -> Understood | None:
        """What comes after an answer's word is what was said; a yes before it agrees to nothing."""
        size, units, spans = len(hearing.reading.words), hearing.reading.units, hearing.heard.spans
        for at in self._consent.begins(units)[:_MAX_LEADS]:
            if goes_over(hearing, at) or any(s.kind is SpanKind.MONEY and s.end <= units.ends[at - 1] for s in spans):
                continue
            found = self._matching.within(hearing, at, size)[0] or self._several(hearing, at, MAX_COMMANDS)
            if found is None and self._grammar.phrases.asides:
                found, _ = self._clauses.meaning(hearing, at)
            if found is None:
                continue
            anew = found.intent in MONEY_MOVING and hearing.context.terms.awaited in ORDERS
            if anew and not self._consent.objects(units):  # the order that waits is not lost for the new one
                return Understood(Intent.CONFIRM, route=Route.FAST, confidence=found.confidence, then=found)
            return found
        return None

    def _after_clauses(self, hearing: MatchInput, end: int = 0) -> Understood | None:
        """What clauses lead up to that are no commands, or before it what they ask for; up to `end` if given."""
        leads, reading, heard = self._grammar.leads, hearing.reading, hearing.heard
        size = end or len(reading.words)
        after = replace(hearing, enabled=self._matching.enabled(hearing.context, further=True))
        for at in leads.ends(heard.transcript.text, reading.units, reading.taken) if leads is not None else ():
            if at >= size:
                return None
            found = self._matching.within(after, at, size)[0] or (
                self._several(hearing, at, MAX_COMMANDS) if not end else None
            )
            if found is None or leads is None:
                continue
            if (before := wanted(self._matching.within(hearing, 0, at)[0])) is not None:
                return joined(before, found)
            if (twice := corrected_twice(hearing, at, found, partial(self._before, hearing))) is not None:
                return twice
            named = owned(hearing.nouns, reading.words, at)
            lead = Lead(at, frozenset(vetoes_met(hearing, 0, at)), named, self._grammar.cues)
            led = leads.led_to(found, lead, heard, reading.units, hearing.find_payee)
            return self._ordered_first(hearing, at, led) if led is not None else None
        return None

    def _ordered_first(self, hearing: MatchInput, end: int, led: Understood) -> Understood:
        """With the order before talk that leads up to it: 「妹に一万円送って、水道は済んでるから電気払って」."""
        leads, reading = self._grammar.leads, hearing.reading
        ends = leads.ends(hearing.text, reading.units, reading.taken) if leads is not None else []
        for at in ends if led.intent in MONEY_MOVING else ():
            one = self._matching.within(hearing, 0, at)[0] if at < end else None
            if one is None or one.intent not in MONEY_MOVING or one.route is not Route.FAST or one.missing:
                continue
            cut = reading.units.starts[at]
            one = replace(one, unresolved=tuple(m for m in one.unresolved if m.evidence.start < cut))
            last = replace(led, unread=tuple(e for e in led.unread if e.start >= cut))
            things = [slot.evidence.surface[:2] for slot in (one.slots.payee, one.slots.bill) if slot is not None]
            again = any(each in hearing.text[cut:] for each in things)  # it is taken back: 「花子には昨日渡したから」
            return (one.whole and last.whole and not (last.missing or again) and joined(one, last)) or led
        return led

    def _behind(self, hearing: MatchInput) -> Understood | None:
        """What does nothing and is asked for in the last words, where the language says so last and nothing waits."""
        context, reading = hearing.context, hearing.reading
        if not context.idle or self._grammar.endings is None:
            return None
        rules, size = self._grammar, len(reading.words)
        alarms = [edge for edges in reading.phrases(rules.phrases.alarms) for edge in edges]
        begins = tuple(at for at in begins_behind(hearing) if not any(edge.start < at < edge.end for edge in alarms))
        if not begins:
            return None
        sets = rules.automaton.run(reading.lattice, begins[0], size, rules.automaton.first, begins)
        ends = (i for i in rules.automaton.accepted(sets[size]) if i in hearing.enabled)
        if not any(rules.templates[i].intent in TAKEN for i in ends):
            return None
        for at in begins:
            cut = reading.units.starts[at]
            if vetoes_met(hearing, at - 1, at + 1) & STOPS_BEHIND or vetoes_met(hearing, 0, at) & STOPS_BEHIND:
                return None
            if taken(found := self._matching.within(hearing, at, size)[0]) and found is not None:
                return told_before(hearing, found, cut)
        return None

    def _asked_last(self, hearing: MatchInput) -> Understood | None:
        """What does nothing and is asked for behind words of no rule: "before I pay my bills can you check my …"."""
        rules, reading, size = self._grammar, hearing.reading, len(hearing.reading.words)
        if not hearing.context.idle or not rules.spaced:
            return None
        first = min(reading.taken, default=size)
        starts = {start for start, _ in sentences(hearing)} - {0}
        for at in range(min(first, size - 1), 0, -1):
            if at not in starts and not begins(hearing, at):
                continue
            found = self._matching.within(hearing, at, size)[0]
            if found is None or (found.intent in READING and owned(hearing.nouns, reading.words, at)):
                continue  # of an account that is named before it
            if (found.intent in READING and found.route is Route.FAST) or found.route is Route.HUMAN:
                return found
        return None

    def _part(self, hearing: MatchInput, start: int, end: int) -> Understood | None:
        """A part of what was said in one breath: something to be done, or an answer that is no yes."""
        found, _ = self._matching.within(hearing, start, end)
        if found is not None:
            return found if found.route is not Route.CLARIFY else None
        units = hearing.reading.units
        text = hearing.text[units.starts[start] : units.ends[end - 1]]
        act = self._consent.part(text, hearing.context)
        if act is Intent.CANCEL and (led := self._after_clauses(hearing, end)) and led.slots.card:
            return led  # 「知らん請求来てるから止めて」 is said of a card
        return Understood(act, route=Route.FAST, confidence=1.0) if act in {Intent.CANCEL, Intent.DENY} else None

    def _several(self, hearing: MatchInput, start: int, left: int) -> Understood | None:
        """Commands said in one breath from unit `start` on, at most `left`, each keeping the next.

        One of two may lack its verb: "send fifty to ann and twenty to bob".
        """
        size = len(hearing.reading.words)
        if len(cuts := joints(hearing, start)) > MAX_JOINTS:
            return first_of(hearing, start, self._part)
        for at, stop in cuts:
            one = self._part(hearing, start, at)
            if one is None:
                continue
            two = self._part(hearing, stop, size)
            if two is None:  # the rest is two or more
                more = left > 2  # noqa: PLR2004
                two = self._several(hearing, stop, left - 1) if more else first_of(hearing, stop, self._part)
            if two is not None and apart(one, two, led=left < MAX_COMMANDS):
                return told_both(one, two) or joined(one, two)
        return None


@lru_cache(maxsize=8)
def _for_locale(locale: Locale) -> Understander:
    rules = grammar(language(locale))
    consents = consent_grammar(language(locale), rules)
    return Understander(rules, consents, locale_rules(locale).currency)
