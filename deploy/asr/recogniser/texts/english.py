"""English training text: spoken forms of amounts, digits and names around the templates of en.yaml."""

from __future__ import annotations

import random
import re
import unicodedata
from functools import cache
from pathlib import Path

from recogniser.texts.grammar import Grammar, Rule

HERE = Path(__file__).parent
DICTIONARY = Path("/usr/share/dict/american-english-small")
SAYINGS = Path("/usr/share/games/fortunes")
CLAUSES = r"[.!?;:\"()\[\]]|--|, (?=and|but|or|which|who|that|when|if)"
"""Where a text is parted into what may be said by itself."""
WORDNET = Path("/usr/share/wordnet")
UNSPEAKABLE = ("ascii", "debian", "linux", "computers", "definitions", "perl")
SHORT_WORDS = frozenset("a i is to of in it on my we he be or do as at by an if me so no up us am go".split())
ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
ORDINAL = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz"
NAME_LOCALES = (
    "en_US en_GB en_IN en_IE en_NZ es_ES es_MX fr_FR de_DE it_IT pt_BR pt_PT nl_NL sv_SE no_NO da_DK "
    "fi_FI pl_PL cs_CZ hu_HU ro_RO hr_HR sl_SI tr_TR id_ID fil_PH es_CO en_NG zu_ZA sw ha_NG yo_NG"
).split()
PREFIXES = ("van", "de", "al", "mac", "von", "da", "el", "saint")
TITLES = ("mr ", "mrs ", "ms ", "doctor ", "miss ")
PHONE_GROUPS = ((3, 3, 4), (5, 3, 3), (4, 4), (2, 4, 4), (3, 4))


def number_words(n: int, rng: random.Random | None = None) -> str:
    """Spell n >= 0; with rng the British "and" and "a hundred" come at random."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10] + (f" {ONES[n % 10]}" if n % 10 else "")
    if n < 1000:
        joiner = " and " if rng and rng.random() < 0.5 else " "
        head = "a" if rng and n < 200 and rng.random() < 0.3 else ONES[n // 100]
        return f"{head} hundred" + (joiner + number_words(n % 100) if n % 100 else "")
    size, name = next((s, w) for s, w in ((10**9, "billion"), (10**6, "million"), (1000, "thousand")) if n >= s)
    head = "a" if rng and n // size == 1 and rng.random() < 0.3 else number_words(n // size, rng)
    rest = n % size
    joiner = " and " if rest < 100 and rng and rng.random() < 0.6 else " "
    return f"{head} {name}" + (joiner + number_words(rest, rng) if rest else "")


def ordinal_words(n: int) -> str:
    """Spell n as an ordinal."""
    words = number_words(n).split()
    last = words[-1]
    words[-1] = ORDINAL.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return " ".join(words)


def magnitude(rng: random.Random) -> int:
    """A whole number; small, round and odd ones alike."""
    kind = rng.random()
    if kind < 0.3:
        return rng.randint(1, 99)
    if kind < 0.55:
        return rng.randint(1, 999)
    if kind < 0.7:
        return rng.randint(1, 99) * rng.choice((10, 100, 1000))
    if kind < 0.85:
        return rng.randint(1000, 9999)
    if kind < 0.95:
        return rng.randint(1, 999) * 1000 + rng.choice((0, 0, rng.randint(1, 999)))
    return rng.randint(1, 9) * 10**6 + rng.choice((0, rng.randint(0, 999) * 1000))


def cardinal(rng: random.Random) -> str:
    """A whole number in one of its spoken forms."""
    n = magnitude(rng)
    if 1000 < n < 10000 and rng.random() < 0.3 and n % 1000 >= 100:
        return hundreds(n, rng)
    if 100 < n < 1000 and n % 100 >= 10 and rng.random() < 0.2:
        return f"{ONES[n // 100]} {number_words(n % 100)}"
    return number_words(n, rng)


def hundreds(n: int, rng: random.Random) -> str:
    """1,250 as "twelve hundred fifty" or "twelve fifty"."""
    head, rest = number_words(n // 100), n % 100
    if not rest:
        return f"{head} hundred"
    if rest >= 10 and rng.random() < 0.5:
        return f"{head} {number_words(rest)}"
    return f"{head} hundred {'and ' if rng.random() < 0.5 else ''}{number_words(rest)}"


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


def percent(rng: random.Random) -> str:
    """A percentage."""
    tail = " ".join(rng.choice(ONES[:10]) for _ in range(rng.randint(1, 2)))
    return f"{number_words(rng.randint(0, 100))}{f' point {tail}' if rng.random() < 0.6 else ''} percent"


def digits_of(length: int, rng: random.Random) -> str:
    """A digit string with "oh", "double" and "triple" as people say them."""
    zero = rng.choice(("zero", "zero", "oh", "oh", "oh"))
    multiply = rng.random() < 0.35
    digits = [rng.randint(0, 9) for _ in range(length)]
    for i in range(1, length):
        if rng.random() < 0.15:
            digits[i] = digits[i - 1]
    words, i = [], 0
    while i < length:
        run = 1
        while run < 3 and i + run < length and digits[i + run] == digits[i]:
            run += 1
        word = ONES[digits[i]] if digits[i] else zero
        words += [("double", "triple")[run - 2], word] if multiply and run > 1 else [word] * run
        i += run
    return " ".join(words)


def digits(rng: random.Random) -> str:
    """Account, card or reference digits, singly or in pairs."""
    if rng.random() < 0.15:
        return " ".join(number_words(rng.randint(10, 99)) for _ in range(rng.randint(1, 4)))
    return digits_of(rng.choice((2, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 8, 9, 10)), rng)


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


def year(rng: random.Random) -> str:
    """A year as spoken."""
    n = rng.randint(1930, 2039)
    if n < 2000:
        low = n % 100
        return f"nineteen {'oh ' if low < 10 else ''}{number_words(low)}"
    if n < 2010 or rng.random() < 0.3:
        return "two thousand" + (f"{rng.choice((' and', ''))} {number_words(n - 2000)}" if n > 2000 else "")
    return f"twenty {number_words(n - 2000)}"


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


@cache
def vocabulary() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(common words, the wider dictionary), both lower-case."""
    from faker.providers.lorem.en_US import Provider

    common = sorted({w for w in Provider.word_list if re.fullmatch("[a-z]+", w)})
    wide = [w for w in DICTIONARY.read_text(encoding="utf-8").split("\n") if re.fullmatch("[a-z]{3,11}", w)]
    return tuple(common), tuple(wide)


