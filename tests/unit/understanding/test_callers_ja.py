"""Japanese callers of many kinds: sentence endings, traps, people by nickname, bank and relationship."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.bench.cases.labelled import filled
from schemas.decision import Confirm
from schemas.intent import Route
from tests.harness.callers import Caller, came_out, written

ROOT = Path(__file__).parents[3]
DATA, KINDS = written("ja"), written("ja_kinds")
WHOLE, MORE, VOICES, STRANGERS, PASSERS, LIBRARY, GARDEN, PANTRY, LARDER, ATTIC, LOFT = (
    written(f"ja_{name}")
    for name in (
        *("whole", "more", "voices", "strangers", "passers", "library"),
        *("garden", "pantry", "pantry2", "attic", "attic2"),
    )
)
PEOPLE = ROOT.parent / "shared" / "people-cases" / "ja_said.jsonl"
MONEY = {"balance", "transactions", "transfer", "own", "bill_pay", "ending_transfer_money", "ending_balance_inquiry"}
SLOTS = {"transfer": {"amount": "50000", "payee": "tanaka"}, "balance": {}, "lock": {"card": "misaki-debit"}}


@pytest.fixture(scope="module")
def caller() -> Caller:
    return Caller()


def endings() -> Iterator[tuple[str, str]]:
    for name, core in DATA["cores"].items():
        for ending in DATA["endings"]:
            before = core["before"].removesuffix("を") if ending.startswith("{noun}") else core["before"]
            yield name, before + ending.format(**core)


def test_sentences_end_in_many_ways(caller: Caller) -> None:
    said = list(endings())
    assert len(said) == len(DATA["cores"]) * len(DATA["endings"]) >= 120
    wrong = []
    for name, text in said:
        heard, _ = caller.says(text)
        meant = heard.intent.value if heard.intent else ""
        right = heard.route is Route.FAST and meant == DATA["cores"][name]["intent"]
        if not right or not SLOTS[name].items() <= filled(heard.slots, "JPY").items():
            wrong.append(text)
    assert len(wrong) <= 0.05 * len(said), wrong


def test_nothing_moves_that_was_not_asked_for(caller: Caller) -> None:
    traps = [
        line
        for each in (DATA, KINDS, WHOLE, MORE, VOICES, STRANGERS, PASSERS, GARDEN, PANTRY, LARDER, ATTIC, LOFT)
        for line in each["traps"].splitlines()
    ]
    assert len(traps) >= 447
    assert [text for text in traps if isinstance(caller.says(text)[1], Confirm)] == []


@pytest.mark.parametrize(
    ("said", "payee"),
    [
        ("健ちゃんに三千円送って", "kobayashi"),
        ("けんちゃんに三千円送って", "kobayashi"),
        ("佐藤健さんに三千円送って", "sato-ken"),
        ("三井住友の佐藤さんに三千円送って", "sato-ken"),
        ("ゆうちょの佐藤さんに三千円送って", "sato-hanako"),
        ("北斗銀行の伊藤誠さんに三千円送って", "ito-hokuto"),
        ("伊藤さんの北斗銀行の口座に三千円送って", "ito-hokuto"),
        ("母のみずほの口座に三千円送って", "mother"),
        ("友達の佐藤さんに三千円送って", "sato-ken"),
        ("おかんに三千円送って", "mother"),
        ("佐藤さんに三千円送って", "?"),
        ("伊藤誠さんに三千円送って", "?"),
        ("三井住友の田中さんに三千円送って", "?"),
        ("北斗の渡辺さんに三千円送って", "?"),
    ],
)
def test_whom_a_caller_means(caller: Caller, said: str, payee: str) -> None:
    assert caller.payee(said) == payee


def test_a_name_is_told_back_without_the_words_around_it(caller: Caller) -> None:
    for said in (
        "PayPayみたいに髙梨さんに三千円送って",
        "前と同じように髙梨さんに三千円送って",
        "25日付で髙梨さんに三千円送って",
    ):
        heard, _ = caller.says(said)
        assert heard.payees is None or heard.payees.heard == "髙梨", said


def test_callers_of_many_kinds_are_understood(caller: Caller) -> None:
    wrong, size = [], 0
    for intent, lines in DATA["said"].items():
        for line in lines.splitlines():
            text, _, given = line.partition(" => ")
            size += 1
            if not came_out(caller, text, {intent}, dict(pair.split("=") for pair in given.split())):
                wrong.append(text)
    assert size >= 200
    assert len(wrong) <= 0.12 * size, wrong


def test_callers_of_every_kind_are_understood(caller: Caller) -> None:
    right, size = Counter[str](), Counter[str]()
    for kind, intents in KINDS["said"].items():
        for intent, lines in intents.items():
            for text, _, given in (line.partition(" => ") for line in lines.splitlines()):
                size[kind] += 1
                right[kind] += came_out(caller, text, {intent}, dict(pair.split("=") for pair in given.split()))
    assert size.total() >= 350
    assert right.total() >= 0.88 * size.total(), {kind: (right[kind], size[kind]) for kind in size}
    assert all(right[kind] >= 0.7 * size[kind] for kind in size), {kind: (right[kind], size[kind]) for kind in size}


@pytest.mark.parametrize(
    ("said", "least", "share"),
    [
        (WHOLE, 200, 0.84),
        (MORE, 70, 0.6),
        (VOICES, 160, 0.86),
        (STRANGERS, 200, 0.92),
        (PASSERS, 60, 0.76),
        (LIBRARY, 180, 0.83),
        (GARDEN, 130, 0.84),
        (PANTRY, 65, 0.76),
        (LARDER, 65, 0.55),
        (ATTIC, 115, 0.87),
        (LOFT, 45, 0.93),
    ],
)
def test_whole_sentences_are_understood(caller: Caller, said: dict[str, Any], least: int, share: float) -> None:
    lines = [
        (intent, line) for kind in said["said"].values() for intent, each in kind.items() for line in each.splitlines()
    ]
    parts = [(intent, *line.partition(" => ")) for intent, line in lines]
    right = sum(came_out(caller, t, {i}, dict(pair.split("=") for pair in given.split())) for i, t, _, given in parts)
    assert len(parts) >= least
    assert right >= share * len(parts)


@pytest.mark.skipif(not PEOPLE.exists(), reason="other people's sentences are not beside this checkout")
def test_other_peoples_sentences(caller: Caller) -> None:
    rows = [json.loads(line) for line in PEOPLE.read_text(encoding="utf-8").splitlines()]
    traps = [row["text"] for row in rows if row["must_not_move"]]
    assert [text for text in traps if isinstance(caller.says(text)[1], Confirm)] == []
    money = [row for row in rows if not row["must_not_move"] and row["family"] in MONEY]
    right = [row for row in money if came_out(caller, row["text"], set(row["expected_intents"]), certain(row["slots"]))]
    assert len(right) >= 0.9 * len(money)


def certain(slots: dict[str, str]) -> dict[str, str]:
    """The amounts and payees that have to come out; what may or must be asked is left out."""
    return {k: v for k, v in slots.items() if k in {"amount", "payee"} and v != "-" and not v.endswith("?")}
