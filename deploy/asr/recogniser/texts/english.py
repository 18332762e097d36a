"""English training text: spoken forms of amounts, digits and names around the templates of en.yaml."""

from __future__ import annotations

import random
import re
import unicodedata
from functools import cache
from pathlib import Path

from recogniser.texts.english_numbers import (
    ONES,
    between,
    cardinal,
    digits,
    digits_of,
    number_words,
    ordinal_words,
    percent,
    year,
)
from recogniser.texts.english_sentences import definitions, examples, sentences, vocabulary, word
from recogniser.texts.grammar import Rule, TextGrammar

HERE = Path(__file__).parent
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAME_LOCALES = (
    "en_US en_GB en_IN en_IE en_NZ es_ES es_MX fr_FR de_DE it_IT pt_BR pt_PT nl_NL sv_SE no_NO da_DK "
    "fi_FI pl_PL cs_CZ hu_HU ro_RO hr_HR sl_SI tr_TR id_ID fil_PH es_CO en_NG zu_ZA sw ha_NG yo_NG"
).split()
PREFIXES = ("van", "de", "al", "mac", "von", "da", "el", "saint")
TITLES = ("mr ", "mrs ", "ms ", "doctor ", "miss ")
PHONE_GROUPS = ((3, 3, 4), (5, 3, 3), (4, 4), (2, 4, 4), (3, 4))


def amount(rng: random.Random) -> str:
    """Money in one of the forms that callers use."""
    kind, g = rng.random(), grammar()
    plural = g.expand("{currency}", rng)
    if kind < 0.1:
        return g.expand("{colloquial}", rng)
    if kind < 0.3:
        return with_cents(plural, rng)
    if kind < 0.38:
        return cardinal(rng)
    if kind < 0.43:
        size = rng.choice(("million", "thousand", "billion"))
        return f"{number_words(rng.randint(1, 99))} point {ONES[rng.randint(1, 9)]} {size} {plural}"
    text = cardinal(rng)
    return g.expand("one {single}", rng) if text == "one" else f"{text} {plural}"


def with_cents(plural: str, rng: random.Random) -> str:
    """An amount with a minor unit."""
    whole, cents = number_words(rng.randint(2, 400), rng), rng.randint(1, 99)
    minor, spoken = rng.choice(("cents", "cents", "pence", "p")), number_words(cents)
    point = " ".join(ONES[int(d)] for d in f"{cents:02d}")
    return rng.choice(
        (
            f"{whole} {plural} and {spoken} {minor}",
            f"{whole} {plural} {spoken}",
            f"{whole} {spoken}",
            f"{whole} point {point} {plural}",
            f"{whole} {plural} {spoken} {minor}",
            f"{whole} and {spoken} {minor}",
        )
    )


def spelled(word: str) -> str:
    """Letters of a word, one by one."""
    return " ".join(re.sub(r"[^a-z]", "", word))


def letters(rng: random.Random, most: int = 7) -> str:
    """One to `most` random letters."""
    return " ".join(rng.choice(LETTERS) for _ in range(rng.randint(1, most)))


def alnum(rng: random.Random) -> str:
    """Letters and digits mixed, as in references."""
    left, right = letters(rng, 4), digits_of(rng.randint(1, 4), rng)
    return f"{left} {right}" if rng.random() < 0.7 else f"{right} {left}"


def postcode(rng: random.Random) -> str:
    """A British postcode."""
    return f"{letters(rng, 2)} {number_words(rng.randint(1, 20))} {digits_of(1, rng)} {letters(rng, 2)}"


def fulldate(rng: random.Random) -> str:
    """A date with its year."""
    return f"{grammar().expand('{month}', rng)} {ordinal_words(rng.randint(1, 31))} {year(rng)}"


def plain(text: str) -> str:
    """Lower-case ASCII letters of a name."""
    folded = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ł", "l").replace("ı", "i"))
    return re.sub(r"[^a-z' ]", "", folded.encode("ascii", "ignore").decode().lower().replace("-", " ")).strip()


