"""Manifests as others write them, and everything that is wrong with one told at once."""

import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.replay.manifests.manifest import json_schema
from app.qa.replay.manifests.readers import load, read
from app.recordings.files import flac
from schemas.errors import MalformedMessage

ROOT = Path(__file__).parents[3]


def sound(path: Path, seconds: float = 1.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(flac(0.1 * np.sin(np.arange(int(seconds * 16_000)) / 9).astype(np.float32)))
    return path


def test_nemo_lines(tmp_path: Path) -> None:
    lines = [
        {"audio_filepath": "a.wav", "duration": 2.5, "offset": 3.0, "text": "send fifty", "lang": "en", "speaker": 7},
        {"audio_filepath": "b.wav", "duration": 2.5, "text": "残高", "lang": "ja"},
    ]
    (tmp_path / "m.json").write_text("\n".join(map(json.dumps, lines)))
    first, second = load(tmp_path / "m.json").cases
    assert (first.locale, first.turns[0].start, first.turns[0].end, first.tags) == ("en-US", 3.0, 5.5, {"speaker": "7"})
    assert (second.locale, second.turns[0].start, second.turns[0].audio) == ("ja-JP", None, "b.wav")
    assert second.turns[0].expect is not None
    assert second.turns[0].expect.transcript == "残高"


def test_a_kaldi_folder(tmp_path: Path) -> None:
    files = {
        "wav.scp": "call1 audio/call1.wav\n",
        "segments": "u1 call1 0.5 2.0\nu2 call1 4.0 6.25\n",
        "text": "u1 send fifty dollars\n",
        "utt2spk": "u1 anna\nu2 bert\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(MalformedMessage, match="locale"):
        load(tmp_path)
    (tmp_path / "defaults.json").write_text('{"locale": "en-GB"}')
    first, second = load(tmp_path).cases
    assert (first.id, first.turns[0].audio) == ("u1", "audio/call1.wav")
    assert (first.turns[0].start, first.turns[0].end) == (0.5, 2.0)
    assert first.turns[0].expect is not None
    assert first.turns[0].expect.transcript == "send fifty dollars"
    assert (second.turns[0].expect, second.tags) == (None, {"speaker": "bert"})
    (tmp_path / "wav.scp").write_text("call1 sph2pipe a.sph |\n")
    with pytest.raises(MalformedMessage, match="commands are not run"):
        load(tmp_path)


def test_common_voice(tmp_path: Path) -> None:
    rows = ["client_id\tpath\tsentence\tage\tlocale", "x\tcommon_voice_en_1.mp3\tSend the money.\tforties\ten"]
    (tmp_path / "validated.tsv").write_text("\n".join(rows))
    (case,) = load(tmp_path / "validated.tsv").cases
    assert (case.id, case.locale, case.turns[0].audio) == ("common_voice_en_1", "en-US", "clips/common_voice_en_1.mp3")
    assert case.turns[0].expect is not None
    assert case.turns[0].expect.transcript == "Send the money."


def test_tab_separated_values_and_an_array(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("id\taudio\tlocale\tstart\tend\ttranscript\nu1\ta.wav\ten-US\t1\t2.5\tno\n")
    (case,) = load(tmp_path / "m.tsv").cases
    assert (case.turns[0].start, case.turns[0].end) == (1.0, 2.5)
    (tmp_path / "m.json").write_text(json.dumps([{"id": "a", "locale": "en-US", "audio": "a.wav", "transcript": "hi"}]))
    (case,) = load(tmp_path / "m.json").cases
    assert case.turns[0].expect is not None
    assert case.turns[0].expect.transcript == "hi"


@pytest.mark.parametrize("name", ["call 07-11 (2)", "a@b+c#1", "通話/三", "x'y\"z"])
def test_names_of_any_characters(name: str, tmp_path: Path) -> None:
    sound(tmp_path / f"{name}.wav")
    (tmp_path / "defaults.json").write_text('{"locale": "en-US"}')
    assert [case.id for case in load(tmp_path).cases] == [name]


def test_defaults_reach_the_turns(tmp_path: Path) -> None:
    turns = [{"audio": "a.wav"}, {"audio": "b.wav", "channel": 0}]
    lines = [{"defaults": {"locale": "en-US", "channel": 1}}, {"id": "a", "turns": turns}]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8-sig")
    assert [turn.channel for turn in load(tmp_path / "m.jsonl").cases[0].turns] == [1, 0]


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    sound(tmp_path / "good.wav")
    (tmp_path / "torn.wav").write_bytes(b"no sound")
    lines: list[object] = [
        {"id": "fine", "locale": "en-US", "audio": "good.wav", "expect": {"intent": "deny"}},
        {"id": "two", "locale": "en-US", "audio": "a.wav", "text": "x"},
        [1],
        {"id": "when", "locale": "en-US", "text": "x", "now": "9999-12-31T23:00:00Z"},
        {"id": "fine", "locale": "en-US", "text": "twice"},
        {"id": "label", "locale": "en-US", "text": "x", "expect": {"intent": "dney"}},
        {"id": "who", "locale": "en-US", "text": "x", "customer": "alex-morgen"},
        {"id": "where", "locale": "xx-XX", "text": "x"},
        {"id": "gone", "locale": "en-US", "audio": "gone.wav"},
        {"id": "torn", "locale": "en-US", "audio": "torn.wav"},
        {"id": "far", "locale": "en-US", "audio": "s3://bucket/a.wav"},
        {"id": "long", "locale": "en-US", "audio": "good.wav", "start": 0.2, "end": 0.1},
    ]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    _, unread = read(tmp_path / "m.jsonl")
    assert len(unread) == 5
    done = CliRunner().invoke(main, ["replay", "check", str(tmp_path / "m.jsonl"), "--policy", "release"])
    assert done.exit_code == 1
    for words in (
        "m.jsonl:2", "m.jsonl:3", "m.jsonl:4", "two cases are called 'fine'", "did you mean deny", "alex-morgan",
        "xx-XX", "gone#1: no such file", "torn#1", "far#1", "`end` is not after `start`", "policy release needs 300",
        "is of 1970 to 2200", "7 calls", "turns labelled by people",
    ):  # fmt: skip
        assert words in done.output, words


@pytest.mark.parametrize("each", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_a_sound_manifest_has_nothing_wrong(tmp_path: Path, each: int) -> None:
    corpus = ROOT / "tests/data/corpus"
    lines = lzma.decompress((corpus / "manifest.jsonl.xz").read_bytes()).splitlines()[::each]
    (tmp_path / "manifest.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "audio").symlink_to(corpus / "audio")
    policy = ["--policy", "ci"] if each == 1 else []
    done = CliRunner().invoke(main, ["replay", "check", str(tmp_path / "manifest.jsonl"), *policy])
    assert done.exit_code == 0, done.output
    assert f"{len(lines)} calls" in done.output


def test_the_schema_is_the_one_that_is_committed() -> None:
    assert (ROOT / "deploy/corpus/manifest.schema.json").read_text() == json_schema()


def test_the_documentation_names_every_field() -> None:
    page = (ROOT / "deploy/replay.md").read_text()
    schema = json.loads(json_schema())
    fields = {name for part in (schema, *schema["$defs"].values()) for name in part.get("properties", {})}
    assert not [name for name in sorted(fields) if f"`{name}`" not in page]


def test_parquet_without_what_reads_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "m.parquet").write_bytes(b"PAR1")
    with pytest.raises(MalformedMessage, match="make ray"):
        load(tmp_path / "m.parquet")
