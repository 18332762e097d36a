"""What was told in words that no sentence of ours takes: an amount, a payee, an own account, by themselves.

Asked for one, or with an order read back, callers say it in any words; what else they said can't turn it around, for
words that would (a no to it, a question, a condition) are looked for first.
"""

from collections.abc import Iterator
from typing import Any, Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Annotation, Context, Evidence, Intent, Mention, Route, Slot, SlotName, Slots, Understood
from schemas.payee import MatchOutcome
from schemas.span import Ambiguity, DateValue, MoneyValue, Span, SpanKind
from services.understanding.fast.patterns.lattice import Edge
from services.understanding.fast.ruleset.cue_phrases import DENIAL, DENIED
from services.understanding.fast.words.hearing import Hearing
from services.understanding.fast.words.left import unknown
from services.understanding.fast.words.reading import UtteranceLattice
from services.understanding.fast.words.slots import money_of

RULE: Final = RuleId("intents.told@1")
STOPS: Final = frozenset({"question", "negation", "conditional", "reported", "recurring", "thing"})
"""Vetoes with which nothing is taken from the words around them."""
_SURE: Final = 0.8
_MOST_NAMES: Final = 6
"""Words that are looked up as names, at most."""
_ALIKE: Final = 0.9975
"""How well a name has to fit that is in kana, and the whole answer."""
_NOT_MEANT: Final = frozenset({DENIAL, DENIED})
"""Words beside what is not meant: 「会社の花子じゃなくて」."""
_NEAR: Final = 4
"""Units between a word that tells an account's part and its name."""


def told(hearing: Hearing, currency: str, *, bare: bool = False) -> Slots:
    """The slots that are told: each only where exactly one value for it was said; none where it is by how much.

    For what is but offered a `bare` number may be the amount.
    """
    grammar, confirming = hearing.grammar, hearing.context.confirming
    relative = confirming and any(hearing.reading.phrases(grammar.phrases.relative))
    if relative or (confirming and not grammar.spaced and _taken_back(hearing)):
        return Slots()
    values: dict[str, Slot[Any]] = {}
    amounts = {slot.value: slot for slot in _amounts(hearing, currency, bare=bare)}
    if len(amounts) == 1:
        values["amount"] = next(iter(amounts.values()))
    if (payee := _named(hearing)) is not None:
        values["payee"] = payee
    for name in ("source", "target"):
        named = {slot.value: slot for part, slot in _accounts(hearing) if part == name}
        if len(named) == 1:
            values[name] = next(iter(named.values()))
    days = [span for span in hearing.heard.spans if span.kind is SpanKind.DATE and isinstance(span.value, DateValue)]
    if len(days) == 1 and values:
        day = Evidence(days[0].start, days[0].end, _surface(hearing, days[0]), days[0].rule)
        values["date"] = Slot(days[0].value, day)
    if "payee" in values and not bare:  # what is offered may hold both: it is asked which is meant
        values.pop("target", None)
    return Slots(**values)


def _taken_back(hearing: Hearing) -> bool:
    """Whether a word behind all that is named takes it back: 「五万……いや、でもなあ」."""
    reading = hearing.reading
    undoing = reading.phrases(hearing.grammar.cues.undoing)
    return any(undoing[max(reading.taken, default=len(reading.words)) + 1 :])


def _named(hearing: Hearing) -> Slot[PayeeId] | None:
    """Who was named: clearly, or, where a payee may be expected, by one payee's name letter by letter."""
    context, match, find = hearing.context, hearing.heard.payees, hearing.find_payee
    if match is not None and match.outcome is MatchOutcome.CLEAR and match.choice is not None:
        return Slot(PayeeId(match.choice), Evidence.naming(match, RULE))
    if match is None and find is not None and not hearing.grammar.spaced:
        return _in_kana(hearing) if context.asked in {SlotName.PAYEE, SlotName.AMOUNT} else None
    if find is None or not (context.confirming or context.asked is SlotName.PAYEE):
        return None
    found: dict[str, Slot[PayeeId]] = {}
    units, text = hearing.reading.units, hearing.text
    for at in [at for at, word in enumerate(hearing.reading.words) if _may_name(hearing, at, word)][:_MOST_NAMES]:
        start, end = units.starts[at], units.ends[at]
        named = find(text[start:end])
        best = named.candidates[0] if named is not None and named.candidates else None
        if named is not None and best is not None and named.choice and _spelled(text[start:end], best.display_name):
            begin = found[named.choice].evidence.start if named.choice in found else start
            found[named.choice] = Slot(PayeeId(named.choice), Evidence(begin, end, text[begin:end], RULE))
    return next(iter(found.values())) if len(found) == 1 else None


def _in_kana(hearing: Hearing) -> Slot[PayeeId] | None:
    """Who is named by kana that are the whole answer: 「さいとうのほう」."""
    said = hearing.grammar.patterns.names.name_alone.fullmatch(hearing.text)
    find = hearing.find_payee
    named = find(said["name"]) if said is not None and find is not None else None
    if said is None or named is None or named.choice is None or named.candidates[0].score < _ALIKE:
        return None
    return Slot(PayeeId(named.choice), Evidence(0, said.end("name"), said["name"], RULE))


