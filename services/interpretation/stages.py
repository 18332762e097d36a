"""The pure stages: transcript → spans → payees → meaning. No effect, so they may run ahead of a turn's end."""

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import lru_cache, partial
from typing import Final

from rules.load import locales
from schemas.consent import ORDERS, Awaited
from schemas.ids import Locale, language
from schemas.intent import Annotation, Context, Route, Understood
from schemas.interpretation import Interpretation
from schemas.payee import PayeeMatch
from schemas.span import Span
from schemas.transcript import Transcript
from services.interpretation.second_pass import looked_again
from services.interpretation.unasked import counts, unasked
from services.normalization import Normalizer
from services.observability import Stamp, Stamps
from services.payees import PayeeIndex, Searched
from services.understanding.clarification.adjuncts import besides
from services.understanding.clarification.receivers import another_than, named_besides, two_receivers
from services.understanding.clarification.worded_orders import partly
from services.understanding.correction.amount_repairs import in_part
from services.understanding.correction.date_narrowing import day_instead, day_offered, day_within, in_this_time
from services.understanding.correction.date_repairs import day_in_part, undated
from services.understanding.correction.disfluencies import smoothed, uncontracted
from services.understanding.correction.disfluent_amounts import either, put_together
from services.understanding.correction.history_period import looked_back
from services.understanding.correction.merging import said_in, shifted
from services.understanding.correction.name_completion import called_in_two
from services.understanding.correction.other_ones import told_by_another
from services.understanding.correction.payee_qualifiers import apposed, introduced, qualified
from services.understanding.correction.plain_words import Rewordings, plainly
from services.understanding.correction.repair import repaired
from services.understanding.correction.said import Said
from services.understanding.correction.split_amounts import summed
from services.understanding.fast.understander import Understander
from services.understanding.learned.reader import LearnedReader
from services.understanding.nbest.contested import Normalize, contested
from services.understanding.offers.guessed_transfers import offered

LOOKED_AT: Final = 4_000
"""What looking at the parts of one utterance may cost in all: of what people say half is enough."""
_DEARER: Final = 100
"""A part of so many characters costs twice as much for each; what is longer, still more."""
_IN_A_NAME: Final = "x"
"""What stands for a payee's name where amounts and days are looked for: the Friday of "Pat Friday" is none."""
_WARM: Final = "send 100 to a, 千円を父に振り込んで"
"""An order: readers make ready what they need when they are first asked."""
_KEPT: Final = 32
"""Parts of one utterance whose numbers are remembered while it is interpreted."""


@dataclass(frozen=True, slots=True)
class InterpretationContext:
    """What an utterance is interpreted in. `now` is the caller's local time, `amount_open` whether one may go on."""

    asked: Context
    now: datetime
    currencies: tuple[str, ...] = ()
    amount_open: bool = False


def interpret(
    transcript: Transcript, context: InterpretationContext, payees: PayeeIndex, stamps: Stamps
) -> Interpretation:
    """What `transcript` means to a caller with these payees. Raises UnsupportedLocale."""
    stages = _Stages.of(transcript, context, payees)
    stamps.mark(Stamp.NORMALIZATION_START)
    spans = contested(transcript, stages.normalize(transcript.text), stages.normalize)
    stamps.mark(Stamp.NORMALIZATION_END, Stamp.FUZZY_LOOKUP_START)
    others = () if transcript.named else transcript.alternatives  # they differ in names that do not sound like it
    match = stages.find(transcript.text, spans, others)
    stamps.mark(Stamp.FUZZY_LOOKUP_END)
    heard = Annotation(transcript, spans, match)
    understood = stages.understood(heard, context.asked)
    if (asked := unasked(context.asked, spans, understood)) is not None:
        anew = interpret(transcript, replace(context, asked=asked), payees, Stamps(stamps.tick)).understood
        understood = anew if counts(context.asked, spans, understood, anew) else understood
    understood = in_this_time(heard, looked_back(heard, understood), context.asked.asked, stages.today)
    if context.asked.day:
        understood = day_within(heard, understood, stages.normalize(context.asked.day), stages.today)
    understood = day_offered(heard, understood, context.asked.days)
    stages.forget()
    terms = context.asked.terms
    if terms.awaited in ORDERS | {Awaited.TASK} and terms.on is not None and not terms.today:
        understood = day_instead(heard, understood, terms.on, stages.today)
    stamps.mark(Stamp.UNDERSTANDING_END)
    return Interpretation(transcript, spans, match, understood)


