"""From what was heard to figures: error rates, exact amounts and digits, commands where there were none."""

import statistics
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import jiwer

from app.qa.figures import Figure
from schemas.transcript import Hypothesis

EXACT_CATEGORIES: Final = frozenset({"amount", "digits"})
MONEY_WORDS: Final = {
    "en": ("send", "transfer", "pay", "wire", "remit", "forward"),
    "ja": ("振り込", "振込", "送金", "送って", "払って", "支払"),
}
"""Words that open a command which moves money; out-of-domain speech must not become one."""
OUT_OF_DOMAIN: Final = frozenset({"everyday", "sentence", "words"})
"""Categories that have nothing to do with a bank; what people read aloud for other corpora has neither."""
UNSPELLABLE: Final = frozenset({"name", "sentence", "words"})
"""Categories of names alone, sayings and random words, which nobody can spell by ear."""
PROMPTED: Final = "an4"
DIGITS: Final = frozenset(
    [
        "zero",
        "oh",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "〇",
        "一",
        "二",
        "三",
        "四",
        "五",
        "六",
        "七",
        "八",
        "九",
    ]
)
LETTERS: Final = frozenset(string.ascii_lowercase) - {"a", "i", "o"}
"""Words that are a spelled letter and nothing else."""
GOALS: Final = {
    "en_held_out_clean_wer_percent": 6.0, "en_held_out_phone_wer_percent": 12.0, "ja_held_out_clean_cer_percent": 6.0,
    "ja_held_out_phone_cer_percent": 12.0, "en_letters_digits_people_wer_percent": 25.0, "phantom_files_with_words": 0,
    "noise_files_with_words": 0, "out_of_domain_commands_per_200": 1.0, "weights_mb": 40.0,
}  # fmt: skip
"""At most."""
LEAST: Final = {
    "en_amounts_digits_exact_percent": 92.0, "ja_amounts_digits_exact_percent": 92.0,
    "en_people_digit_words_right_percent": 80.0, "times_faster_than_tiny_30s_window": 12.0,
    "times_faster_than_tiny_5s_window": 2.0, "held_out_utterances": 1_000,
}  # fmt: skip
"""At least."""


@dataclass(frozen=True, slots=True)
class SpokenCase:
    """One recording and what is said in it."""

    path: Path
    text: str
    lang: str
    voice: str
    category: str


@dataclass(frozen=True, slots=True)
class Recognition:
    """What came out in one condition."""

    case: SpokenCase
    condition: str
    text: str
    decode_ms: float
    hypotheses: tuple[Hypothesis, ...] = ()


def error_rate(pairs: Iterable[tuple[str, str]], lang: str) -> float:
    """Percent of words (of characters in Japanese) that are wrong, over all pairs of reference and hypothesis."""
    references, hypotheses = zip(*pairs, strict=True)
    rate = jiwer.cer if lang == "ja" else jiwer.wer
    return 100 * float(rate(list(references), list(hypotheses)))


def scores(heard: Sequence[Recognition], commands: Callable[[str, str], bool]) -> dict[str, Figure]:
    """Every figure that transcripts alone give; for `commands` see `commands_heard`."""
    return rates(heard) | people(heard) | exact(heard) | single_digits(heard) | commands_heard(heard, commands)


def missed(figures: Mapping[str, Figure]) -> list[str]:
    """Names of the figures that are there and don't reach their goal."""
    over = [name for name, most in GOALS.items() if isinstance(f := figures.get(name), int | float) and f > most]
    return over + [
        name for name, least in LEAST.items() if isinstance(f := figures.get(name), int | float) and f < least
    ]


def group(voice: str) -> str:
    """`held_out`, `human` or `moved`: what kind of test a voice is."""
    return {"human": "human", "moved": "moved"}.get(voice.partition(":")[0], "held_out")


