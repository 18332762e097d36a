"""What produced a run is on record, another's folder is not gone on with, and nobody is left when a run is stopped."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from app.cli import run as console
from app.client import reach
from app.qa.replay import provenance
from app.qa.replay.comparing.diff import FailOn, compare
from app.qa.replay.manifests.manifest import Manifest
from app.qa.replay.manifests.readers import load
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.live import LiveSpec
from app.qa.replay.playing.run import replay
from app.qa.replay.records.journal import DECISIONS, HEAD, Journal, RunHead, read_run
from app.qa.replay.report.summary import made_by
from app.settings import Settings
from rules.load import ruleset_hash
from schemas.errors import MalformedMessage, RecognizerUnavailable, WrongState
from tests.replay.fakes import FakePlayer, FakeSpec

ROOT = Path(__file__).parents[3]


@pytest.fixture
def manifest(tmp_path: Path) -> Manifest:
    lines = [{"id": f"c{i}", "locale": "en-US", "text": "hi"} for i in range(3)]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return load(tmp_path / "m.jsonl")


def test_a_run_says_what_made_it(tmp_path: Path, manifest: Manifest) -> None:
    settings = Settings(extraction_url="https://models.example:8000/v1", extraction_key=SecretStr("a-secret-of-ours"))
    head = PipelineSpec.of(settings, manifest)
    told = head.head(manifest, "m.jsonl")
    assert told.code == provenance.code_hash()
    assert told.settings["extraction_url"] == "https://models.example:8000/v1"
    assert told.settings["asr_model"] == "bundled"
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    run = read_run(tmp_path / "out")
    (sitting,) = run.sittings
    assert sitting.machine
    assert sitting.started.endswith("+00:00")
    assert "numpy" in sitting.libraries
    assert run.sources["rules/qa/policies.yaml"] == provenance.sources()["rules/qa/policies.yaml"]
    assert "app/qa/replay/playing/run.py" in run.sources
    assert "secret" not in (tmp_path / "out" / HEAD).read_text()


def test_the_hash_of_code_knows_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    before, files = provenance.code_hash(), provenance.sources()
    assert len({name for name in files if name.endswith(".py")}) > 100
    provenance.code_hash.cache_clear()
    monkeypatch.setattr(provenance, "sources", lambda: files | {"services/pipeline.py": "another"})
    assert provenance.code_hash() != before
    provenance.code_hash.cache_clear()


@pytest.mark.parametrize("change", [{"code": "other"}, {"settings": {"asr_model": "small.en"}}, {"recognizer": "x@1"}])
def test_a_folder_of_other_code_is_refused(tmp_path: Path, manifest: Manifest, change: dict[str, object]) -> None:
    head = FakeSpec(tmp_path / "log").head(manifest, "m")
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    other = replace(replace(head, corpus=""), **change)
    with pytest.raises(WrongState, match=next(iter(change))):
        Journal(tmp_path / "out", other).open()
    (tmp_path / "out" / HEAD).write_text('{"tellerline": "0.1.0"}')
    with pytest.raises(WrongState, match="does not say"):
        Journal(tmp_path / "out", head).open()


def test_what_was_made_of_another_run_goes_as_soon_as_one_begins(tmp_path: Path, manifest: Manifest) -> None:
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    journal = Journal(tmp_path / "out", RunHead("m", "other", "", "", "0", "", "", 3))
    journal.open(fresh=True)
    assert not (tmp_path / "out" / DECISIONS).exists()
    journal.close()


def test_two_runs_at_once_into_one_folder(tmp_path: Path, manifest: Manifest) -> None:
    head = FakeSpec(tmp_path / "log").head(manifest, "m")
    first = Journal(tmp_path / "out", head)
    first.open()
    with pytest.raises(WrongState, match="another run"):
        Journal(tmp_path / "out", head).open()
    first.close()
    again = Journal(tmp_path / "out", head)
    again.open()
    again.close()


def test_fewer_decisions_than_calls_are_no_run(tmp_path: Path, manifest: Manifest) -> None:
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    for name in (DECISIONS, "timings.jsonl"):
        path = tmp_path / "out" / name
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(MalformedMessage, match="2 of its 3"):
        read_run(tmp_path / "out")


def test_a_run_that_was_resumed_says_what_was_played_before(tmp_path: Path, manifest: Manifest) -> None:
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    replay(manifest, FakeSpec(tmp_path / "log"), tmp_path / "out")
    assert [sitting.held for sitting in read_run(tmp_path / "out").sittings] == [0, 3]


def test_no_two_runs_over_a_gateway_are_one(manifest: Manifest) -> None:
    first, second = LiveSpec("http://g"), LiveSpec("http://g")
    assert first.head(manifest, "m") != second.head(manifest, "m")


class AtAGateway(FakeSpec):
    """Played by rules that are `ruleset`, by code that nobody knows."""

    def head(self, manifest: Manifest, corpus: str) -> RunHead:
        return replace(super().head(manifest, corpus), code=provenance.UNKNOWN, mode="real time")


def test_what_a_gateway_played_is_not_put_down_to_our_own_tree(tmp_path: Path, manifest: Manifest) -> None:
    for rules in (provenance.UNKNOWN, "another's", ruleset_hash()):
        replay(manifest, AtAGateway(tmp_path / "log", rules), tmp_path / "out", fresh=True)
        run = read_run(tmp_path / "out")
        ours = rules == ruleset_hash()
        assert not any(name.startswith("app/") for name in run.sources)
        assert (bool(run.rules), bool(run.words), "rules/act/policy.yaml" in run.sources) == (ours, ours, ours)
        assert run.slack, "policies are those of who judges"
    here = tmp_path / "here"
    replay(manifest, FakeSpec(tmp_path / "log"), here)
    replay(manifest, AtAGateway(tmp_path / "log", "another's"), tmp_path / "out", fresh=True)
    compared = compare(read_run(here), read_run(tmp_path / "out"))
    assert compared.changed_sources == ()
    assert [found.policy for found in compared.findings(FailOn)] == [FailOn.UNREACHED]
    assert "another's" in made_by(read_run(tmp_path / "out"))[0]


def test_a_gateway_says_what_it_is_and_what_it_does_not_say_is_unknown(manifest: Manifest) -> None:
    silent = LiveSpec("http://g").head(manifest, "m")
    assert {silent.ruleset, silent.code, silent.recognizer, silent.tellerline} == {provenance.UNKNOWN}
    told = LiveSpec("http://g", ruleset="f5d2", version="9").head(manifest, "m")
    assert (told.ruleset, told.tellerline) == ("f5d2", "9")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"status": "ok", "version": "9", "ruleset": "f5d2"}', {"version": "9", "ruleset": "f5d2"}),
        (b'{"status": "ok", "ruleset": 5}', {}),
        (b"ready", {}),
        (b"[]", {}),
    ],
)
def test_what_a_gateway_says_of_itself_is_taken_where_it_says_it(
    body: bytes, told: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = httpx.Response(200, content=body, request=httpx.Request("GET", "http://g/readyz"))
    monkeypatch.setattr(httpx, "get", lambda _url: answer)
    assert reach("http://g") == told


def test_a_fault_of_ours_is_no_red_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise IndexError("oops")

    monkeypatch.setattr("app.qa.replay.labelling.check.examine", broken)
    monkeypatch.setattr("sys.argv", ["tellerline", "replay", "check", str(tmp_path)])
    with pytest.raises(SystemExit, match="3"):
        console()


class Deaf(FakeSpec):
    """No recogniser is to be had."""

    async def open(self) -> FakePlayer:
        raise RecognizerUnavailable("no device cuda")


@pytest.mark.parametrize("at_once", [1, 2])
def test_what_can_not_be_composed_says_why(tmp_path: Path, manifest: Manifest, at_once: int) -> None:
    with pytest.raises(RecognizerUnavailable, match="no device cuda"):
        replay(manifest, Deaf(tmp_path / "log"), tmp_path / "out", jobs=at_once)


STUCK = """
import asyncio, os, sys
from pathlib import Path
from app.qa.replay.manifests.readers import load
from app.qa.replay.playing.run import replay
from tests.replay.fakes import FakePlayer, FakeSpec

