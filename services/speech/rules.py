"""The files of rules/speech: how figures, names and abbreviations are read aloud in a language."""

from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile, load


class Cuts(BaseModel):
    """Where a text may be cut into clauses. `blank`: only where a blank, or the end, follows the mark.

    `lead`: how sentences begin that are cut behind it, and at each of `parts` from there on, if any.
    `within`: where their long values are cut too, where so much of one is before it.
    `openings`: what is said before sentences that begin so, and stands nowhere in them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentence: str
    pause: str
    first: int
    least: int
    blank: bool
    lead: tuple[str, ...] = ()
    parts: str = ""
    within: str = ""
    openings: dict[str, str] = {}


class EnglishSpeech(RuleFile):
    """rules/speech/en.yaml."""

    cuts: Cuts
    ones: tuple[str, ...]
    tens: tuple[str, ...]
    hundred: str
    scales: tuple[tuple[int, str], ...]
    hundred_and: str
    ordinals: dict[str, str]
    minus: str
    point: str
    oh: str
    percent: str
    slash: str
    halves: dict[str, str]
    ending: str
    months: tuple[str, ...]
    month_short: dict[str, int]
    weekday_short: dict[str, str]
    figures_first: dict[str, str]
    dates: dict[str, str]
    digit_cues: tuple[str, ...]
    currencies: dict[str, tuple[str, str, str, str]]
    symbols: dict[str, str]
    small_change: tuple[str, ...]
    money: dict[str, str]
    abbreviations: dict[str, str]
    names: dict[str, str]


class Counter(BaseModel):
    """What is counted: how it reads, and what it becomes with the figures in front of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reading: str
    ends: dict[str, str] = {}
    whole: dict[str, str] = {}


class Again(BaseModel):
    """What is said once more behind `sentences`: amounts of so many figures, in `digits`.

    `pause` stands between two digits, `thousands` before each three, as they are written.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sentences: str
    figures: int
    significant: int
    pause: str
    thousands: str
    said: str


class JapaneseSpeech(RuleFile):
    """rules/speech/ja.yaml."""

    cuts: Cuts
    digits: tuple[str, ...]
    ones: tuple[str, ...]
    tens: tuple[str, ...]
    hundreds: tuple[str, ...]
    thousands: tuple[str, ...]
    one_thousand: str
    scales: tuple[tuple[int, str, str], ...]
    before_scale: dict[str, dict[str, str]]
    scale_pause: str
    zero: str
    zero_point: str
    point: str
    minus: str
    breath: str
    name_pause: str
    group: str
    again: Again
    ending: str
    months: tuple[str, ...]
    days: tuple[str, ...]
    weekdays: dict[str, str]
    hours: tuple[str, ...]
    halves: dict[str, str]
    year: str
    minute: str
    digit_cues: tuple[str, ...]
    digit_pause: str
    counters: dict[str, Counter]
    currencies: dict[str, tuple[str, str]]
    symbols: dict[str, str]
    words: dict[str, str]
    legal_forms: dict[str, str]
    letters: dict[str, str]


@lru_cache(maxsize=1)
def english() -> EnglishSpeech:
    """The rules of English, read once a process. Raises RulesInvalid."""
    return load("speech/en.yaml", EnglishSpeech)


@lru_cache(maxsize=1)
def japanese() -> JapaneseSpeech:
    """The rules of Japanese, read once a process. Raises RulesInvalid."""
    return load("speech/ja.yaml", JapaneseSpeech)


def cuts(lang: str) -> Cuts:
    """Where texts of a language are cut; those without rules of their own as English is."""
    return japanese().cuts if lang == "ja" else english().cuts