def _may_name(hearing: Hearing, at: int, word: str) -> bool:
    not_names = hearing.grammar.phrases.not_names
    return at not in hearing.reading.taken and word.isalpha() and not not_names.begins((word,), 0)


def _spelled(word: str, name: str) -> bool:
    return word.casefold().removesuffix("'s").removesuffix("’s") in name.casefold().split()


def answer(heard: Annotation, context: Context, slots: Slots) -> Understood | None:
    """What was told as an answer to what was asked, or as a correction of what waits."""
    mention: tuple[Mention, ...] = ()
    match = heard.payees
    if context.asked is SlotName.PAYEE and slots.payee is None and match is not None and match.candidates:
        evidence = Evidence.naming(match, RULE)
        mention = (Mention(SlotName.PAYEE, evidence),) if match.outcome is not MatchOutcome.NOBODY else ()
    if slots == Slots() and not mention:
        return None
    intent = Intent.INFORM if context.asked is not None else Intent.CORRECT
    return Understood(intent, slots, route=Route.FAST, confidence=_SURE, rule=RULE, payees=match, unresolved=mention)


def against(hearing: Hearing) -> bool:
    """Whether words that nobody understood object to what waits, or name a payee or an amount that is not its own."""
    grammar = hearing.grammar
    tries = (grammar.phrases.objecting, grammar.phrases.relative)
    if any(any(hearing.reading.phrases(trie)) for trie in tries):
        return True
    if not grammar.spaced and any(
        e.symbol in _NOT_MEANT for row in hearing.reading.phrases(grammar.cues.repairs) for e in row
    ):
        return True
    match, terms = hearing.heard.payees, hearing.context.terms
    clear = match is not None and match.outcome is MatchOutcome.CLEAR
    chosen = next((c for c in match.candidates if c.id == match.choice), None) if match is not None and clear else None
    if chosen is not None and chosen.display_name not in terms.names:
        return True
    if match is not None and match.outcome is MatchOutcome.ASK and not grammar.spaced:  # 健は健でも斉藤のほう
        return any(c.display_name not in terms.names for c in match.candidates[: match.plausible])
    values = [v for span in hearing.heard.spans if span.kind is SpanKind.MONEY for v in span.values]
    return terms.amount is not None and any(
        isinstance(v, MoneyValue) and v.amount_minor != terms.amount.minor for v in values
    )


def _of_time(hearing: Hearing, span: Span) -> bool:
    """Whether it counts days, or other times, or things: "three days", もう一つ."""
    words, marks = hearing.reading.words, hearing.grammar.cues
    place = hearing.reading.units.covering(span.start, span.end)
    if place is None or place[1] == len(words) or words[place[1]] in marks.purposes:  # "fifty on her birthday"
        return False
    return any(trie.begins(words, place[1]) for trie in (marks.times, marks.counters))


def _amounts(hearing: Hearing, currency: str, *, bare: bool) -> Iterator[Slot[MoneyValue]]:
    heard, context = hearing.heard, hearing.context
    if any(span.kind is SpanKind.DIGITS for span in heard.spans):  # "fifteen, no, five zero": none is surely the amount
        return
    spans = [span for span in heard.spans if span.kind is SpanKind.MONEY]
    if not spans and (bare or context.asked is SlotName.AMOUNT or context.confirming):
        spans = [span for span in heard.spans if span.kind is SpanKind.NUMBER and _taken(span, hearing.reading)]
        spans = [span for span in spans if not (_of_time(hearing, span) or _sounds_alike(hearing, span, bare=bare))]
    for span in spans:
        if _points_before(hearing, span, bare=bare and span.kind is SpanKind.NUMBER):
            continue
        values = [value for each in span.values if (value := money_of(span.kind, each, currency)) is not None]
        if context.confirming and heard.transcript.text.startswith(hearing.grammar.words.as_much, span.end):
            continue
        if len(values) == 1 and span.ambiguity is Ambiguity.GROUPING:
            continue  # of "several hundred and fifty" only a part was read
        if len(values) == 1 or (values and context.asked is not None):
            evidence = Evidence(span.start, span.end, _surface(hearing, span), span.rule)
            yield Slot(values[0], evidence, tuple(values[1:]))


def _sounds_alike(hearing: Hearing, span: Span, *, bare: bool) -> bool:
    """Whether a number among words of no rule may be no number: "go four it"; nor its end: "twenty two ken"."""
    said, alike = _surface(hearing, span).casefold(), hearing.grammar.words.sound_alike
    ends, behind = said[-1] if said.isdecimal() else said.split()[-1], hearing.text[span.end :].split()
    swallowed = bare and ends in alike and bool(behind) and behind[0] not in hearing.grammar.words.onto
    return swallowed or (hearing.context.confirming and said in alike)