def rates(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """Error rates by language and condition, whole and without what can't be spelled; by voice; by category, clean."""
    groups: dict[str, list[Recognition]] = defaultdict(list)
    for h in heard:
        kind = group(h.case.voice)
        groups[f"{h.case.lang}_{kind}_{h.condition}"].append(h)
        if kind == "held_out" and h.case.category not in UNSPELLABLE:
            groups[f"{h.case.lang}_spellable_{h.condition}"].append(h)
        voice = f"{h.case.lang}_voice_{h.case.voice.replace(':', '_').replace('-', '_')}"
        groups[voice if h.condition == "clean" else f"{voice}_{h.condition}"].append(h)
        if kind == "held_out" and h.condition == "clean":
            groups[f"{h.case.lang}_category_{h.case.category}"].append(h)
    flat: dict[str, Figure] = {}
    for name, members in sorted(groups.items()):
        unit = "cer" if members[0].case.lang == "ja" else "wer"
        flat[f"{name}_{unit}_percent"] = error_rate(((m.case.text, m.text) for m in members), members[0].case.lang)
        flat[f"{name}_utterances"] = len(members)
    clean = [h for h in heard if h.condition == "clean"]
    flat["held_out_utterances"] = sum(group(h.case.voice) == "held_out" for h in clean)
    return flat


def people(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """Clean error rates of held-out people: AN4's letters and digits, all of Common Voice."""
    flat: dict[str, Figure] = {}
    for lang, corpus, name in (
        ("en", "an4", "en_letters_digits_people_wer_percent"),
        ("en", "commonvoice", "en_common_voice_wer_percent"),
        ("ja", "commonvoice", "ja_common_voice_cer_percent"),
    ):
        chosen = [
            (h.case.text, h.text)
            for h in heard
            if h.condition == "clean" and h.case.lang == lang and h.case.voice.startswith(f"human:{corpus}")
        ]
        if chosen:
            flat[name] = error_rate(chosen, lang)
    spoken, right = _digit_words([h for h in heard if h.condition == "clean" and h.case.voice.startswith("human:")])
    if spoken:
        flat |= {"en_people_digit_words": spoken, "en_people_digit_words_right_percent": 100 * right / spoken}
    return flat


def _digit_words(heard: Sequence[Recognition]) -> tuple[int, int]:
    """(digits said, digits heard right in their place) in English."""
    spoken = right = 0
    for h in heard:
        words = h.case.text.split()
        spoken += sum(w in DIGITS for w in words) * (h.case.lang == "en")
        if h.case.lang == "en" and h.text:
            for chunk in jiwer.process_words(h.case.text, h.text).alignments[0]:
                if chunk.type == "equal":
                    right += sum(w in DIGITS for w in words[chunk.ref_start_idx : chunk.ref_end_idx])
    return spoken, right


def single_digits(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """Utterances of one digit alone that were heard right, clean, by language and kind of voice."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for h in heard:
        if h.condition == "clean" and h.case.text in DIGITS:
            groups[f"{h.case.lang}_{group(h.case.voice)}_single_digits"].append(h.text == h.case.text)
    flat: dict[str, Figure] = {name: len(found) for name, found in groups.items()}
    return flat | {f"{name}_right_percent": 100 * statistics.fmean(found) for name, found in groups.items()}


def exact(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """Share of amounts and digits heard without any error, clean, by language; English without spelled letters too."""
    flat: dict[str, Figure] = {}
    for lang in ("en", "ja"):
        chosen = [
            h
            for h in heard
            if h.condition == "clean" and h.case.lang == lang and h.case.category in EXACT_CATEGORIES
            and group(h.case.voice) == "held_out"
        ]  # fmt: skip
        if chosen:
            flat[f"{lang}_amounts_digits_exact_percent"] = _right(chosen)
        unspelled = [h for h in chosen if not LETTERS.intersection(h.case.text.split())]
        if lang == "en" and unspelled:
            flat["en_amounts_digits_unspelled"] = len(unspelled)
            flat["en_amounts_digits_unspelled_exact_percent"] = _right(unspelled)
    return flat


def _right(heard: Sequence[Recognition]) -> float:
    """Percent without any error."""
    return 100 * statistics.fmean(h.text == h.case.text for h in heard)


def commands_heard(heard: Sequence[Recognition], commands: Callable[[str, str], bool]) -> dict[str, Figure]:
    """Out-of-domain speech that was heard as a command to move money, and as a word that opens one.

    `commands(text, language)` tells whether the service would take the text as such a command, complete or begun.
    """
    outside = [h for h in heard if _outside(h.case)]
    if not outside:
        return {}
    opened = sum(_moves(h.text, h.case.lang) and not _moves(h.case.text, h.case.lang) for h in outside)
    taken = sum(commands(h.text, h.case.lang) for h in outside if h.text)
    return {
        "out_of_domain_utterances": len(outside),
        "out_of_domain_commands": taken,
        "out_of_domain_commands_per_200": 200 * taken / len(outside),
        "out_of_domain_first_words": opened,
    }


def _outside(case: SpokenCase) -> bool:
    return case.category in OUT_OF_DOMAIN or (group(case.voice) == "human" and case.category != PROMPTED)


def _moves(text: str, lang: str) -> bool:
    return any(text.startswith(w) if lang == "en" else w in text for w in MONEY_WORDS[lang])
