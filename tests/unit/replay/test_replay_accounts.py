"""Readers account for all that they are given: what is lost is told by name, and `check` ends in 1."""

import json
import lzma
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests.readers import load, read
from app.qa.replay.manifests.tables import separated
from schemas.errors import MalformedMessage

TURN = {"locale": "en-US", "text": "hi"}


def folder(path: Path, files: dict[str, str | bytes]) -> Path:
    for name, body in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(body if isinstance(body, bytes) else body.encode())
    return path


def line(**more: object) -> str:
    return json.dumps({"id": "a", **TURN, **more}) + "\n"


def test_two_packed_files_in_one_are_both_read(tmp_path: Path) -> None:
    one, two = (lzma.compress(line(id=name).encode()) for name in "ab")
    (tmp_path / "m.jsonl.xz").write_bytes(one + two)
    assert [case.id for case in load(tmp_path / "m.jsonl.xz").cases] == ["a", "b"]
    for torn in (one + two[:-8], one + b"no xz"):
        (tmp_path / "m.jsonl.xz").write_bytes(torn)
        with pytest.raises(MalformedMessage):
            load(tmp_path / "m.jsonl.xz")


def test_quotation_marks_of_callers_end_no_row_of_a_tsv(tmp_path: Path) -> None:
    said = ['"Yes," she said', "no", 'he said "maybe', '"all of it"']
    rows = "".join(f"{n}.mp3\t{words}\n" for n, words in enumerate(said))
    (tmp_path / "cv.tsv").write_text(f"path\tsentence\n{rows}")
    assert [raw["expect"]["transcript"] for _, raw in separated(tmp_path / "cv.tsv")] == [*said[:3], "all of it"]
    (tmp_path / "own.tsv").write_text('id\ttext\tlocale\na\t"yes\ten-US\nb\tno"\ten-US\nc\t"hi, ""you"""\ten-US\n')
    assert [case.turns[0].text for case in load(tmp_path / "own.tsv").cases] == ['"yes', 'no"', 'hi, "you"']


KALDI = {"wav.scp": "r1 a.wav\n", "defaults.json": '{"locale": "en-US"}'}


def test_a_kaldi_folder_with_tabs_and_marks_is_read_whole(tmp_path: Path) -> None:
    more = {
        "wav.scp": "\ufeffr1\ta b.wav\r\n",
        "text": "\ufeffu1\tsend  it\r\nu2 no\r\n",
        "utt2spk": "u1\tann\nu2  bob\n",
    }
    parts = {"segments": "u1\tr1\t0.5\t1.5\tB\nu2 r1 2 -1\n", "reco2file_and_channel": "r1\tr1\tA\n"}
    one, two = load(folder(tmp_path, KALDI | more | parts)).cases
    first, second = one.turns[0], two.turns[0]
    assert (first.audio, first.start, first.end, first.channel) == ("a b.wav", 0.5, 1.5, 1)
    assert (second.start, second.end, second.channel) == (2.0, None, 0)
    assert [turn.expect and turn.expect.transcript for turn in (first, second)] == ["send  it", "no"]
    assert (one.tags, two.tags) == ({"speaker": "ann"}, {"speaker": "bob"})


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"segments": "u1 r1 0.5\n"}, "segments:1: a segment is"),
        ({"segments": "u1 r1 0.5 x\n"}, "segments:1: a segment is"),
        ({"segments": "u1 r1 0 1 A B\n"}, "segments:1: a column beyond"),
        ({"segments": "u1 r1 0 1 left\n"}, "segments:1: channel 'left'"),
        ({"reco2file_and_channel": "r1 r1 0\n"}, "channel '0'"),
        ({"reco2file_and_channel": "r2 r2 A\n"}, "reco2file_and_channel:1: 'r2' is of nothing"),
        ({"text": "r1 one\nr1 two\n"}, "text: 'r1' is there twice"),
        ({"text": "r9 one\n"}, "text:1: 'r9' is of nothing"),
        ({"utt2spk": "r9 ann\n"}, "utt2spk:1: 'r9' is of nothing"),
        ({"wav.scp": "r1 a.wav\nr2 b.wav\n", "segments": "u1 r1 0 1\n"}, "wav.scp:2: 'r2' is of nothing"),
        ({"wav.scp": "r1 a.wav\nr1 b.wav\n"}, "wav.scp: 'r1' is there twice"),
    ],
)
def test_what_of_a_kaldi_folder_is_lost_is_told(files: dict[str, str], told: str, tmp_path: Path) -> None:
    faults = read(folder(tmp_path, KALDI | files))[1]
    assert any(told in fault for fault in faults), faults


