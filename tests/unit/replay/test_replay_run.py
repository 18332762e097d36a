"""The runner: everything once, resumable, the same bytes from one process and from several."""

import json
from pathlib import Path

import pytest

from app.qa.replay.manifests.manifest import Manifest
from app.qa.replay.manifests.readers import load
from app.qa.replay.playing.run import Progress, replay
from app.qa.replay.records.journal import DECISIONS, JOURNAL, TIMINGS, read_run
from schemas.errors import MalformedMessage, NotFound, WrongState
from tests.replay.fakes import FakeSpec


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    names = ["one", "slow-two", "three", "bad-four", "five"]
    lines = [{"id": n, "locale": "en-US", "turns": [{"text": f"{n} a"}, {"text": f"{n} b"}]} for n in names]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return load(tmp_path / "m.jsonl")


def played(spec: FakeSpec) -> list[str]:
    return spec.played.read_text().split() if spec.played.exists() else []


def test_every_case_is_played_once_and_in_order(tmp_path: Path, manifest: Manifest) -> None:
    spec, seen = FakeSpec(tmp_path / "log"), list[Progress]()
    results = replay(manifest, spec, tmp_path / "out", watch=seen.append)
    assert [r.record.id for r in results][:3] == ["one#1", "one#2", "slow-two#1"]
    assert len(results) == 10
    assert [p.done for p in seen] == [1, 2, 3, 4, 5]
    assert played(spec) == [c.id for c in manifest.cases]
    assert read_run(tmp_path / "out").results == results


def test_a_case_that_fails_is_a_result(tmp_path: Path, manifest: Manifest) -> None:
    results = replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    assert [r.record.error for r in results if r.record.case == "bad-four"] == ["malformed_audio"] * 2


def test_one_process_and_three_write_the_same_bytes(tmp_path: Path, manifest: Manifest) -> None:
    for jobs in (1, 3):
        replay(manifest, FakeSpec(tmp_path / f"log{jobs}"), tmp_path / str(jobs), jobs=jobs)
    assert (tmp_path / "1" / DECISIONS).read_bytes() == (tmp_path / "3" / DECISIONS).read_bytes()
    assert sorted(played(FakeSpec(tmp_path / "log3"))) == sorted(c.id for c in manifest.cases)


def test_an_interrupted_run_goes_on(tmp_path: Path, manifest: Manifest) -> None:
    spec = FakeSpec(tmp_path / "log")

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(manifest, spec, tmp_path / "out", watch=stop)
    replay(manifest, spec, tmp_path / "out")
    whole = replay(manifest, FakeSpec(tmp_path / "log2"), tmp_path / "whole")
    assert played(spec) == [c.id for c in manifest.cases]
    assert read_run(tmp_path / "out").results == whole


@pytest.mark.parametrize("torn", [b'{"case":"fi', b"\x00\x00\n", b'{"case": 3'])
def test_a_torn_journal_loses_only_its_last_line(tmp_path: Path, manifest: Manifest, torn: bytes) -> None:
    spec = FakeSpec(tmp_path / "log")
    replay(manifest, spec, tmp_path / "out")
    journal = tmp_path / "out" / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]) + torn)
    replay(manifest, spec, tmp_path / "out")
    assert played(spec)[-1] == "five"
    assert len(played(spec)) == 6
    assert journal.read_bytes() == b"".join(lines)


def test_another_run_is_not_written_over(tmp_path: Path, manifest: Manifest) -> None:
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    changed = FakeSpec(tmp_path / "log", ruleset="other rules")
    with pytest.raises(WrongState, match="--fresh"):
        replay(manifest, changed, tmp_path / "out")
    assert len(replay(manifest, changed, tmp_path / "out", fresh=True)) == 10


def test_an_unfinished_run_is_not_read(tmp_path: Path, manifest: Manifest) -> None:
    with pytest.raises(NotFound):
        read_run(tmp_path)
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    (tmp_path / "out" / TIMINGS).write_text("")
    with pytest.raises(MalformedMessage):
        read_run(tmp_path / "out")


def test_timings_are_apart_from_decisions(tmp_path: Path, manifest: Manifest) -> None:
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    assert b"_ms" not in (tmp_path / "out" / DECISIONS).read_bytes()