def warm_up() -> None:
    """Load every locale's rules, and hear an order by them. Raises RulesInvalid."""
    long_ago = InterpretationContext(Context(), datetime.fromtimestamp(0, UTC))
    for locale in locales():
        LearnedReader.of(language(locale))
        interpret(Transcript(_WARM, locale, ()), long_ago, PayeeIndex.build(()), Stamps(lambda: 0.0))


@dataclass(slots=True)
class _Looks:
    """What looking at parts of one utterance may still cost: nobody's words keep the other callers waiting."""

    left: float = LOOKED_AT
    first: bool = True

    def granted(self, text: str) -> bool:
        """Whether there is enough left for `text`, which it takes; until something is read, all that it needs."""
        cost = len(text) * (1 + len(text) / _DEARER)
        if cost > self.left and not self.first:
            return False
        self.left -= cost
        return True


@dataclass(frozen=True, slots=True)
class _Known:
    """Words with what is found in them, and all that was made of them: the one object that stands for them."""

    heard: Annotation
    saids: dict[Context, Said] = field(default_factory=dict)
    meanings: dict[Context, Understood] = field(default_factory=dict)
    pieces: dict[tuple[int, str], "_Known"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Stages:
    """The stages of one language, for one customer's payees, and what they have made of parts of one utterance."""

    normalize: Normalize
    understander: Understander
    payees: PayeeIndex
    locale: Locale
    today: date
    names: tuple[str, ...] = ()
    """Of the payee whose order is read back: a bank alone tells which of that name is meant."""
    _searched: Searched = field(default_factory=dict)
    _looked_up: dict[str, PayeeMatch | None] = field(default_factory=dict)
    _matches: dict[tuple[tuple[str, ...], tuple[tuple[int, int], ...]], PayeeMatch | None] = field(default_factory=dict)
    _words: dict[tuple[str, tuple[Span, ...], PayeeMatch | None], _Known] = field(default_factory=dict)
    _looks: _Looks = field(default_factory=_Looks)
    _reworded: Rewordings = field(default_factory=Rewordings)

    @classmethod
    def of(cls, transcript: Transcript, context: InterpretationContext, payees: PayeeIndex) -> "_Stages":
        """Those for a transcript."""
        normalizer = Normalizer.for_locale(transcript.locale)
        read = partial(normalizer.normalize, now=context.now, currencies=context.currencies, digits=context.asked.code)

        def normalize(text: str) -> tuple[Span, ...]:
            spans = read(text)
            names = payees.written.reaching_over(text, [(span.start, span.end) for span in spans])
            for begin, end in names:
                text = text[:begin] + _IN_A_NAME * (end - begin) + text[end:]
            return summed(text, read(text) if names else spans, transcript.locale)

        understander, names = Understander.for_locale(transcript.locale), context.asked.terms.names
        made, locale = lru_cache(maxsize=_KEPT)(normalize), transcript.locale
        return cls(made, understander, payees, locale, context.now.date(), names)

    def forget(self) -> None:
        """Let go of all that was made of the words: much of it holds each other, and would wait to be collected."""
        for known in self._words.values():
            for said in known.saids.values():
                said.made.clear()
            known.saids.clear()
            known.pieces.clear()

    def find(self, text: str, spans: tuple[Span, ...], others: tuple[str, ...] = ()) -> PayeeMatch | None:
        """The payees that may be meant. What was looked for once is known."""
        taken = tuple((span.start, span.end) for span in spans)
        key = (text, *others), taken
        if key not in self._matches:
            found = self.payees.find(key[0], self.locale, taken, self._searched)
            if self.names and (found is None or not found.candidates):
                found = self.payees.at_bank(text, self.names, self.locale) or found
            self._matches[key] = found
        return self._matches[key]

    def understood(self, heard: Annotation, context: Context) -> Understood:
        """What the words mean; of a command that names two things where one is meant, all that it names."""
        known = self._known(heard)
        heard = known.heard
        said, found = self._said(known, context), self._mended(known, context)
        if (plain := self._uncontracted(known, said, found)) is not None:
            return plain
        read = lambda text: self.understood(self._again(known, 0, text).heard, context)  # noqa: E731
        again = partial(self._reworded.read, read)
        other = plainly(said, found, again) or told_by_another(said, found, again)
        if other is not None:
            return other
        naming = partial(self._naming, heard, context)
        meant = called_in_two(said, found, self._anyone, naming) or qualified(said, self._anyone, naming)
        meant = meant or apposed(said, self._anyone, naming) or introduced(said, found, naming)
        meant = meant or looked_again(said, found)
        meant = partly(said, meant) or meant
        return two_receivers(said, meant) or another_than(said, meant) or named_besides(said, meant) or meant

    def _known(self, heard: Annotation) -> _Known:
        """The object that stands for these words with what is found in them."""
        return self._words.setdefault((heard.transcript.text, heard.spans, heard.payees), _Known(heard))

    def _said(self, known: _Known, context: Context) -> Said:
        """What was heard, and by what a reader may look at it again: for all of its readers one."""
        if context in known.saids:
            return known.saids[context]
        heard = known.heard

        def named(text: str) -> PayeeMatch | None:
            return self.find(text, heard.spans)

        part, again = partial(self._part, known), partial(self._anew, known, context)
        order = partial(self._order, known, context)
        made = Said(heard, context, self.today, part, again, order, named, self._called, self.payees.vocabulary)
        return known.saids.setdefault(context, made)

    def _anyone(self, text: str) -> PayeeMatch | None:
        """Who is meant in a text of its own."""
        return self.payees.find((text,), self.locale, (), self._searched)

    def _naming(self, heard: Annotation, context: Context, text: str, match: PayeeMatch) -> Understood:
        """What a text means, as long as the utterance, in which that payee is named."""
        named = Annotation(replace(heard.transcript, text=text), self.normalize(text), match)
        return self._mended(self._known(named), context)

    def _order(self, known: _Known, context: Context, end: int) -> Understood:
        """What the words up to a code point order, or offer."""
        piece = self._piece(known, 0, end)
        found = self._mended(piece, context)
        return offered(self._said(piece, context), found) or found

    def _uncontracted(self, known: _Known, said: Said, found: Understood) -> Understood | None:
        """What is not surely understood, with "friday's better" as "friday better"; nobody agrees by it."""
        if found.route is Route.FAST and found.then is None:
            return None
        plain, text = uncontracted(said), said.text
        meant = self.understood(self._again(known, 0, plain).heard, said.context) if plain != text else None
        return said_in(meant, text) if meant is not None and meant.consent is None else None

    def _mended(self, known: _Known, context: Context) -> Understood:
        """What the words mean, with what is corrected in them. The same words are looked at once in each context."""
        if context not in known.meanings:
            if not self._looks.granted(known.heard.transcript.text):
                return Understood(None)
            known.meanings[context] = self._read(known, context)
            self._looks.first = False
        return known.meanings[context]

    def _read(self, known: _Known, context: Context) -> Understood:
        said = self._said(known, context)
        whole = self.understander.understand(known.heard, context, said.called)
        found = put_together(said) or smoothed(said, whole) or repaired(said, whole) or besides(said, whole) or whole
        found = either(said, found) or in_part(said, found) or day_in_part(said, found) or found
        return undated(said, found) or found

    def _called(self, name: str) -> PayeeMatch | None:
        """Who is called just so: the same names stand in many parts of an utterance, and are looked up once."""
        if name not in self._looked_up:
            self._looked_up[name] = self.payees.lookup((name,), self.locale, self._searched)
        return self._looked_up[name]

    def _part(self, known: _Known, start: int, end: int, inner: Context) -> Understood:
        """What a part of an utterance means by itself, its evidence where it stands."""
        return shifted(self._mended(self._piece(known, start, end), inner), start)

    def _anew(self, known: _Known, context: Context, text: str) -> Understood:
        """What another text means, of which the same is in doubt."""
        return self._mended(self._again(known, 0, text), context)

    def _piece(self, known: _Known, start: int, end: int) -> _Known:
        """A part of an utterance by itself, with what is in doubt about the whole."""
        return self._again(known, start, known.heard.transcript.text[start:end])

    def _again(self, known: _Known, start: int, text: str) -> _Known:
        """`text` by itself, which stands from `start` on in an utterance, with what is in doubt about that."""
        if (start, text) not in known.pieces:
            known.pieces[start, text] = self._known(self._alone(known.heard, start, text))
        return known.pieces[start, text]

    def _alone(self, heard: Annotation, start: int, text: str) -> Annotation:
        known = {(span.start - start, span.end - start, span.surface): span for span in heard.spans}
        spans = tuple(
            replace(known[at], start=s.start, end=s.end) if (at := (s.start, s.end, s.surface)) in known else s
            for s in self.normalize(text)
        )
        return Annotation(replace(heard.transcript, text=text), spans, self.find(text, spans))
