"""Payees by their name spelled aloud, or by their initials; and what is answered where all found fit equally well."""

from collections.abc import Iterable, Sequence
from typing import Final

from schemas.payee import MatchOutcome, Payee
from services.payees.decide import Decision
from services.payees.fold import is_japanese, japanese, words
from services.payees.forms import Forms, keys
from services.payees.found import Ranked
from services.payees.namings import namings_of
from services.payees.said import heard
from services.payees.score import score
from services.payees.spell import Spelled, spelled, spelled_kana

SPELLED_WHOLE: Final = 0.97
"""How likely a payee is whose whole name was spelled, or who alone is called so."""
_SPELLED_START: Final = 0.85


class Spelling:
    """The names of one book, letter by letter."""

    def __init__(self, payees: Sequence[Payee], forms: Forms) -> None:
        self._payees, self._forms = payees, forms
        self._sounds: dict[int, frozenset[str]] = {}

    def find(self, names: Sequence[str]) -> tuple[Ranked, Decision] | None:
        """Payees by a spelled name or initials; None unless letters were spelled and somebody fits them."""
        for rank, name in enumerate(names):
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
            owners = begun or dict.fromkeys(self._forms.abbreviated(said.letters) if said.single and not rank else ())
            if owners:
                fitting = self._also(owners, said)
                borne = bool(whole) and all(self._bears(owner, said) for owner in fitting)
                return listed(self._forms.recent, fitting, SPELLED_WHOLE if whole else _SPELLED_START, whole=borne)
        return None

    def _also(self, owners: Iterable[int], said: Spelled) -> list[int]:
        """Of the payees whose name was spelled, those the words around the spelling are nearest to, best first."""
        around = heard((" ".join((*said.before, *said.after)),), self._forms)
        fitting = list(owners)
        if not around.said or len(fitting) == 1:
            return fitting
        scored, _ = score(around, self._forms)
        nearest = [each.owner for each in scored if each.owner in set(fitting)]
        return nearest[:1] or fitting

    def _bears(self, owner: int, said: Spelled) -> bool:
        """Whether every word around the spelling is this payee's too: "amina n z u k i" is no Walter Nzuki."""
        around = (*said.before, *said.after)
        if not around:
            return True
        sounds = self._sounds.get(owner)
        if sounds is None:
            named = [word for tokens in namings_of(self._payees[owner]).full for word in tokens]
            sounds = self._sounds[owner] = frozenset(sound for word in named for sound in keys(word).sounds)
        return all(sounds.intersection(keys(word).sounds) for word in around)


def listed(recent: Sequence[float], owners: Iterable[int], sure: float, *, whole: bool) -> tuple[Ranked, Decision]:
    """An answer from a list of payees that all fit equally well."""
    fitting = sorted(owners, key=lambda owner: (-recent[owner], owner))
    if not fitting:
        return [], Decision(MatchOutcome.NOBODY, 0)
    ranked = [(owner, sure / len(fitting)) for owner in fitting]
    if len(fitting) == 1 and whole:
        return ranked, Decision(MatchOutcome.CLEAR, 1)
    return ranked, Decision(MatchOutcome.ASK, min(3, len(fitting)))
