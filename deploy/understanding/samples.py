"""What the learned reader learns from: people's first sentences with their families, and made ones beside them.

A sentence of `APART` files whose number is divisible by three is kept apart, and of the orchard every one.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from deploy.bench._lines import unpacked
from deploy.bench.cases.negatives import negatives, sentences
from services.understanding.learned.reader import FAMILIES

ROOT: Final = Path(__file__).parents[2]
PEOPLE: Final = ROOT.parent / "shared" / "people-cases"
DATA: Final = ROOT / "tests" / "data"
APART: Final = frozenset({"en_garden", "en_library", "ja_garden", "ja_pantry2"})
UNSEEN: Final = frozenset({"en_orchard", "ja_orchard"})
NONE: Final = "none"
SEED: Final = 20_261_127
_KINDS: Final = {
    **dict.fromkeys(("send", "own", "amount", "payee", "which", "source"), "transfer_money"),
    "bill": "bill_payment",
    "due": "bill_inquiry",
    "balance": "balance_inquiry",
    "bye": "farewell",
    "transactions": "recent_transactions",
    "lock": "card_lock",
    "unlock": "card_unlock",
    "person": "human_handoff",
    "none": NONE,
    "held": NONE,
}
_INTENTS: Final = frozenset(FAMILIES)
_GAP: Final = re.compile(r"\{(\w+)\}")
_NEVER_EACH: Final = 6
_MADE_EACH: Final = {"en": 6, "ja": 9}
_ELSEWHERE: Final = 8
"""Of sentences that speak of nothing like a bank, one in so many is learned from."""
_LED: Final = 0.45
"""Of made sentences, so many have something before them; of these so many something more; and so many an ending."""
_LED_TWICE: Final = 0.2
_ENDED: Final = 0.35
_FILLED: Final = {"amount": "fifty dollars", "payee": "Emily", "source": "savings"}


@dataclass(frozen=True, slots=True)
class TrainingSentence:
    """A sentence, the families that are right for it (none: `{"none"}`), and where it is from.

    `doubted` families are neither right nor wrong for it.
    """

    text: str
    language: str
    families: frozenset[str]
    source: str
    apart: bool = False
    doubted: frozenset[str] = frozenset()


def samples(language: str) -> list[TrainingSentence]:
    """Every sentence of a language, no text twice, those kept apart first."""
    readers = _english if language == "en" else _japanese
    kept: dict[str, TrainingSentence] = {}
    every = [*_callers(language), *readers(), *_labelled(language), *_never(language), *_made(language)]
    for sample in sorted(every, key=lambda each: not each.apart):
        kept.setdefault(sample.text.casefold(), sample)
    return list(kept.values())


def _callers(language: str) -> Iterator[TrainingSentence]:
    for path in sorted((DATA / "callers").glob(f"{language}*.yaml*")):
        data, name = yaml.load(unpacked(path), yaml.CSafeLoader), path.name.partition(".")[0]
        rows = _english_rows(data) if language == "en" else _japanese_rows(data)
        for number, (text, families) in enumerate(rows):
            apart = name in UNSEEN or (name in APART and number % 3 == 0)
            if families:
                yield TrainingSentence(text, language, families - {NONE} or families, name, apart)


def _english_rows(data: dict[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    for group in data["groups"]:
        if "after" in group:
            continue
        for line in group["lines"].splitlines():
            text, _, right = line.partition(" => ")
            yield text, frozenset(_KINDS[r.split()[0]] for r in right.split("|") if r.split()[0] in _KINDS)


def _japanese_rows(data: dict[str, Any]) -> Iterator[tuple[str, frozenset[str]]]:
    said = data.get("said", {})
    kinds = said.values() if all(isinstance(each, dict) for each in said.values()) else [said]
    for kind in kinds:
        for intent, lines in kind.items():
            for line in lines.splitlines():
                yield line.partition(" => ")[0], _families(intent.split("|"))
    for line in data.get("traps", "").splitlines():
        yield line, frozenset({NONE})


def _families(intents: list[str]) -> frozenset[str]:
    found = {NONE if intent in {"qna", "other"} else intent for intent in intents}
    return frozenset(found & (_INTENTS | {NONE}))


def _labelled(language: str) -> Iterator[TrainingSentence]:
    data = yaml.load((DATA / "understanding" / f"{language}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    for label, lines in data["sentences"].items():
        families = _families(label.split("|"))
        for line in lines.splitlines() if families else ():
            yield TrainingSentence(line.partition(" => ")[0], language, families, "understanding")


def _never(language: str) -> Iterator[TrainingSentence]:
    for _, text in sentences(negatives(DATA / "never" / f"{language}.yaml"), _NEVER_EACH):
        yield TrainingSentence(
            text, language, frozenset({NONE}), "never", doubted=_INTENTS - {"transfer_money", "bill_payment"}
        )


def _rows(name: str) -> Iterator[dict[str, Any]]:
    path = PEOPLE / f"{name}.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        yield json.loads(line)


def _english() -> Iterator[TrainingSentence]:
    for row in _rows("wanted"):
        accept = [a for a in row["accept"] if a != "help"]
        if (families := _families(accept)) and len(families) == len(accept):
            yield TrainingSentence(row["text"], "en", families - {NONE} or families, "wanted")
        elif not families:
            yield TrainingSentence(row["text"], "en", frozenset({NONE}), "wanted", doubted=frozenset({"farewell"}))
    for row in _rows("sgd_dialogues"):
        yield from _openings(row)
    for name, each in (("never_moves_about_transfers", 2), ("never_moves_elsewhere", _ELSEWHERE)):
        for row in [*_rows(name)][::each]:
            if not row["locale"].startswith("ja"):
                others = _INTENTS - {"transfer_money", "bill_payment"} if _told(row["text"]) else frozenset()
                yield TrainingSentence(row["text"], "en", frozenset({NONE}), name, doubted=others)


_CUES: Final = re.compile(
    r"\b(balance|freeze|block|lost|stolen|lock|unlock|transactions?|activity|spen[dt]|purchases|agent|human|person"
    r"|representative|bye|how much|card|paid|due|account)\b",
    re.IGNORECASE,
)


def _told(text: str) -> bool:
    """Whether a sentence that moves nothing may ask for something that is only told, or for a card."""
    return bool(_CUES.search(text))


def _openings(row: dict[str, Any]) -> Iterator[TrainingSentence]:
    families = {"balance": "balance_inquiry", "transfer": "transfer_money"}
    for task in row.get("tasks", ()):
        family = families.get(task["task"])
        text = _GAP.sub(lambda gap: _FILLED.get(gap[1], gap[1]), task.get("open", {}).get("text", ""))
        if family and text:
            yield TrainingSentence(text, "en", frozenset({family}), "sgd")


def _japanese() -> Iterator[TrainingSentence]:
    for row in _rows("ja_said"):
        intents = ["other"] if row["must_not_move"] else [i for i in row["expected_intents"] if i != "recipient_lookup"]
        if families := _families(intents):
            yield TrainingSentence(row["text"], "ja", families, "ja_said")


def _made(language: str) -> Iterator[TrainingSentence]:
    """Sentences of parts: each pattern filled at random, with what people say before and behind."""
    data = yaml.load((Path(__file__).parent / f"said_{language}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    chance = np.random.default_rng(SEED)
    between = " " if language == "en" else ""

    def one(words: list[str]) -> str:
        return str(words[int(chance.integers(len(words)))])

    for family, patterns in data["patterns"].items():
        for pattern in patterns:
            for _ in range(_MADE_EACH[language]):
                core = _GAP.sub(lambda gap: one(data["words"][gap[1]]), pattern)
                lead = one(data["leads"]) if chance.random() < _LED else ""
                again = one(data["leads"]) if lead and chance.random() < _LED_TWICE else ""
                end = one(data["ends"]) if chance.random() < _ENDED and (family != NONE or language == "en") else ""
                text = between.join(part for part in (lead, again, core, end) if part)
                yield TrainingSentence(text, language, frozenset({family}), "made")