class Stuck(FakePlayer):
    async def play(self, case, base):
        with open(sys.argv[2] + "/pids", "a") as file:
            file.write(f"{os.getpid()}\\n")
        await asyncio.sleep(600)

class StuckSpec(FakeSpec):
    async def open(self):
        return Stuck(self.played)

if __name__ == "__main__":
    replay(load(Path(sys.argv[1])), StuckSpec(Path(sys.argv[2]) / "log"), Path(sys.argv[2]) / "out", jobs=2)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def until(found: object, seconds: float = 60.0) -> None:
    assert callable(found)
    begin = time.monotonic()
    while not found():
        assert time.monotonic() - begin < seconds, "it does not come"
        time.sleep(0.05)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes where Linux has them")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_run_leaves_no_workers(tmp_path: Path, manifest: Manifest, sign: int) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = [sys.executable, str(tmp_path / "stuck.py"), str(tmp_path / "m.jsonl"), str(tmp_path)]
    parent = subprocess.Popen(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL)
    pids = tmp_path / "pids"
    until(lambda: pids.is_file() and len(set(pids.read_text().split())) == 2)
    workers = [int(pid) for pid in set(pids.read_text().split())]
    os.kill(parent.pid, sign)
    parent.wait()
    until(lambda: not any(map(alive, workers)))


def test_a_gateways_replay_ends_with_the_gateway(tmp_path: Path) -> None:
    """The process that a job is ends when the other end of its standard input does, whoever closes it."""
    lines = [{"id": f"c{i}", "locale": "en-US", "text": "hi"} for i in range(5000)]
    (tmp_path / "m.jsonl").write_text("\n".join(map(json.dumps, lines)))
    command = [sys.executable, "-m", "app.cli", "replay", "job", str(tmp_path / "m.jsonl"), str(tmp_path / "out")]
    job = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    until((tmp_path / "out" / HEAD).is_file)
    assert job.poll() is None
    assert job.stdin is not None
    job.stdin.close()
    assert job.wait(timeout=30) == 1


def test_a_fault_of_ours_in_one_call_ends_no_run(tmp_path: Path, manifest: Manifest) -> None:
    class Broken(FakePlayer):
        async def play(self, case: object, base: Path) -> tuple[()]:
            raise KeyError("oops")

    class BrokenSpec(FakeSpec):
        async def open(self) -> FakePlayer:
            return Broken(self.played)

    results = replay(manifest, BrokenSpec(tmp_path / "log"), tmp_path / "out")
    assert {(r.record.error, r.record.reason) for r in results} == {("internal_fault", "KeyError: 'oops'")}
    assert not any(r.record.played for r in results)
