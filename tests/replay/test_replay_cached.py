"""A run after another decodes only what is new, decides the same, and never passes for measured."""

import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import orjson
import pytest
from rich.console import Console

from app.qa.replay.cache import recognizer as caching
from app.qa.replay.command import Request, execute
from app.qa.replay.judging.judge import judge
from app.qa.replay.manifests import readers
from app.qa.replay.records.journal import DECISIONS, JOURNAL, REPORT, SCORES, read_run
from schemas.errors import BadInput
from services.asr.load import MODEL_FOLDER

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests/data/corpus/manifest.jsonl.xz"
pytestmark = [
    pytest.mark.skipif(not (MODEL_FOLDER / "en").is_dir(), reason="no bundled recogniser in this checkout"),
    pytest.mark.timeout(300),
]


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "CHECKED", 1 << 62)


def part(folder: Path, count: int) -> Path:
    """Some utterances, and a call in which a name may be told by its sound."""
    corpus = readers.load(CORPUS)
    call = next(case for case in corpus.cases if case.tags["kind"] == "call")
    lines = []
    for case in (*corpus.cases[: count - 1], call):
        turns = [t.model_copy(update={"audio": str(corpus.base / str(t.audio))}) for t in case.turns]
        made = case.model_copy(update={"turns": tuple(turns)})
        lines.append(orjson.dumps(made.model_dump(mode="json", exclude_defaults=True)))
    (folder / "m.jsonl").write_bytes(b"\n".join(lines))
    return folder / "m.jsonl"


def run(folder: Path, name: str, manifest: Path, **more: object) -> tuple[Path, str]:
    """Play it, with its transcripts kept in the folder; where the run lies, and what was said of it."""
    said = StringIO()
    heard: dict[str, object] = {"heard": folder / "heard", "jobs": 1}
    assert not execute(Request(manifest, folder / name, **(heard | more)), Console(file=said, width=400))  # type: ignore[arg-type]
    return folder / name, said.getvalue()


@pytest.mark.usefixtures("unchecked")
def test_a_second_run_decides_the_same_and_says_what_it_did_not_hear(tmp_path: Path) -> None:
    manifest = part(tmp_path, 5)
    plain, _ = run(tmp_path, "plain", manifest, heard=None)
    first, said = run(tmp_path, "first", manifest)
    assert "not decoded" not in said
    second, said = run(tmp_path, "second", manifest)
    turns = len(read_run(second).results)
    assert f"{turns} recordings were not decoded: transcripts that bundled@" in said
    third, said = run(tmp_path, "third", manifest, hear_anew=True)
    assert "not decoded" not in said
    decided = [(out / DECISIONS).read_bytes() for out in (plain, first, second, third)]
    assert len(set(decided)) == 1
    assert [read_run(out).kept for out in (plain, first, second, third)] == [0, 0, turns, 0]
    scores = orjson.loads((second / SCORES).read_bytes())
    assert (scores["kept"], {"total", "asr"} & {*scores["latency"]}) == (turns, set())
    assert scores["latency"]["understanding"]["count"] > 0
    assert all(r.timing.total_ms is None for r in read_run(second).results)
    assert "recordings were not decoded" in (second / REPORT).read_text()


@pytest.mark.usefixtures("unchecked")
def test_a_policy_on_the_ears_time_can_not_be_judged(tmp_path: Path) -> None:
    manifest = part(tmp_path, 8)
    first, _ = run(tmp_path, "first", manifest)
    right = {r.record.case for r in read_run(first).results if judge(r.record).right}
    lines = [line for line in manifest.read_bytes().splitlines() if orjson.loads(line)["id"] in right]
    manifest.write_bytes(b"\n".join(lines))
    with pytest.raises(
        BadInput, match=rf"total_p95 can't be judged, {len(lines)} recordings were heard by earlier runs"
    ):
        run(tmp_path, "second", manifest, policy="ci")
    run(tmp_path, "second", manifest, policy="rules")
    with pytest.raises(BadInput, match="total_p95"):
        run(tmp_path, "second", manifest, policy="money")
    run(tmp_path, "third", manifest, policy="ci", hear_anew=True)


def test_a_run_that_is_killed_and_goes_on_is_one_that_was_not(tmp_path: Path) -> None:
    manifest = part(tmp_path, 12)
    whole, _ = run(tmp_path, "whole", manifest, heard=None, jobs=2)
    command = [sys.executable, "-m", "app.cli", "replay", "run", str(manifest), "--jobs", "2"]
    for name, kept in (("killed", False), ("killed later", True)):
        out = tmp_path / name
        options = ["--out", str(out), "--heard", str(tmp_path / "heard")]
        with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, start_new_session=True) as going:
            while going.poll() is None and not ((out / JOURNAL).is_file() and (out / JOURNAL).stat().st_size):
                time.sleep(0.02)
            os.killpg(going.pid, signal.SIGKILL)
        subprocess.run([*command, *options], stdout=subprocess.DEVNULL, check=True)
        assert (out / DECISIONS).read_bytes() == (whole / DECISIONS).read_bytes()
        assert bool(read_run(out).kept) is kept
