"""The index of one customer's payees: built once, never changed, searched without I/O."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from itertools import islice
from typing import Final, NamedTuple

from schemas.errors import TooLarge
from schemas.ids import Locale, PayeeId, language
from schemas.payee import MatchOutcome, Payee, PayeeCandidate, PayeeMatch
from services.payees import spans_en, spans_ja
from services.payees.data import alike_relationships, fold_word, relationship_words, unpossessed
from services.payees.decide import Decision, decide, tell_apart
from services.payees.fold import is_japanese, japanese, words
from services.payees.forms import Forms, keys
from services.payees.grams import Grams
from services.payees.namings import namings_of
from services.payees.said import MAX_HYPOTHESES, heard, written_key
from services.payees.score import score
from services.payees.spans import MAX_TEXT, Cue, Place, aligned
from services.payees.spell import Spelled, spelled, spelled_kana

MAX_PAYEES: Final = 10_000
MAX_CANDIDATES: Final = 5
_RECENT_DAYS: Final = 90.0
_SPELLED_WHOLE: Final = 0.97
_SPELLED_START: Final = 0.85

_SURE_ANYWHERE: Final = 0.6
"""How likely somebody must be where nothing but the name itself says that one stands there."""
_SURE_ALONE: Final = 0.4
_SURE_COMMON: Final = 0.6
_FAINT: Final = 0.1
"""From here on, bare words are taken for a name, though nobody in the book is likely meant."""

Ranked = list[tuple[int, float]]
"""Positions in the book with probabilities, best first."""


class _Found(NamedTuple):
    """What a search made of one place."""

    place: Place
    ranked: Ranked
    decision: Decision

    @property
    def somebody(self) -> float:
        """The probability that somebody in the book is meant."""
        return sum(probability for _, probability in self.ranked)

    @property
    def worth(self) -> tuple[bool, float, Cue, int, int]:
        """What makes a place the likelier one: somebody is found, how surely, how strongly the words point there."""
        named = self.decision.outcome is not MatchOutcome.NOBODY
        top = self.ranked[0][1] if self.ranked else 0.0
        return (
            named,
            round(top, 1) if named else 0.0,
            self.place.cue,
            self.place.end - self.place.start,
            -self.place.start,
        )

    @property
    def credible(self) -> bool:
        """Whether a name was said here at all."""
        if self.decision.outcome is MatchOutcome.NOBODY:
            faint = self.place.cue is Cue.ALONE and self.somebody >= _FAINT
            return (self.place.cue is Cue.PAYEE or faint) and not self.place.common
        sure = {Cue.NONE: _SURE_ANYWHERE, Cue.ALONE: _SURE_ALONE}.get(self.place.cue, 0.0)
        return self.somebody >= max(sure, _SURE_COMMON if self.place.common else 0.0)

    @property
    def settled(self) -> bool:
        """Whether no other place can be the likelier one."""
        return self.place.cue is Cue.PAYEE and not self.place.narrow and self.decision.outcome is MatchOutcome.CLEAR

    def careful(self) -> Decision:
        """The decision, but a name that more words may belong to is asked about."""
        if self.place.narrow and self.decision.outcome is MatchOutcome.CLEAR:
            return Decision(MatchOutcome.ASK, 1)
        return self.decision


class PayeeIndex:
    """Everything a search needs to know of one customer's payees. Immutable; safe to share between threads."""

    def __init__(self, payees: Sequence[Payee], today: date | None = None) -> None:
        if len(payees) > MAX_PAYEES:
            raise TooLarge(f"a book of more than {MAX_PAYEES} payees")
        self._payees = tuple(payees)
        self._recent = [_recency(payee, today) for payee in self._payees]
        self._forms = Forms(self._payees, self._recent)
        self._grams = Grams(self._forms.sounds)
        self._related = _relations(self._payees)

    @classmethod
    def build(cls, payees: Sequence[Payee], today: date | None = None) -> "PayeeIndex":
        """An index of at most 10,000 payees; `today` lets recently paid ones weigh more. Raises TooLarge."""
        return cls(payees, today)

    def __len__(self) -> int:
        return len(self._payees)

    def lookup(self, names: Sequence[str], locale: Locale) -> PayeeMatch | None:
        """Who is meant by a name that was heard as `names` (best first); None where no name was said."""
        text = names[0] if names else ""
        heard_as = [name for name in names[:MAX_HYPOTHESES] if name.strip()]
        if not heard_as:
            return None
        return self._answer(Place.whole(text), text, *self._search(heard_as), locale)

    def find(
        self, utterances: Sequence[str], locale: Locale, taken: Sequence[tuple[int, int]] = ()
    ) -> PayeeMatch | None:
        """Who is named in an utterance, given as its best text and the other hypotheses.

        `taken` are ranges of the best text that other stages have consumed. None: no name was said. Outcome NOBODY:
        `heard` is a name, but nobody's in this book.
        """
        text = utterances[0][:MAX_TEXT] if utterances else ""
        others = [other[:MAX_TEXT] for other in utterances[1:MAX_HYPOTHESES]]
        best: _Found | None = None
        for place in self._places(text, locale, taken):
            names = [text[place.start : place.end], *(self._aligned(text, place, other, locale) for other in others)]
            favoured = self._related.get(place.relationship, ())
            found = _Found(place, *self._search([name for name in names if name], favoured))
            if best is None or found.worth > best.worth:
                best = found
            if best.settled:
                break
        if best is None or not best.credible:
            return None
        return self._answer(best.place, text, best.ranked, best.careful(), locale)

    def _places(self, text: str, locale: Locale, taken: Sequence[tuple[int, int]]) -> list[Place]:
        if language(locale) == "ja":
            if spelled_kana(japanese(text)):
                return [Place.whole(text)]
            found = spans_ja.places(text, taken)
            whole = spans_ja.windows(text, self._forms.is_written)
        else:
            found = spans_en.places(text, taken, self._forms.vocabulary.__contains__, self._forms.is_name)
            whole = spans_en.windows(text, self._forms.is_whole_name)
        return found if any(place.cue >= Cue.WEAK for place in found) else [*found, *islice(whole, 1)]

    def _aligned(self, text: str, place: Place, other: str, locale: Locale) -> str:
        return aligned(text, place, other, lambda said, taken: self._places(said, locale, taken))

    def _search(self, names: Sequence[str], favoured: Collection[int] = ()) -> tuple[Ranked, Decision]:
        related = self._relationship(names[0])
        if related is not None:
            return related
        said = self._spelled(names)
        if said is not None:
            return said
        what = heard(names, self._forms)
        if not what.said or not self._payees:
            return self._listed(self._forms.as_written(written_key(names[0])), _SPELLED_WHOLE, whole=True)
        scored, nobody = score(what, self._forms, self._grams, self._recent, favoured)
        return [(s.owner, s.probability) for s in scored], decide(what, scored, nobody, self._forms, favoured)

    def _relationship(self, name: str) -> tuple[Ranked, Decision] | None:
        """Payees by what they are to the caller; None unless the words are just a relationship."""
        key = fold_word(unpossessed(name))
        relationship = relationship_words().get(key)
        if relationship is None:
            return None
        owners = [*self._related.get(relationship, ()), *self._forms.named(key, key)]
        return self._listed(dict.fromkeys(owners), _SPELLED_WHOLE, whole=True)

    def _spelled(self, names: Sequence[str]) -> tuple[Ranked, Decision] | None:
        """Payees by a spelled name or initials; None unless letters were spelled and somebody fits them."""
        for name in names:
            if is_japanese(name):
                reading = spelled_kana(japanese(name))
                said = Spelled(reading, (), (), False) if reading else None
            else:
                said = spelled(words(name))
            if said is None:
                continue
            key, letters = said.letters, keys(said.letters).spelled
            whole = dict.fromkeys((*self._forms.named(key, letters), *self._forms.part_owners(letters)))
            begun = whole or dict.fromkeys(self._forms.beginning(letters))
            owners = begun or dict.fromkeys(self._forms.abbreviated(said.letters) if said.single else ())
            if owners:
                fitting = self._also(owners, said)
                borne = bool(whole) and all(self._bears(owner, said) for owner in fitting)
                return self._listed(fitting, _SPELLED_WHOLE if whole else _SPELLED_START, whole=borne)
        return None

    def _also(self, owners: Iterable[int], said: Spelled) -> list[int]:
        """Of the payees whose name was spelled, those the words around the spelling are nearest to, best first."""
        around = " ".join((*said.before, *said.after))
        fitting = list(owners)
        if not around or len(fitting) == 1:
            return fitting
        scored, _ = score(heard((around,), self._forms), self._forms, self._grams, self._recent)
        nearest = [each.owner for each in scored if each.owner in set(fitting)]
        return nearest[:1] or fitting

    def _bears(self, owner: int, said: Spelled) -> bool:
        """Whether every word around the spelling is this payee's too: "amina n z u k i" is no Walter Nzuki."""
        named = [word for tokens in namings_of(self._payees[owner]).full for word in tokens]
        sounds = {sound for word in named for sound in keys(word).sounds}
        return all(sounds.intersection(keys(word).sounds) for word in (*said.before, *said.after))

    def _listed(self, owners: Iterable[int], sure: float, *, whole: bool) -> tuple[Ranked, Decision]:
        """An answer from a list of payees that all fit equally well."""
        fitting = sorted(owners, key=lambda owner: (-self._recent[owner], owner))
        if not fitting:
            return [], Decision(MatchOutcome.NOBODY, 0)
        ranked = [(owner, sure / len(fitting)) for owner in fitting]
        if len(fitting) == 1 and whole:
            return ranked, Decision(MatchOutcome.CLEAR, 1)
        return ranked, Decision(MatchOutcome.ASK, min(3, len(fitting)))

    def _answer(self, place: Place, text: str, ranked: Ranked, decision: Decision, locale: Locale) -> PayeeMatch:
        leaders = [(self._payees[owner], probability) for owner, probability in ranked[:MAX_CANDIDATES]]
        among = [payee for payee, _ in leaders[: max(2, decision.plausible)]]
        candidates = tuple(
            PayeeCandidate(
                payee.id,
                payee.name,
                payee.relationship,
                round(min(1.0, probability), 4),
                tell_apart(payee, among, locale),
            )
            for payee, probability in leaders
        )
        chosen: PayeeId | None = candidates[0].id if decision.outcome is MatchOutcome.CLEAR else None
        return PayeeMatch(
            heard=text[place.start : place.end],
            start=place.start,
            end=place.end,
            candidates=candidates,
            outcome=decision.outcome,
            choice=chosen,
            plausible=decision.plausible,
        )


def _recency(payee: Payee, today: date | None) -> float:
    """1 for a payee paid today, falling to 0 in about a year; 0 when never paid or unknown."""
    if today is None or payee.last_paid is None:
        return 0.0
    days = max(0, (today - payee.last_paid).days)
    return float(2.0 ** (-days / _RECENT_DAYS))


def _relations(payees: Sequence[Payee]) -> dict[str, tuple[int, ...]]:
    """Relationship → the payees who have it, whatever word the customer keeps it under."""
    table: dict[str, tuple[int, ...]] = {}
    known = relationship_words()
    for owner, payee in enumerate(payees):
        if payee.relationship:
            key = fold_word(payee.relationship)
            for name in alike_relationships(known.get(key, key)):
                table[name] = (*table.get(name, ()), owner)
    return table
