"""The index of one customer's payees: built once, never changed, searched without I/O."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date
from itertools import islice
from typing import Final

from schemas.errors import TooLarge
from schemas.ids import Locale, PayeeId, language
from schemas.payee import MatchOutcome, Payee, PayeeCandidate, PayeeMatch
from services.payees import spans_en, spans_ja
from services.payees.banked import Banked, told_by
from services.payees.banks_en import BanksNamed
from services.payees.called_ja import Called
from services.payees.data import fold_word, relation_key, relationship_words
from services.payees.decide import Decision, decide, tell_apart
from services.payees.endings_en import EndingsNamed
from services.payees.evidence import ALIKE, SURELY_ALIKE
from services.payees.fold import japanese
from services.payees.forms import Forms, recency
from services.payees.found import PayeeSearchResult, Ranked, Searched
from services.payees.letters_en import LettersNamed
from services.payees.namings import relations
from services.payees.others_ja import others
from services.payees.said import MAX_HYPOTHESES, heard, strip_honorific, written_key
from services.payees.score import score
from services.payees.spans import MAX_TEXT, Cue, Place, aligned
from services.payees.spell import spelled_kana
from services.payees.spelling import SPELLED_WHOLE, Spelling, listed
from services.payees.wordings import wordings
from services.payees.written import WrittenNames

MAX_PAYEES: Final = 10_000
MAX_CANDIDATES: Final = 5


class PayeeIndex:
    """Everything a search needs to know of one customer's payees. Immutable; safe to share between threads."""

    def __init__(self, payees: Sequence[Payee], today: date | None = None) -> None:
        if len(payees) > MAX_PAYEES:
            raise TooLarge(f"a book of more than {MAX_PAYEES} payees")
        self._payees = tuple(payees)
        self._forms = Forms(self._payees, [recency(payee, today) for payee in self._payees])
        self.vocabulary = self._forms.vocabulary
        self._spelling = Spelling(self._payees, self._forms)
        self._related = relations(self._payees)
        self._pronouns = frozenset(word for word in spans_ja.pronouns() if self._of_relation(word))
        self._called = Called(self._payees, self._forms.readings)
        self._beside = (LettersNamed(self._payees), EndingsNamed(self._payees), BanksNamed(self._payees))
        self.written = WrittenNames(self._payees)

    @classmethod
    def build(cls, payees: Sequence[Payee], today: date | None = None) -> "PayeeIndex":
        """An index of at most 10,000 payees; `today` lets recently paid ones weigh more. Raises TooLarge."""
        return cls(payees, today)

    def __len__(self) -> int:
        return len(self._payees)

    def lookup(self, names: Sequence[str], locale: Locale, searched: Searched | None = None) -> PayeeMatch | None:
        """Who is meant by a name that was heard as `names` (best first); None where no name was said.

        `searched` remembers what was sought in this index while one utterance is looked at.
        """
        text = names[0] if names else ""
        heard_as = [name for name in names[:MAX_HYPOTHESES] if name.strip()]
        if not heard_as:
            return None
        if language(locale) == "ja":
            theirs = self._anothers(text, Place.whole(text), locale)
            if (called := theirs or self._nicknamed(text, locale)) is not None:
                return called
        return self._answer(
            Place.whole(text), text, *self._search(heard_as, {} if searched is None else searched), locale
        )

    def find(
        self,
        utterances: Sequence[str],
        locale: Locale,
        taken: Sequence[tuple[int, int]] = (),
        searched: Searched | None = None,
    ) -> PayeeMatch | None:
        """Who is named in an utterance, given as its best text and the other hypotheses.

        `taken` are ranges of the best text that other stages have consumed, `searched` is as for `lookup`. None: no
        name was said. Outcome NOBODY: `heard` is a name, but nobody's in this book.
        """
        searched = {} if searched is None else searched
        text = utterances[0][:MAX_TEXT] if utterances else ""
        others = [other[:MAX_TEXT] for other in utterances[1:MAX_HYPOTHESES]]
        if language(locale) == "ja":
            called = self._nicknamed(text, locale) or self._of_a_bank(text, locale, taken, searched)
            if called is not None:
                return self._anothers(text, Place(called.start, called.end), locale) or called
        elif (called := self._of_a_bank(text, locale, taken, searched)) is not None:
            return called
        best = self._best(text, others, locale, taken, searched)
        if best is None or not best.credible:
            return None
        theirs = self._anothers(text, best.place, locale) if language(locale) == "ja" else None
        return theirs or self._answer(best.place, text, best.ranked, best.careful(), locale)

    def wordings(self, text: str, match: PayeeMatch | None) -> tuple[str, ...]:
        """`text` with the name of each payee who may be meant in place of the one heard; empty where that is clear."""
        if match is None or match.outcome is not MatchOutcome.ASK:
            return ()
        meant = {each.id for each in match.candidates}
        return wordings(text, match, [payee for payee in self._payees if payee.id in meant])

    def at_bank(self, text: str, names: Collection[str], locale: Locale) -> PayeeMatch | None:
        """Whoever of the people called by one of `names` has an account at the bank that is named alone, else all.

        Where nobody of the whole name has one there, whoever bears a part of it: of 山崎 由美 the other 山崎.
        """
        found = self._called.bank(text[:MAX_TEXT]) if language(locale) == "ja" else None
        called = [owner for owner, payee in enumerate(self._payees) if payee.name in names] if found is not None else []
        if found is None or not called:
            return None
        parts = {owner: f"{self._payees[owner].name} {self._payees[owner].kana}".split() for owner in found[2]}
        there = [owner for owner in called if owner in found[2]]
        there = there or [owner for owner, each in parts.items() if not set(each).isdisjoint(names)]
        ranked, decision = listed(self._forms.recent, there or called, SPELLED_WHOLE, whole=bool(there))
        return self._answer(Place(found[0], found[1]), text, ranked, decision, locale)

    def _anothers(self, text: str, place: Place, locale: Locale) -> PayeeMatch | None:
        """Who is meant by somebody else's relation: only whom the book has as just that; None where it is no such."""
        theirs = others(text, place.start, place.end)
        if theirs is None:
            return None
        owners = self._of_relation(text[theirs[0] : theirs[1]])
        listing = listed(self._forms.recent, dict.fromkeys(owners), SPELLED_WHOLE, whole=True)
        return self._answer(Place(*theirs), text, *listing, locale)

    def _nicknamed(self, text: str, locale: Locale) -> PayeeMatch | None:
        """Whoever is called so in the book, as it stands there: 「健ちゃん」, 「佐藤のほうの健」 are no other Ken."""
        found = self._called.nickname(text) or self._called.parted(text, self._of_relation)
        if found is None:
            return None
        begin, end, owners = found
        return self._answer(
            Place(begin, end), text, *listed(self._forms.recent, owners, SPELLED_WHOLE, whole=True), locale
        )

    def _of_relation(self, said: str) -> Collection[int]:
        key = fold_word(said)
        return self._related.get(relationship_words().get(key, key), ())

    def _of_a_bank(
        self, text: str, locale: Locale, taken: Sequence[tuple[int, int]], searched: Searched
    ) -> PayeeMatch | None:
        """Who is meant by a name and a bank, or a letter; None unless that stands right beside a name."""
        if language(locale) == "ja":
            banked = self._called.banked(text, self._of_relation)
        else:
            banked = next(filter(None, (each.banked(text) for each in self._beside)), None)
        if banked is None:
            return None
        after = banked.at + banked.size
        kept = [(start, end) for start, end in taken if end <= banked.at or start >= after]
        left = [(start, end) if end <= banked.at else (start - banked.size, end - banked.size) for start, end in kept]
        best = self._best(banked.text, (), locale, left, searched)
        place = best and best.credible and _beside(banked, best.place)
        if not best or not place:
            return None
        ranked, decision = told_by(best.ranked, best.careful(), banked.owners, only=True)
        return self._answer(place, text, self._of_namesakes(ranked), decision, locale)

    def _of_namesakes(self, ranked: Ranked) -> Ranked:
        """The first with all that speaks for their name: the bank tells them from who is called the same."""
        if not ranked:
            return ranked
        first, *rest = ranked
        name = self._payees[first[0]].name
        return [(first[0], min(1.0, first[1] + sum(p for o, p in rest if self._payees[o].name == name))), *rest]

    def _best(
        self,
        text: str,
        others: Sequence[str],
        locale: Locale,
        taken: Sequence[tuple[int, int]],
        searched: Searched,
    ) -> PayeeSearchResult | None:
        """The likeliest place of a name in an utterance, with what a search made of it."""
        best: PayeeSearchResult | None = None
        for place in self._places(text, locale, taken):
            if self._in_own_words(relation_key(text[place.start : place.end])) and self._of_more(text, place, locale):
                continue  # 電気を is no payee, 電気に is one
            names = [text[place.start : place.end], *(self._aligned(text, place, other, locale) for other in others)]
            favoured = self._related.get(place.relationship, ())
            least = SURELY_ALIKE if place.cue is Cue.NONE or place.common else ALIKE
            ranked, decision = self._search([name for name in names if name], searched, favoured, least)
            if favoured and language(locale) == "ja":
                ranked, decision = told_by(ranked, decision, favoured)
            found = PayeeSearchResult(place, ranked, decision)
            if best is None or found.worth > best.worth:
                best = found
            if best.settled:
                break
        return best

    def _places(self, text: str, locale: Locale, taken: Sequence[tuple[int, int]]) -> list[Place]:
        if language(locale) == "ja":
            if spelled_kana(japanese(text)):
                return [Place.whole(text)]
            found = spans_ja.unbroken(text, spans_ja.places(text, taken, self._pronouns), self._written(text, locale))
        else:
            found = spans_en.places(text, taken, self.vocabulary.__contains__, self._forms.is_name)
        led = any(place.cue >= Cue.WEAK for place in found)
        return found if led else [*found, *islice(self._written(text, locale), 1)]

    def _written(self, text: str, locale: Locale) -> Iterator[Place]:
        """Whole names wherever they stand, longest first."""
        if language(locale) == "ja":
            return spans_ja.windows(text, self._forms.is_written, self._forms.begins_written)
        return spans_en.windows(text, self._forms.is_whole_name)

    def _of_more(self, text: str, place: Place, locale: Locale) -> bool:
        """Whether nothing tells that a relationship is a payee, or it is a part of a whole name: 商店街の組合."""
        within = (w for w in self._written(text, locale) if w.start <= place.start and place.end <= w.end)
        return place.cue is Cue.NONE or any((w.start, w.end) != (place.start, place.end) for w in within)

    def _aligned(self, text: str, place: Place, other: str, locale: Locale) -> str:
        return aligned(text, place, other, lambda said, taken: self._places(said, locale, taken))

    def _search(
        self, names: Sequence[str], searched: Searched, favoured: tuple[int, ...] = (), least: float = ALIKE
    ) -> tuple[Ranked, Decision]:
        key = tuple(names), favoured, least
        known = searched.get(key)
        if known is None and least < SURELY_ALIKE:  # whoever is surely alike is found by a wider search just so
            known = searched.get((tuple(names), favoured, SURELY_ALIKE))
            known = known if known and known[0] else None
        if known is None:
            known = searched[key] = self._sought(names, favoured, least)
        return known

    def _sought(self, names: Sequence[str], favoured: Collection[int], least: float) -> tuple[Ranked, Decision]:
        related = self._relationship(names[0])
        if related is not None:
            return related
        said = self._spelling.find(names)
        if said is not None:
            return said
        what = heard(names, self._forms)
        if not what.said or not self._payees:
            written = self._forms.as_written(written_key(names[0])) or self._called.holding(names[0])
            return listed(self._forms.recent, written, SPELLED_WHOLE, whole=True)
        scored, nobody = score(what, self._forms, favoured, least)
        return [(s.owner, s.probability) for s in scored], decide(what, scored, nobody, self._forms, favoured)

    def _relationship(self, name: str) -> tuple[Ranked, Decision] | None:
        """Payees by what they are to the caller; None unless the words are just a relationship."""
        key = relation_key(name)
        relationship = key if self._in_own_words(key) else relationship_words().get(key)
        if relationship is None:
            return None
        owners = [*self._related.get(relationship, ()), *self._forms.named(key, key)]
        return listed(self._forms.recent, dict.fromkeys(owners), SPELLED_WHOLE, whole=True)

    def _in_own_words(self, key: str) -> bool:
        """Whether it is a relationship as the customer wrote it, in no word of ours."""
        return key in self._related and key not in relationship_words()

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


def _beside(banked: Banked, place: Place) -> Place | None:
    """The place of a name with the bank before or after it, in the whole text; None where they stand apart."""
    if place.start == banked.at:
        return place._replace(start=banked.at, end=place.end + banked.size)
    between = japanese(f"ア{banked.text[place.end : banked.at]}")
    if place.end <= banked.at and strip_honorific(between) == "ア":
        return place._replace(end=banked.at + banked.size)
    return None
