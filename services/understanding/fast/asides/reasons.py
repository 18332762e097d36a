"""Clauses that tell why, or what is owed or spoken of: what they hold of an order, and that they hold nothing of one.

A reason is left out only where it is of a subject's own and has no part of an order in it.
"""

import re
from dataclasses import dataclass, replace
from typing import Final

from schemas.ids import BillId, PayeeId, RuleId
from schemas.intent import Evidence, Intent, Slot, SlotName, Understood
from schemas.payee import MatchOutcome, PayeeMatch
from schemas.span import NUMBERS, Span, SpanKind
from services.understanding.fast.patterns.lattice import Edge
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.other_days import elapsed

RULE: Final = RuleId("intents.loose@1")
NO_REASON: Final = frozenset({"question", "negation", "conditional", "reported", "recurring", "trouble"})
"""Vetoes with which a clause is no mere reason."""
PARTS: Final = frozenset({SpanKind.MONEY, SpanKind.DATE, SpanKind.TIME, SpanKind.PERCENT})
_OWNS: Final = re.compile(r"['’]s$")
VERBS: Final = ("transfer", "carry", "give", "sends")
ORDERING: Final = (*VERBS, "pay", "puts")
"""What an order begins with."""
MOST: Final = 14
"""Units of a reason, at most."""
_MOST_NAMES: Final = 6
_BARE: Final = 2
"""Words of someone who is called but what they are to the caller, at most."""
EXACT: Final = 0.98
_FAR: Final = 0.1


@dataclass(frozen=True, slots=True)
class ClauseSpan(Hearing):
    """Units `start` … `end` of an utterance."""

    start: int
    end: int

    @classmethod
    def within(cls, hearing: Hearing, start: int, end: int) -> "ClauseSpan":
        """Those units of what was heard."""
        return cls(hearing.grammar, hearing.heard, hearing.context, hearing.reading, hearing.find_payee, start, end)

    @classmethod
    def whole(cls, hearing: Hearing) -> "ClauseSpan":
        """All of them."""
        return cls.within(hearing, 0, len(hearing.reading.words))

    @property
    def places(self) -> range:
        """The units."""
        return range(self.start, self.end)

    @property
    def words(self) -> tuple[str, ...]:
        """Their words."""
        return self.reading.words[self.start : self.end]

    @property
    def points(self) -> tuple[int, int]:
        """Where they begin and end in the transcript."""
        return self.reading.units.starts[self.start], self.reading.units.ends[self.end - 1]

    @property
    def subject(self) -> bool:
        """Whether they begin with a subject: a word for one, or the one who was named."""
        return self.words[0] in self.grammar.words.subjects or self.named

    @property
    def named(self) -> bool:
        """Whether they begin with the one who was named."""
        return _named(self, self.start)

    def acts(self) -> bool:
        """Whether there is a verb of sending among them."""
        return acts(self, self.start, self.end)


def reason(clause: ClauseSpan) -> bool:
    """Whether a clause only tells why: of a subject's own, and with no part of an order in it."""
    grammar, reading, said = clause.grammar, clause.reading, clause.words
    if not said or not clause.subject or not any(w in grammar.words.finite or w.endswith("ed") for w in said):
        return False
    begin, stop = clause.points
    if another_named(clause) or (said[0] in grammar.words.callers and not grammar.words.settling.isdisjoint(said)):
        return False  # "that is, bob", "i paid him"
    within = [span for span in clause.heard.spans if span.start < stop and begin < span.end]
    if any((span.kind in PARTS and not _elapsed(clause, span)) or by_itself(clause, span) for span in within):
        return False  # "that was meant to be sixteen"
    repairs = reading.phrases(grammar.cues.repairs)
    if any(repairs[at] for at in range(clause.end) if at not in reading.taken):
        return False  # "no, it's maria"
    if any(reading.phrases(grammar.phrases.objecting)[at] for at in clause.places):
        return False  # "I've changed my mind"
    parts = any(tells(clause, at) for at in clause.places if not _favoured(clause, at))
    return 1 < len(said) <= MOST and not parts and not clause.acts()


def _elapsed(clause: ClauseSpan, span: Span) -> bool:
    """Whether a span is a day that was: "he got lunch yesterday"."""
    place = clause.reading.units.covering(span.start, span.end)
    return span.kind is SpanKind.DATE and place is not None and elapsed(clause, *place)


def _favoured(clause: ClauseSpan, at: int) -> bool:
    """Whether it is the caller for whom another did something: "she bought me a coffee"."""
    words, classes = clause.reading.words, clause.grammar.words
    mine = words[at] in classes.mine and clause.words[0] not in classes.callers
    return mine and at > clause.start and words[at - 1] in classes.favours


def by_itself(clause: ClauseSpan, span: Span) -> bool:
    """Whether a number counts nothing that is named behind it: it may be an amount."""
    text = clause.text
    return span.kind in NUMBERS and not text[span.end :].lstrip()[:1].isalpha()


def another_named(clause: ClauseSpan) -> bool:
    """Whether a payee is named that the search over all the words did not find."""
    grammar, reading, find = clause.grammar, clause.reading, clause.find_payee
    match, units, words = clause.heard.payees, reading.units, reading.words
    if match is None or find is None:
        return False
    free = [at for at in clause.places if at not in reading.taken and words[at].isalpha()]
    free = [at for at in free if not grammar.phrases.not_names.begins((words[at],), 0)]
    bare = len(clause.words) <= _BARE and kin(clause, clause.end - 1)  # "my landlord", and nothing else
    names = [at for at in free if bare or not grammar.trie.begins(words, at)][:_MOST_NAMES]
    found = (find(clause.text[units.starts[at] : units.ends[at]]) for at in names)
    return any(one is not None and one.choice is not None and one.choice != match.choice for one in found)


