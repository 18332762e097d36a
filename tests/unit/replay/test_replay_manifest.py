"""Manifests: three forms, one meaning; what is wrong is said with its place."""

import json
import lzma
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias
from unicodedata import normalize

import pytest

from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import DEFAULT_NOW, Case, dump_jsonl
from app.qa.replay.manifests.readers import load
from schemas.errors import MalformedMessage, NotFound, TooLarge

Form: TypeAlias = Literal["NFC", "NFD"]


def jsonl(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n", encoding="utf-8")
    return path


def test_an_utterance_and_a_call_share_one_form(tmp_path: Path) -> None:
    found = load(
        jsonl(
            tmp_path / "m.jsonl",
            {"defaults": {"locale": "en-US", "customer": "alex-morgan", "now": "2026-01-15T17:00:00Z"}},
            {
                "id": "one",
                "audio": "a.wav",
                "channel": 1,
                "tags": {"voice": "x"},
                "expect": {"intent": ["confirm", "inform"]},
            },
            {"id": "two", "locale": "ja-JP", "turns": [{"text": "残高"}, {"dtmf": "12#", "after_s": 2}]},
        )
    )
    one, two = found.cases
    assert (one.locale, one.customer, one.now) == ("en-US", "alex-morgan", datetime(2026, 1, 15, 17, 0, tzinfo=UTC))
    assert (one.turns[0].channel, one.tags) == (1, {"voice": "x"})
    assert one.turns[0].expect is not None
    assert one.turns[0].expect.intent == ("confirm", "inform")
    assert (two.locale, two.turns[1].dtmf, two.turns[1].after_s) == ("ja-JP", "12#", 2.0)
    assert list(found.audio()) == [tmp_path / "a.wav"]


def test_csv_rows_of_a_call_come_together_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(
        "id,call,turn,audio,text,locale,customer,intent,decision,amount_minor,currency,payee,booked,tags.voice\n"
        "u1,,,a.flac,,en-US,alex,balance_inquiry,execute,,,,,v1\n"
        ",c1,2,,yes,en-US,alex,confirm,execute|confirm,5000,USD,p1,yes,\n"
        ",c1,1,,send fifty,en-US,alex,transfer_money,confirm,5000,USD,p1,,\n",
        encoding="utf-8",
    )
    single, call = load(path).cases
    assert (single.id, single.tags, single.now) == ("u1", {"voice": "v1"}, DEFAULT_NOW)
    assert [turn.text for turn in call.turns] == ["send fifty", "yes"]
    first, second = (turn.expect for turn in call.turns)
    assert first is not None
    assert second is not None
    assert first.slots == {"amount": {"amount_minor": 5000, "currency": "USD"}, "payee": "p1"}
    assert (first.moves, second.moves[0].payee, second.decision) == ((), "p1", ("execute", "confirm"))
    assert (second.slots, second.payee) == (None, None), "a yes fills nothing"


@pytest.mark.parametrize("head", ["id;text;locale;;\r\n", "sep=;\r\nid; text;locale;;\r\n"])
def test_a_table_is_read_as_spreadsheets_write_it(tmp_path: Path, head: str) -> None:
    (tmp_path / "m.csv").write_text(f"\ufeff{head}a;hi, you;en-US;;\r\n;;;;\r\n")
    (case,) = load(tmp_path / "m.csv").cases
    assert (case.id, case.turns[0].text) == ("a", "hi, you")


@pytest.mark.parametrize(
    ("columns", "cells", "complaint"),
    [
        ("amount_minor,currency", "1.2E+05,USD", "amount_minor"),
        ("amount_minor", "120", "amount_minor"),
        ("booked", "maybe", "booked"),
        ("booked", "yes", "booked"),
        ("id", "a a", "two cases are called 'a'"),
        ("turn", "one", "turn is not"),
        ("call,turn", "a,1 a,1", "'a' has two turns 1"),
        ("call,customer", "a,b a,c", "'a' has another customer"),
        ("intent,intent", "qna,deny", "twice: 'intent'"),
        ("intent", "qna,five", "a cell beyond"),
        ("intent", '"qna qna', "unexpected end of data"),
        ("intent", "\xe9", "not in UTF-8"),
        ("intent", "", "no calls"),
    ],
)
def test_a_table_that_may_mean_two_things_is_refused(tmp_path: Path, columns: str, cells: str, complaint: str) -> None:
    rows = "".join(f"x,en-US,{row}\n" for row in cells.split())
    (tmp_path / "m.csv").write_text(f"text,locale,{columns}\n{rows}", encoding="cp1252")
    with pytest.raises(MalformedMessage, match=rf"m\.csv.*{complaint}"):
        load(tmp_path / "m.csv")


def test_a_folder_with_sidecars(tmp_path: Path) -> None:
    (tmp_path / "defaults.json").write_text('{"locale": "en-GB"}')
    (tmp_path / "calls" / "x").mkdir(parents=True)
    (tmp_path / "a.wav").write_bytes(b"")
    (tmp_path / "a.txt").write_text("what's my balance\n")
    (tmp_path / "b.ulaw").write_bytes(b"")
    (tmp_path / "b.json").write_text('{"locale": "en-US", "expect": {"intent": "deny"}}')
    (tmp_path / "calls" / "x" / "1.opus").write_bytes(b"")
    (tmp_path / "calls" / "x" / "call.json").write_text('{"turns": [{"audio": "1.opus"}, {"text": "no"}]}')
    found = {case.id: case for case in load(tmp_path).cases}
    assert set(found) == {"a", "b", "calls/x"}
    assert found["a"].turns[0].expect is not None
    assert found["a"].turns[0].expect.transcript == "what's my balance"
    assert (found["b"].locale, found["b"].turns[0].encoding, found["b"].turns[0].rate) == ("en-US", "g711_ulaw", 8000)
    assert found["calls/x"].turns[0].audio == "calls/x/1.opus"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"id": "a", "locale": "en-US"}, "exactly one of audio, text, dtmf"),
        ({"id": "a", "locale": "en-US", "text": "x", "audio": "y"}, "exactly one"),
        ({"id": "a", "locale": "english", "text": "x"}, "locale"),
        ({"id": "a", "locale": "en-US", "text": "x", "expect": {"intnet": "x"}}, "intnet"),
        ({"id": "a", "locale": "en-US", "text": "x", "now": "2026-01-15T17:00:00"}, "time zone"),
        ({"id": "a", "locale": "en-US", "turns": []}, "turns"),
        ([1], "not an object"),
        ({"defaults": 5}, "not written as"),
        ({"text": "x", "transcript": "x", "expect": "x"}, "not written as"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: object, complaint: str) -> None:
    path = jsonl(tmp_path / "m.jsonl", {"id": "fine", "locale": "en-US", "text": "hi"}, line)
    with pytest.raises(MalformedMessage, match=complaint) as caught:
        load(path)
    assert "m.jsonl:2" in str(caught.value)