def test_all_wrong_lines_of_a_kaldi_folder_are_told_at_once(tmp_path: Path) -> None:
    manifest, faults = read(folder(tmp_path, KALDI | {"wav.scp": "r1 cat a |\nr2 cat b |\nr3 c.wav\nr4 cat d |\n"}))
    assert ([case.id for case in manifest.cases], len(faults)) == (["r3"], 3)


def test_fields_of_ours_in_a_nemo_line_are_ours(tmp_path: Path) -> None:
    nemo = {"audio_filepath": "a.wav", "text": "はい", "channel": 1, "locale": "ja-JP", "customer": "takahashi-misaki"}
    expect = {"intent": "confirm"}
    (tmp_path / "m.jsonl").write_text(json.dumps(nemo | {"expect": expect, "mood": "glad", "gone": None}) + "\n")
    (case,) = load(tmp_path / "m.jsonl").cases
    assert (case.locale, case.customer, case.tags) == ("ja-JP", "takahashi-misaki", {"mood": "glad"})
    assert case.turns[0].channel == 1
    assert case.turns[0].expect is not None
    assert (case.turns[0].expect.intent, case.turns[0].expect.transcript) == ("confirm", "はい")
    (tmp_path / "m.jsonl").write_text(json.dumps(nemo | {"segments": [1]}))
    with pytest.raises(MalformedMessage, match="'segments' is no field"):
        load(tmp_path / "m.jsonl")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"b.json": "{}"}, "b.json: no recording is called so"),
        ({"b.txt": "hi"}, "b.txt: no recording is called so"),
        ({"a.json": "{"}, "a.json: "),
        ({"a.txt": "hi".encode("utf-16")}, "a.txt: not in UTF-8"),
        ({"a.json": "{}", "a.JSON": "{}"}, "a.wav: two files that say the same"),
        ({"c/call.json": '{"turns": [{"text": "hi"}]}', "c/1.wav": b""}, "c/1.wav: call.json does not name it"),
        ({"c/call.json": '{"turns": 5}'}, "c/call.json: no list of turns"),
    ],
)
def test_what_of_a_folder_is_lost_is_told(files: dict[str, str | bytes], told: str, tmp_path: Path) -> None:
    manifest, faults = read(folder(tmp_path, {"a.wav": b"", "defaults.json": '{"locale": "en-US"}'} | files))
    assert any(told in fault for fault in faults), faults
    assert ("a.wav" in told) or told.startswith("a.") or [case.id for case in manifest.cases if case.id == "a"]


def test_a_folder_is_read_as_other_systems_write_it(tmp_path: Path) -> None:
    files = {
        "a.AIFF": b"",
        "a.TXT": "\ufeffhi",
        "b.sph": b"",
        "b.JSON": "\ufeff" + '{"expect": {"intent": "deny"}}',
        "README.txt": "x",
    }
    a, b = load(folder(tmp_path, files | {".DS_Store": b"x", "defaults.json": '{"locale": "en-US"}'})).cases
    assert a.turns[0].expect is not None
    assert b.turns[0].expect is not None
    assert (a.turns[0].expect.transcript, b.turns[0].expect.intent) == ("hi", "deny")
    found = read(folder(tmp_path, {"a.json": "{", "b.txt": "x".encode("utf-16")}))[1]
    assert [fault.partition(":")[0] for fault in found] == ["a.json", "b.txt"], "both at once"


