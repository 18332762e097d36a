"""How far the likeliest payee can be trusted: what sets it apart from the others, and how many hypotheses bear it out.

The probability of a search weighs one name against another; it says too little of a name that only one hypothesis has,
of two people who nearly sound alike, or of a stranger who shares one name with a payee. A small logistic model weighs
those signals (`tellerline bench payees --fit`).
"""

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

from rapidfuzz.distance import Levenshtein

from services.payees.calibration import CANDIDATE, Script, calibration
from services.payees.evidence import words_wrong
from services.payees.forms import Forms
from services.payees.said import NameHypotheses, QueryForm
from services.payees.score import ScoredPayee

SIGNALS: Final = (
    *("bias", "sure", "lead", "sure_and_lead", "most_heard", "nearly_heard"),
    *("words_exact", "name_exact", "book"),
)
MAX_LEAD: Final = 3.0
"""Phones; who is further from the next one is not safer."""
_SUREST: Final = 1e-5
_MOST: Final = 0.45
_WORDS_EXACT: Final = CANDIDATE.index("words_exact")
_EXACT_SHARE: Final = CANDIDATE.index("exact_share")


class Borne(NamedTuple):
    """The share of the hypotheses, by weight, that bear out the word of a name that they bear out least: 0 … 1."""

    heard: float
    """Those that have it sound for sound."""
    nearly: float
    """Those that have it but for half a phone (`phones`: a sound of the same class)."""


class _SoundedForm(NamedTuple):
    """A form as it is spelled and as it sounds."""

    spelled: str
    sound: str


class _Hypothesis(NamedTuple):
    """One hypothesis as it was said (not in another order, nor read as the book does not); all shares sum to 1."""

    share: float
    sayings: tuple[QueryForm, ...]

    def nearest(self, name: _SoundedForm) -> tuple[float, str]:
        """Phones between a name and what was heard, and the sound that is so near; no phone apart if spelled alike."""
        if name.spelled in [said.spelled for said in self.sayings]:
            return 0.0, name.sound
        edits = [(Levenshtein.distance(said.sound, name.sound), said.sound) for said in self.sayings]
        fewest, sound = min(edits)
        return fewest / 2.0, sound


def lead(heard: NameHypotheses, scored: Sequence[ScoredPayee], forms: Forms) -> float:
    """Phones by which what was heard is nearer to the likeliest payee than to the next one; below 0 when it is not."""
    hypotheses, least = _hypotheses(heard), MAX_LEAD
    own, *others = (_name(form, forms) for form in dict.fromkeys(each.evidence.form for each in scored))
    ours = [each.nearest(own)[0] for each in hypotheses]
    for name in others:
        gaps = [each.share * (each.nearest(name)[0] - mine) for each, mine in zip(hypotheses, ours, strict=True)]
        least = min(least, sum(gaps))
    return least


def borne_out(heard: NameHypotheses, form: int, forms: Forms) -> Borne:
    """How far the hypotheses bear out every word of a name."""
    name, lengths = _name(form, forms), forms.anatomy(form).lengths
    exact, near = [0.0] * len(lengths), [0.0] * len(lengths)
    for each in _hypotheses(heard):
        for word, wrong in enumerate(words_wrong(each.nearest(name)[1], name.sound, lengths)):
            exact[word] += each.share * (wrong == 0)
            near[word] += each.share * (wrong <= 1)
    return Borne(min(exact), min(near))


def heard_first(heard: NameHypotheses, form: int, forms: Forms) -> bool:
    """Whether the best hypothesis, as it was said, is spelled or sounds like this name."""
    name = _name(form, forms)
    first = [said for said in heard.said if said.literal and said.rank == heard.said[0].rank]
    return any(said.spelled == name.spelled or said.sound == name.sound for said in first)


def signals(heard: NameHypotheses, scored: Sequence[ScoredPayee], forms: Forms, ahead: float) -> tuple[float, ...]:
    """The values of `SIGNALS` for the likeliest payee, `ahead` of the next one (see `lead`).

    That some words were heard exactly speaks against a name of which the others were not: a stranger may share them;
    that all were, for it. In a large book (`book`) a probability already allows for many rivals.
    """
    top = scored[0]
    borne = borne_out(heard, top.evidence.form, forms)
    sure = -log(max(_SUREST, 1.0 - top.probability))
    words, whole = top.evidence.features[_WORDS_EXACT], top.evidence.features[_EXACT_SHARE]
    return (
        *(1.0, sure, ahead, sure * ahead, float(borne.heard > _MOST), borne.nearly),
        *(words, float(words == 1.0 or whole > 0.0), forms.breadth),
    )


def script(scored: Sequence[ScoredPayee], forms: Forms) -> Script:
    """Which names' trust applies to the likeliest payee."""
    return "latin" if forms.words[scored[0].evidence.form].isascii() else "japanese"


def trusted(heard: NameHypotheses, scored: Sequence[ScoredPayee], forms: Forms, ahead: float) -> bool:
    """Whether it is likely enough that the likeliest payee is the one who is meant."""
    fitted = calibration().trust[script(scored, forms)]
    values = zip(SIGNALS, signals(heard, scored, forms, ahead), strict=True)
    return sum([fitted.weights[name] * value for name, value in values]) >= fitted.accept


def _name(form: int, forms: Forms) -> _SoundedForm:
    return _SoundedForm(forms.spelled[form], forms.sounds[form])


def _hypotheses(heard: NameHypotheses) -> list[_Hypothesis]:
    """The hypotheses that have any sayings, best first."""
    ranks: dict[int, list[QueryForm]] = {}
    for said in filter(lambda said: said.literal, heard.said):
        ranks.setdefault(said.rank, []).append(said)
    total = sum([heard.weights[rank] for rank in ranks])
    return [_Hypothesis(heard.weights[rank] / total, tuple(sayings)) for rank, sayings in ranks.items()]