@cache
def people() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(given names, family names) of many cultures."""
    from faker import Faker

    first: set[str] = set(grammar().words["asian_names"])
    last: set[str] = set(first)
    for locale in NAME_LOCALES:
        try:
            fake = Faker(locale)
        except (AttributeError, ModuleNotFoundError):
            continue
        Faker.seed(7)
        first |= {plain(fake.first_name()) for _ in range(400)}
        last |= {plain(fake.last_name()) for _ in range(400)}
    return names_among(first), names_among(last)


def names_among(found: set[str]) -> tuple[str, ...]:
    """Single words of 2 to 14 letters, sorted."""
    return tuple(sorted(n for n in found if 2 <= len(n) <= 14 and re.fullmatch("[a-z']+", n)))


def name(rng: random.Random) -> str:
    """A given name."""
    return rng.choice(people()[0])


def surname(rng: random.Random) -> str:
    """A family name, now and then with a prefix."""
    last = rng.choice(people()[1])
    return f"{rng.choice(PREFIXES)} {last}" if rng.random() < 0.03 else last


def fullname(rng: random.Random) -> str:
    """Given and family name, with an initial or a title now and then."""
    middle = f" {rng.choice(LETTERS)}" if rng.random() < 0.03 else ""
    title = rng.choice(TITLES) if rng.random() < 0.08 else ""
    return f"{title}{name(rng)}{middle} {surname(rng)}"


def company(rng: random.Random) -> str:
    """A company name: invented, from names, words and trades."""
    kind, trade = rng.random(), rng.choice(grammar().words["company_suffix"])
    if kind < 0.1:
        return f"{surname(rng)} and {surname(rng)}"
    if kind < 0.35:
        return f"{surname(rng)} {trade}"
    if kind < 0.65:
        return f"{word(rng)} {trade}"
    return f"{word(rng)} {word(rng)} {trade}" if kind < 0.85 else f"{name(rng)}'s {trade}"


def payee(rng: random.Random) -> str:
    """Whom money goes to."""
    kind = rng.random()
    if kind < 0.35:
        return fullname(rng)
    return name(rng) if kind < 0.65 else company(rng) if kind < 0.8 else grammar().expand("{relation}", rng)


def polite(rng: random.Random) -> str:
    """What comes before a command: an opening, a filler or nothing."""
    kind = rng.random()
    return grammar().expand("{opener}" if kind < 0.45 else "{filler}" if kind < 0.56 else "", rng)


def phone(rng: random.Random) -> str:
    """A telephone number in groups."""
    return " ".join(digits_of(n, rng) for n in rng.choice(PHONE_GROUPS))


@cache
def grammar() -> TextGrammar:
    """The English grammar with all its rules."""
    named = (
        amount, cardinal, percent, digits, letters, alnum, postcode, fulldate, name, surname, fullname, company, word,
        phone, polite, payee,
    )  # fmt: skip
    rules: dict[str, Rule] = {rule.__name__: rule for rule in named} | {
        "letter": lambda rng: rng.choice(LETTERS),
        "ordinal": lambda rng: ordinal_words(rng.randint(1, 100)),
        "nth": lambda rng: ordinal_words(rng.randint(1, 31)),
        "digit1": lambda rng: digits_of(1, rng),
        "digits4": lambda rng: digits_of(4, rng),
        "digitname": between(1, 9),
        "hour": between(1, 12),
        "minutes": between(10, 59),
        "dayno": between(1, 29),
        "some": between(2, 30),
        "small": between(2, 20),
        "rareword": lambda rng: rng.choice(vocabulary()[1]),
        "sentence": lambda rng: rng.choice(sentences()),
        "example": lambda rng: rng.choice(examples()),
        "definition": lambda rng: rng.choice(definitions()),
        "spell": lambda rng: spelled(name(rng)),
        "natospell": lambda rng: grammar().expand("{nato} " * rng.randint(2, 4), rng),
        "thing2": lambda rng: re.sub(r"^(the|a|an|my) ", "", grammar().expand("{thing}", rng)),
    }
    return TextGrammar(HERE / "en.yaml", rules)


def clean(text: str) -> str:
    """One space between words, nothing but a-z and apostrophes."""
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower()).split())
