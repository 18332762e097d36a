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
from app.qa.replay.records.journal import DECISIONS, JOURNAL, REPORT, read_run
from schemas.errors import BadInput
from services.asr.load import MODEL_FOLDER

CORPUS = Path(__file__).parents[1] / "data/corpus/manifest.jsonl.xz"
pytestmark = [
    pytest.mark.skipif(not (MODEL_FOLDER / "en").is_dir(), reason="no bundled recogniser in this checkout"),
    pytest.mark.timeout(300),
]


def part(folder: Path, count: int) -> Path:
    """Some utterances."""
    corpus, lines = readers.load(CORPUS), []
    for case in corpus.cases[:count]:
        turns = tuple(t.model_copy(update={"audio": str(corpus.base / str(t.audio))}) for t in case.turns)
        lines.append(case.model_copy(update={"turns": turns}).model_dump_json(exclude_defaults=True))
    (folder / "m.jsonl").write_text("\n".join(lines))
    return folder / "m.jsonl"


def run(folder: Path, name: str, manifest: Path, *, keep: bool = True, policy: str = "", anew: bool = False) -> Path:
    """A run with what was said of it in `said`; it breaks no bound."""
    request = Request(
        manifest, folder / name, 1, policy=policy, heard=folder / "heard" if keep else None, hear_anew=anew
    )
    shown = StringIO()
    assert not execute(request, Console(file=shown, width=400))
    (folder / name / "said").write_text(shown.getvalue())
    return folder / name


def test_a_second_run_decides_the_same_and_is_not_called_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "CHECKED", 1 << 70)
    manifest = part(tmp_path, 8)
    right = {
        r.record.case for r in read_run(run(tmp_path, "plain", manifest, keep=False)).results if judge(r.record).right
    }
    manifest.write_bytes(b"\n".join(x for x in manifest.read_bytes().splitlines() if orjson.loads(x)["id"] in right))
    plain = run(tmp_path, "right", manifest, keep=False)
    first, second = run(tmp_path, "first", manifest, policy="ci"), run(tmp_path, "second", manifest, policy="rules")
    for policy in ("ci", "money"):
        with pytest.raises(BadInput, match=f"total_p95 can't be judged, {len(right)} recordings were heard"):
            run(tmp_path, "second", manifest, policy=policy)
    anew = run(tmp_path, "anew", manifest, policy="ci", anew=True)
    assert len({(out / DECISIONS).read_bytes() for out in (plain, first, second, anew)}) == 1
    assert [read_run(out).kept for out in (plain, first, second, anew)] == [0, 0, len(right), 0]
    assert all(r.timing.total_ms is None for r in read_run(second).results)
    told = f"{len(right)} recordings were not decoded: transcripts that bundled@"
    assert [told in (out / "said").read_text() for out in (first, second)] == [False, True]
    assert told in (second / REPORT).read_text()


def test_a_run_that_is_killed_and_goes_on_is_one_that_was_not(tmp_path: Path) -> None:
    manifest = part(tmp_path, 12)
    whole = run(tmp_path, "whole", manifest, keep=False)
    for name, kept in (("killed", False), ("killed later", True)):
        out = tmp_path / name
        command = [sys.executable, "-m", "app.cli", "replay", "run", str(manifest), "--jobs", "2", "--out", str(out)]
        command += ["--heard", str(tmp_path / "heard")]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as going:
            while going.poll() is None and not ((out / JOURNAL).is_file() and (out / JOURNAL).stat().st_size):
                time.sleep(0.02)
            os.killpg(going.pid, signal.SIGKILL)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        assert (out / DECISIONS).read_bytes() == (whole / DECISIONS).read_bytes()
        assert bool(read_run(out).kept) is kept