def test_a_name_that_a_line_says_twice_is_told(tmp_path: Path) -> None:
    line = '{"id": "a", "locale": "en-US", "text": "x", "text": "y"}'
    for text, where in ((f"\n{line}\n", "m.jsonl:2"), (f"[{line}]", "m.jsonl")):
        (tmp_path / "m.jsonl").write_text(text)
        with pytest.raises(MalformedMessage, match=f"{where}: a name is said twice"):
            load(tmp_path / "m.jsonl")


def test_two_cases_of_one_name_are_refused(tmp_path: Path) -> None:
    same = {"id": "a", "locale": "en-US", "text": "x"}
    with pytest.raises(MalformedMessage, match="'a'"):
        load(jsonl(tmp_path / "m.jsonl", same, same))


def test_an_absent_manifest(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load(tmp_path / "none.jsonl")


def test_dumping_and_loading_is_the_identity(tmp_path: Path) -> None:
    case = Case.model_validate(
        {
            "id": "c",
            "locale": "ja-JP",
            "turns": [{"text": "はい", "expect": {"money": [{"amount_minor": 1, "currency": "JPY"}]}}],
        }
    )
    (tmp_path / "m.jsonl").write_bytes(dump_jsonl((case,)))
    assert load(tmp_path / "m.jsonl").cases == (case,)


@pytest.mark.parametrize(("said", "lies"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_a_name_is_found_however_a_system_composes_its_letters(tmp_path: Path, said: Form, lies: Form) -> None:
    name = "Zoé ガス.wav"
    path = jsonl(tmp_path / "m.jsonl", {"id": "a", "locale": "en-US", "audio": normalize(said, name)})
    (tmp_path / normalize(lies, name)).write_bytes(b"one")
    found = load(path)
    assert [audio.read_bytes() for audio in found.audio()] == [b"one"]
    assert "absent" not in found.recordings().values()


def test_the_digest_covers_sound_and_expectations(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "m.jsonl", {"id": "a", "locale": "en-US", "audio": "a.wav"})
    (tmp_path / "a.wav").write_bytes(b"one")
    first = load(path).digest()
    assert load(path).digest() == first
    (tmp_path / "a.wav").write_bytes(b"two")
    second = load(path).digest()
    jsonl(path, {"id": "a", "locale": "en-US", "audio": "a.wav", "expect": {"intent": "deny"}})
    assert len({first, second, load(path).digest()}) == 3


def test_packed_lines_are_read_and_bombs_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "m.jsonl.xz"
    packed.write_bytes(lzma.compress(b'{"id": "a", "locale": "en-US", "text": "balance"}\n'))
    assert load(packed).cases[0].turns[0].text == "balance"
    packed.write_bytes(b"no xz")
    with pytest.raises(MalformedMessage, match=r"m\.jsonl\.xz"):
        load(packed)
    monkeypatch.setattr(readers, "MAX_MANIFEST_BYTES", 1_000)
    packed.write_bytes(lzma.compress(b"\n" * 100_000))
    with pytest.raises((TooLarge, MalformedMessage), match="larger than 1000"):
        load(packed)
