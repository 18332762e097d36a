"""What was heard, as the strings that are compared with forms: each hypothesis in every reading it may have."""

from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Final, NamedTuple, Protocol

from services.payees import kana, kanji
from services.payees.data import name_rules, nicknames
from services.payees.fold import has_kanji, is_japanese, words
from services.payees.forms import Written, exact_key, keys
from services.payees.namings import MAX_TOKENS, bare, strip_company, untitled

MAX_HYPOTHESES: Final = 8
MAX_CHARACTERS: Final = 120
MAX_SAID: Final = 32
MAX_NICKNAMES: Final = 4
DECAY: Final = 0.7
"""How much less each further hypothesis counts."""


class Book(Protocol):
    """What a customer's book tells of kanji."""

    @property
    def readings(self) -> Mapping[str, tuple[str, ...]]:
        """Readings of a part of a name."""
        ...

    def written(self, kanji: str) -> Written:
        """Stored readings of a whole name."""
        ...


class QueryForm(NamedTuple):
    """One reading of one hypothesis."""

    rank: int
    spelled: str
    sound: str
    key: str
    """The exact key of the words as read."""
    tokens: tuple[str, ...]
    literal: bool
    """Whether these are the words themselves, not a nickname's full form, another order, or one reading of many."""
    wide: bool = True
    """Whether it is worth retrieving by: another order of the same words is not."""
    readings: int = 1
    """How many readings the kanji heard may have; 1 where there were none or the book knows which."""


def strip_honorific(folded: str) -> str:
    """A folded Japanese name without さん, 様 …"""
    for honorific in name_rules().honorifics:
        if folded.endswith(honorific) and len(folded) > len(honorific):
            return folded[: -len(honorific)].rstrip()
    return folded


def written_key(text: str) -> str:
    """A heard Japanese name as the book keeps it written: folded, joined, without its honorific and legal form."""
    return strip_honorific(bare(text)[0]).replace(" ", "")


def latin_words(text: str) -> list[str]:
    """The words of a heard Latin name without titles and a company's legal form."""
    tokens = words(text)[:MAX_TOKENS]
    return strip_company(untitled(tokens))[0]


def _said(
    rank: int, tokens: tuple[str, ...], *, literal: bool = True, wide: bool = True, readings: int = 1
) -> QueryForm:
    each = [keys(token) for token in tokens]
    spelled = "".join([k.spelled for k in each])
    sound = "".join([k.sounds[0] for k in each])
    return QueryForm(rank, spelled, sound, exact_key(tokens), tokens, literal, wide, readings)


def _latin(rank: int, text: str) -> list[QueryForm]:
    tokens = tuple(latin_words(text))
    if not tokens:
        return []
    found = [_said(rank, tokens)]
    if 1 < len(tokens) <= 3:  # noqa: PLR2004 - given, middle, family
        found.append(_said(rank, (*tokens[1:], tokens[0]), literal=False, wide=False))
    folded = [kana.romaji_of_latin(token) for token in tokens]
    if all(folded) and folded != list(tokens):
        found.append(_said(rank, tuple(folded)))
    full = [(name,) if place else (name, *nicknames().get(name, ())) for place, name in enumerate(tokens)]
    others = islice(product(*full), 1, MAX_NICKNAMES + 1)
    found.extend(_said(rank, other, literal=False) for other in others)
    return found


def _japanese(rank: int, text: str, book: Book) -> list[QueryForm]:
    folded = strip_honorific(bare(text)[0])
    if not has_kanji(folded):
        return [_said(rank, tuple(folded.split(" ")))]
    stored, owners = book.written(folded.replace(" ", ""))
    read = kanji.readings(folded, book.readings)
    if stored and not any("".join(parts) in stored for parts in read):
        read = (*((reading,) for reading in stored), *read)
    ours = book.readings.get(folded, ())  # a family or given name as the book writes it is read as the book reads it
    return [
        _said(rank, parts, literal=not stored or known, readings=owners if known else len(ours) if own else len(read))
        for parts in read
        for known, own in (("".join(parts) in stored, "".join(parts) in ours),)
    ]


class NameHypotheses(NamedTuple):
    """All that was heard of one name. `weights[rank]` is how much a hypothesis counts; they sum to 1."""

    said: tuple[QueryForm, ...]
    weights: tuple[float, ...]


def heard(names: Sequence[str], book: Book) -> NameHypotheses:
    """Every reading of every hypothesis (best first); a hypothesis that comes again counts for more."""
    weights: dict[str, float] = {}
    for place, name in enumerate(names[:MAX_HYPOTHESES]):
        text = name[:MAX_CHARACTERS]
        weights[text] = weights.get(text, 0.0) + DECAY**place
    said: list[QueryForm] = []
    for rank, text in enumerate(weights):
        found = _japanese(rank, text, book) if is_japanese(text) else _latin(rank, text)
        said.extend(each for each in found if each.sound)
    total = sum(weights.values()) or 1.0
    return NameHypotheses(tuple(said[:MAX_SAID]), tuple(weight / total for weight in weights.values()))