def word(rng: random.Random) -> str:
    """A word, half of the time a common one."""
    common, wide = vocabulary()
    return rng.choice(common) if rng.random() < 0.5 else rng.choice(wide)


@cache
def known_words() -> frozenset[str]:
    """What a natural sentence may consist of: dictionary words, with their apostrophes."""
    wide = {w for w in DICTIONARY.read_text(encoding="utf-8").lower().split() if "'" in w}
    return frozenset({w for words in vocabulary() for w in words} | SHORT_WORDS | wide)


def sentences_among(parts: list[str]) -> set[str]:
    """Those of 2 to 14 words, without numerals."""
    out: set[str] = set()
    for part in parts:
        words = re.sub(r"[^a-z' ]", " ", part.lower()).replace(" '", " ").replace("' ", " ").split()
        if 2 <= len(words) <= 14 and not re.search(r"\d", part):
            out.add(" ".join(words))
    return out


@cache
def sentences() -> tuple[str, ...]:
    """Natural sentences out of Debian's collection of sayings."""
    out: set[str] = set()
    for path in sorted(SAYINGS.iterdir()):
        if path.suffix or path.name.startswith(UNSPEAKABLE):
            continue
        text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8", errors="ignore").replace("\n%\n", " . "))
        out |= sentences_among(re.split(CLAUSES, text))
    return tuple(sorted(text for text in out if known_words().issuperset(text.split())))


@cache
def glosses() -> tuple[str, ...]:
    """What WordNet says of each meaning: what it is, then examples between quotation marks."""
    texts = [(WORDNET / f"data.{part}").read_text(encoding="utf-8") for part in ("noun", "verb", "adj", "adv")]
    return tuple(line.partition("|")[2] for text in texts for line in text.splitlines() if not line.startswith("  "))


@cache
def examples() -> tuple[str, ...]:
    """Natural sentences out of WordNet's examples of how words are used, without abbreviations and other scripts."""
    found = [part for gloss in glosses() for part in re.findall(r'"([a-zA-Z \',-]+)[.!?]?"', gloss)]
    return tuple(sorted(sentences_among(found)))


@cache
def definitions() -> tuple[str, ...]:
    """Plain English out of WordNet's definitions: nearly every word that there is, among others."""
    told = (re.sub(r'"[^"]*"|\([^)]*\)', "", gloss) for gloss in glosses())
    return tuple(sorted(sentences_among([part for gloss in told for part in re.split(CLAUSES, gloss)])))


def phone(rng: random.Random) -> str:
    """A telephone number in groups."""
    return " ".join(digits_of(n, rng) for n in rng.choice(PHONE_GROUPS))


def between(low: int, high: int) -> Rule:
    """A rule that spells a number of a range."""
    return lambda rng: number_words(rng.randint(low, high))


@cache
def grammar() -> Grammar:
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
        "digit": lambda rng: digits_of(1, rng),
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
    return Grammar(HERE / "en.yaml", rules)


def clean(text: str) -> str:
    """One space between words, nothing but a-z and apostrophes."""
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower()).split())
