"""The corpus' sentences and calls, read and turned into what should happen.

`{words|slot=value}` marks the words of a slot: amount=50 USD, payee=ID, date=2026-01-16, period=FROM/TO, account=ID …
A `?` after a payee means that it is among those to be asked about; `@money=50 USD` is a span that fills no slot, a bare
`@` marks words for the reader alone, and `merchant=*` a slot that is not judged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "sentences"
EXPONENT = {"USD": 2, "GBP": 2, "JPY": 0}
CUSTOMERS = {"en-US": "alex-morgan", "en-GB": "imogen-hartley", "ja-JP": "takahashi-misaki"}
NOW = {"en-US": "2026-01-15T17:00:00Z", "en-GB": "2026-01-15T12:00:00Z", "ja-JP": "2026-01-15T03:00:00Z"}
_MARK = re.compile(r"\{([^|{}]+)\|([^{}]*)\}")
_SPAN_OF = {"amount": "money", "date": "date", "period": "date"}


@dataclass(frozen=True)
class Sentence:
    """Words as they are said, and the expectation of a turn that says them."""

    words: str
    expect: dict[str, Any]


@dataclass(frozen=True)
class Script:
    """One case: `turns` sentences, or a sound without words."""

    id: str
    locale: str
    turns: tuple[Sentence, ...] = ()
    kind: str = "utterance"
    seconds: float = 0.0
    file: str = ""
    tags: dict[str, str] = field(default_factory=dict)


def money(text: str) -> dict[str, Any]:
    """`12.50 USD` in minor units."""
    number, currency = text.split()
    return {"amount_minor": int(Decimal(number).scaleb(EXPONENT[currency])), "currency": currency}


def _value(slot: str, text: str) -> Any:
    if slot in {"amount", "money"}:
        return money(text)
    if slot == "period" and "/" in text:
        start, end = text.split("/")
        return {"start": start, "end": end}
    return text


def _one_of(text: str) -> Any:
    options = [option for option in text.split("|") if option != "-"]
    return None if not options or "-" in text.split("|") else options[0] if len(options) == 1 else options


def sentence(marked: str, intent: str, decision: str) -> Sentence:
    """Read the marks of a sentence."""
    slots: dict[str, Any] = {}
    spans: list[dict[str, Any]] = []
    expect: dict[str, Any] = {"transcript": _MARK.sub(r"\1", marked)}
    judged = True
    for words, mark in _MARK.findall(marked):
        name, _, text = mark.partition("=")
        if name.startswith("@"):
            if text:
                spans.append({"kind": name[1:], "value": _value(name[1:], text), "surface": words})
            continue
        judged = judged and text != "*" and not text.endswith("?")
        if name == "payee":
            expect["payee"] = text.removesuffix("?")
        if text != "*" and not text.endswith("?"):
            slots[name] = _value(name, text)
        if name in _SPAN_OF:
            spans.append({"kind": _SPAN_OF[name], "value": _value(name, text), "surface": words})
    expect |= {key: found for key, found in (("intent", _one_of(intent)), ("decision", _one_of(decision))) if found}
    if slots and judged:
        expect["slots"] = slots
    if spans:
        expect["spans"] = spans
    return Sentence(expect["transcript"], expect)


def utterances() -> Iterator[Script]:
    """Every sentence of the tables, one case each."""
    for table in sorted(FOLDER.glob("*.tsv")):
        rows = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        for number, (intent, decision, marked) in enumerate(rows, 1):
            group = intent.split("|")[0] if intent != "-" else "other"
            tags = {"group": group}
            yield Script(f"{table.stem}/{number:03d}", table.stem, (sentence(marked, intent, decision),), tags=tags)


def calls() -> Iterator[Script]:
    """Every call."""
    for call in yaml.load((FOLDER / "calls.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["calls"]:
        turns = []
        for turn in call["turns"]:
            read = sentence(turn["say"], turn.get("intent", "-"), turn["decision"])
            if "outcome" in turn:
                read.expect["outcome"] = turn["outcome"]
            if "books" in turn:
                number, currency, to = turn["books"].split()
                place = {"to_account": to[1:]} if to.startswith(">") else {"payee": to}
                read.expect["money"] = [money(f"{number} {currency}") | place]
            turns.append(read)
        yield Script(f"call/{call['id']}", call["locale"], tuple(turns), kind="call", tags={"group": "call"})


def sounds() -> Iterator[Script]:
    """Sounds without words."""
    for sound in yaml.load((FOLDER / "sounds.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["sounds"]:
        yield Script(
            f"sound/{sound['id']}",
            sound["locale"],
            kind="sound",
            seconds=sound["seconds"],
            file=sound.get("file", ""),
            tags={"group": "sound"},
        )