def _points_before(hearing: Hearing, span: Span, *, bare: bool) -> bool:
    """Whether words before it make of it something else: "make that one ten", "two lots of fifty", "I'm fifty"."""
    grammar, reading = hearing.grammar, hearing.reading
    place, words = reading.units.covering(span.start, span.end), grammar.words
    at = place[0] if place is not None and grammar.spaced else 0
    before = range(max(0, at - _NEAR), at)
    numbers = [reading.units.covering(s.start, s.end) for s in hearing.heard.spans if s.kind is SpanKind.NUMBER]
    several = [p[1] for p in numbers if p is not None and p[1] in before and reading.words[slice(*p)] != words.one]
    if grammar.cues.inexact.ends(reading.words, at, _NEAR):
        return True
    if at and reading.words[at - 1] in words.each_of:  # "two lots of fifty"
        counted = grammar.phrases.counted
        if any(e.end == at - 1 for b in several for e in counted.scan(reading.words, b)):
            return True
    if bare and at and reading.words[at - 1] in words.finite:
        return True
    return at > 1 and reading.words[at - 1 : at] == words.one and reading.words[at - 2] in words.ones


def _taken(span: Span, reading: UtteranceLattice) -> bool:
    place = reading.units.covering(span.start, span.end)
    return place is not None and place[0] in reading.taken


def _accounts(hearing: Hearing) -> Iterator[tuple[str, Slot[Any]]]:
    for part, edge, noun in own_accounts(hearing):
        yield part, Slot(noun, hearing.said(edge.start, edge.end, RULE))


def own_accounts(hearing: Hearing) -> Iterator[tuple[str, Edge, str]]:
    """The caller's own accounts with the part each plays, where it stands, and its id; another's account plays none."""
    yield from (one for one in _all_accounts(hearing) if one[0])


def others_accounts(hearing: Hearing) -> Iterator[Edge]:
    """Where accounts are named that are somebody else's, or of which no part is told."""
    yield from (edge for part, edge, _ in _all_accounts(hearing) if not part)


def unread_words(hearing: Hearing) -> tuple[Evidence, ...]:
    """Words of no rule, but for an account that is said to be another's."""
    units = hearing.reading.units
    named = {units.starts[edge.start] for edge in others_accounts(hearing)}
    return tuple(each for each in unknown(hearing) if each.start not in named)


def _all_accounts(hearing: Hearing) -> Iterator[tuple[str, Edge, str]]:
    nouns, reading, verbs = hearing.nouns, hearing.reading, hearing.grammar.words.after_verbs
    rows, at = reading.phrases(nouns.trie), 0
    while at < len(reading.words):
        if not rows[at]:
            at += 1
            continue
        edges = [e for e in rows[at] if nouns.nouns[e.symbol].kind == "account"]
        edge = max(edges, key=lambda e: e.end, default=None)
        verb = edge is not None and edge.end < len(reading.words) and reading.words[edge.end] in verbs
        if edge is None or verb or at in reading.taken:
            at += 1
            continue
        noun, accounts = nouns.nouns[edge.symbol], hearing.grammar.cues
        into = not accounts.spaced and accounts.onto.scan(reading.words, edge.end)
        part = "target" if into else _part(hearing, edge.start, edge.end)
        if noun.id is not None:
            yield part, edge, noun.id
        at = edge.end


def _part(hearing: Hearing, start: int, end: int) -> str:
    """`source`, `target`, or "" where the account is another's or not meant, or a word before it leaves that open."""
    grammar, reading = hearing.grammar, hearing.reading
    before = reading.words[max(0, start - _NEAR) : start]
    if grammar.patterns.names.not_this.match(hearing.text, reading.units.ends[end - 1]):
        return ""
    if grammar.words.whose.intersection(reading.words[end : end + 2]) or (grammar.spaced and _refused(hearing, start)):
        return ""
    for back, word in enumerate(reversed(before)):
        place = start - 1 - back
        if word in grammar.words.others or (place in reading.taken and grammar.spaced):
            return "source" if back and _owned(hearing, place + 1) else ""  # "fifty to emily, my savings account"
        if word in grammar.words.onto:
            return "source" if reading.words[place + 1] in grammar.words.being else "target"  # "to be checking"
        if word in grammar.words.outof:
            return "source"
    return "source"


def _refused(hearing: Hearing, start: int) -> bool:
    """Whether it is what is not meant: "drop the savings"."""
    words = hearing.reading.words
    ends = {start, start - 1} if start and _owned(hearing, start - 1) else {start}
    return any(
        edge.symbol == DENIAL and edge.end in ends
        for at in range(max(0, start - _NEAR), start)
        for edge in hearing.grammar.cues.repairs.scan(words, at)
    )


def _owned(hearing: Hearing, at: int) -> bool:
    """Whether the word there says that it is the caller's own: "my"."""
    own = hearing.grammar.symbols.get("own")
    return any(edge.end == at + 1 for edge in hearing.reading.lattice.of({own}, at, at + 1))


def _surface(hearing: Hearing, span: Span) -> str:
    return hearing.text[span.start : span.end]