def own_bill(hearing: Hearing, start: int, end: int) -> tuple[Edge, BillId] | None:
    """The one bill of the caller's own that units `start` … `end` name, and no account beside it."""
    grammar, reading = hearing.grammar, hearing.reading
    words, nouns, own = reading.words, hearing.nouns, grammar.symbols.get("own")
    rows = reading.phrases(nouns.trie)
    named = [(e, nouns.nouns[e.symbol]) for at in range(start, end) for e in rows[at] if e.end <= end]
    bills = {noun.id for _, noun in named if noun.kind == "bill" and noun.id is not None}
    if len(bills) != 1 or any(noun.kind == "account" and noun.id is not None for _, noun in named):
        return None
    edge, noun = max(((e, n) for e, n in named if n.id in bills), key=lambda each: each[0].end - each[0].start)
    before = edge.start - 1
    if not grammar.spaced:  # whose it is goes without saying, unless a word says otherwise
        return edge, BillId(str(noun.id))
    mine = before >= start and any(e.symbol == own and e.end == edge.start for e in reading.lattice.edges(before))
    return (edge, BillId(str(noun.id))) if mine and words[before] not in grammar.words.others else None


def bill_slot(hearing: Hearing, edge: Edge, bill: BillId, rule: RuleId) -> Slot[BillId]:
    """The bill, as it was named."""
    return Slot(bill, hearing.said(edge.start, edge.end, rule))


def tells(clause: ClauseSpan, at: int) -> bool:
    """Whether a part of an order, or a word that turns one around, begins at unit `at`."""
    return bool(clause.reading.phrases(clause.grammar.phrases.twists)[at]) or names_a_part(clause, at)


def names_a_part(clause: ClauseSpan, at: int) -> bool:
    """Whether an account, a bill, a card or a time is named at unit `at`."""
    grammar, reading = clause.grammar, clause.reading
    rules, nouns, word = grammar.cues, clause.nouns, reading.words[at]
    if reading.phrases(rules.places)[at]:
        return True
    if any(nouns.nouns[edge.symbol].id is not None for edge in reading.phrases(nouns.trie)[at]):
        return True
    timed = (word,) in rules.before or bool(reading.phrases(rules.times)[at])
    return timed and word not in grammar.words.passing


def acts(hearing: Hearing, start: int, end: int, names: tuple[str, ...] = VERBS) -> bool:
    """Whether there is a verb of sending."""
    verbs = hearing.grammar.named(names)
    return any(edge.end <= end for edge in hearing.reading.lattice.of(verbs, start, end))


def named(hearing: Hearing) -> PayeeMatch | None:
    """The one who is named clearly: as the search over all the words found, else by a name alone."""
    if hearing.heard.payees is not None or hearing.find_payee is None:
        return clearly_named(hearing)
    grammar, reading = hearing.grammar, hearing.reading
    units, text = reading.units, hearing.text
    free = [at for at, word in enumerate(reading.words) if at not in reading.taken and word.isalpha()]
    free = [at for at in free if not grammar.phrases.not_names.begins((reading.words[at],), 0)]
    unknown = [at for at in free if not grammar.trie.begins(reading.words, at)]
    family = [at for at in free if kin(hearing, at)]
    for at in (*unknown[:_MOST_NAMES], *family[:_MOST_NAMES]):
        found = hearing.find_payee(_OWNS.sub("", text[units.starts[at] : units.ends[at]]))
        if found is not None and found.choice is not None:
            return replace(found, start=units.starts[at], end=units.ends[at])
    return None


def clearly_named(hearing: Hearing) -> PayeeMatch | None:
    """The one whom the search over all the words found clearly."""
    match = hearing.heard.payees
    alone = _alone(match) if match is not None else None
    return replace(match, outcome=MatchOutcome.CLEAR, choice=alone) if match is not None and alone is not None else None


def kin(hearing: Hearing, at: int) -> bool:
    """Whether a word tells who someone is to the caller: "mom's"."""
    symbol = hearing.grammar.symbols.get("family")
    return bool(hearing.reading.lattice.of({symbol}, at, at + 1))


def with_payee(hearing: Hearing, found: Understood) -> Understood:
    """`found` with the one who was named in the reason for it, where the order itself says "him" or "her"."""
    if found.intent is not Intent.TRANSFER_MONEY or SlotName.PAYEE not in found.missing:
        return found
    if any(mention.slot is not SlotName.DATE for mention in found.unresolved):
        return found
    if not hearing.grammar.words.them.intersection(hearing.reading.words):
        return found
    match, then = named(hearing), found.then
    if match is None or match.choice is None:
        return found
    if then is not None and then.slots.payee is not None and then.slots.payee.value == match.choice:
        return found  # of the order behind it: "send her two hundred, and forty eight to the cleaner"
    evidence = Evidence.naming(match, RULE)
    given = replace(found.slots, payee=Slot(PayeeId(match.choice), evidence))
    missing = tuple(slot for slot in found.missing if slot is not SlotName.PAYEE)
    return replace(found, slots=given, missing=missing, payees=match)


def _named(hearing: Hearing, at: int) -> bool:
    match = hearing.heard.payees
    return match is not None and _alone(match) is not None and match.start == hearing.reading.units.starts[at]


def _alone(match: PayeeMatch) -> PayeeId | None:
    """Who was chosen; else the one who is called just so, where nobody else comes near: "Emily wants fifty"."""
    if match.choice is not None or match.outcome is not MatchOutcome.ASK or not match.candidates:
        return match.choice
    best, *others = match.candidates
    sole = match.plausible <= 1 and best.score >= EXACT and all(each.score < _FAR for each in others)
    return best.id if sole else None