def test_defaults_fill_what_a_turn_leaves_out_of_its_labels(tmp_path: Path) -> None:
    given = {
        "expect": {"decision": "confirm", "route": "fast", "by_machine": ["decision", "route"]},
        "tags": {"a": "1"},
    }
    (tmp_path / "m.jsonl").write_text(
        json.dumps({"defaults": given}) + "\n" + line(expect={"intent": "deny", "decision": "clarify"}, tags={"b": "2"})
    )
    (case,) = load(tmp_path / "m.jsonl").cases
    expect = case.turns[0].expect
    assert expect is not None
    assert (expect.intent, expect.decision, expect.route, expect.by_machine) == ("deny", "clarify", "fast", ("route",))
    assert case.tags == {"a": "1", "b": "2"}
    (tmp_path / "m.jsonl").write_text(json.dumps({"defaults": {}} | {"id": "a"} | TURN))
    with pytest.raises(MalformedMessage, match="a line of their own"):
        load(tmp_path / "m.jsonl")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("id,text,locale,currency\na,hi,en-US,USD\n", "a currency without an amount_minor"),
        ("Id,Text,Locale,Intent\na,hi,en-US,qna\n", "did you mean 'text'"),
        ("id,text,locale,turn\na,hi,en-US,1.5\n", "not a whole number: '1.5'"),
    ],
)
def test_a_table_that_says_too_little_is_told_once(table: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(table)
    faults = [fault for fault in read(tmp_path / "m.csv")[1] if "no calls in it" not in fault]
    assert len(faults) == 1
    assert told in faults[0]


def test_cells_are_read_without_what_is_around_them(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(
        "id,text,locale,turn,intent,decision,slots.choice\na , hi , en-US,1.0,qna ,confirm | clarify, 3\n"
    )
    (case,) = load(tmp_path / "m.csv").cases
    expect = case.turns[0].expect
    assert expect is not None
    assert (case.id, case.turns[0].text, expect.intent, expect.decision) == ("a", "hi", "qna", ("confirm", "clarify"))
    assert expect.slots == {"choice": 3}


@pytest.mark.parametrize(
    ("expect", "told"),
    [
        ({"intent": []}, "intent"),
        ({"slots": {"amount": {"amount_minor": 1, "curency": "USD"}}}, "slot amount is an amount_minor with"),
        ({"slots": {"amount": 5000}}, "slot amount is"),
        ({"slots": {"amount": {"amount_minor": True, "currency": "USD"}}}, "slot amount is"),
        ({"slots": {"choice": "3"}}, "slot choice is a whole number"),
        ({"slots": {"date": "tomorrow"}}, "slot date is a day"),
        ({"slots": {"payee": None}}, "slot payee is words"),
        ({"slots": {"source": "alex-savngs"}}, "did you mean alex-savings"),
        ({"slots": {"card": "nope"}}, "unknown card 'nope'"),
        ({"spans": [{"kind": "mony", "value": 1}]}, "did you mean money"),
        ({"spans": [{"kind": "money", "value": {"amount": 1}}]}, "span money is"),
        ({"money": [{"amount_minor": 1, "currency": "USD", "source": "no-such"}]}, "unknown account 'no-such'"),
        ({"money": [{"amount_minor": True, "currency": "USD"}]}, "amount_minor"),
    ],
)
def test_a_label_that_can_never_be_right_is_told(expect: dict[str, object], told: str, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(line(customer="alex-morgan", expect=expect))
    done = CliRunner().invoke(main, ["replay", "check", str(tmp_path / "m.jsonl")])
    assert (done.exit_code, told in done.output) == (1, True), done.output


def test_who_calls_is_known_before_anything_is_played(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(line(customer="nobody-known"))
    done = CliRunner().invoke(main, ["replay", "run", str(tmp_path / "m.jsonl"), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()
    assert (done.exit_code, "unknown customer 'nobody-known'" in done.output) == (2, True), done.output
    assert label_faults(load(tmp_path / "m.jsonl"))
    assert not label_faults(load(tmp_path / "m.jsonl"), elsewhere=True)
