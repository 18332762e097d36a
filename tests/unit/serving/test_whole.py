"""Whole phases side by side: every server once, no card over its room, and a fault costs only its own rows."""

import asyncio
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.vllm import random_weights
from deploy.vllm.flags import written
from deploy.vllm.serving import load, names
from deploy.vllm.sweep import own, payload, whole
from deploy.vllm.sweep.generator_process import Generator
from deploy.vllm.sweep.plan import LoadJob, jobs, sweep
from deploy.vllm.sweep.side_by_side import distinct, rounds
from tests.fakes.gemma import FakeGemma

KNOWN = {
    "vllm": written("vllm-serve", "0.24.0"),
    "sglang": written("sglang", "0.5.13.post1"),
}
PHASES = list(sweep().phases.values())


def test_every_job_stands_with_one_server_once() -> None:
    servers, absent = distinct(sweep().bench, PHASES)
    wanted = {
        job.key
        for phase in PHASES
        for server in phase.servers
        if f"{phase.name}-{server.name}" not in absent
        for job in jobs(sweep().bench, phase, server)
    }
    placed = [job.key for server in servers for job in server.jobs]
    assert sorted(placed) == sorted(wanted)
    assert absent == []
    by_name = {server.name: {job.phase for job in server.jobs} for server in servers}
    assert {"structured", "concurrency", "cache", "precision", "engines"} <= by_name["structured-bf16"]


@pytest.mark.parametrize("cards", [[0], [0, 1]])
def test_no_card_holds_more_than_it_has_room_for(cards: list[int]) -> None:
    servers, _ = distinct(sweep().bench, PHASES)
    made = rounds(servers, cards, 75.0)
    assert sorted(s.name for cards in made for card in cards for s in card.standing) == sorted(s.name for s in servers)
    for card in (card for cards in made for card in cards):
        assert sum(random_weights.room_gib(server.profile) for server in card.standing) <= 75.0


def test_a_server_larger_than_a_card_is_refused() -> None:
    servers, _ = distinct(sweep().bench, PHASES)
    with pytest.raises(ValueError, match="GiB"):
        rounds(servers, [0], 10.0)


@pytest.mark.parametrize("name", [n for n in names() if load(n).engine in KNOWN and not load(n).hardware.tpu])
def test_any_profile_can_be_served_with_random_weights(name: str, tmp_path: Path) -> None:
    shipped = load(name)
    made = random_weights.stand_in(shipped, tmp_path, port=9000, card=1)
    assert not [part for part in made.flags() if part.startswith("--") and part not in KNOWN[shipped.engine]]
    assert made.env["CUDA_VISIBLE_DEVICES"] == "1"
    drafting = made.args.get("speculative-config")
    if isinstance(drafting, dict) and "model" in drafting:
        assert drafting["model"].startswith(str(tmp_path))
        assert drafting["rejection_sample_method"] == "synthetic"
        assert drafting["num_speculative_tokens"] == _drafting(shipped.args)["num_speculative_tokens"]


def _drafting(args: dict[str, Any]) -> dict[str, Any]:
    drafting = args["speculative-config"]
    assert isinstance(drafting, dict)
    return drafting


STUB = """
def add_cli_args(parser):
    parser.add_argument("--say")
def main(args):
    print("noise on stdout")
    if args.say == "no":
        raise ValueError("no more sockets")
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where a package stands in for vLLM's: the generator must say of each run how it went, whatever is printed."""
    package = tmp_path / "site" / "vllm"
    for folder in (package, package / "benchmarks", package / "utils"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (package / "benchmarks" / "serve.py").write_text(STUB)
    (package / "utils" / "argparse_utils.py").write_text(
        "from argparse import ArgumentParser as FlexibleArgumentParser"
    )
    return tmp_path


def test_the_generator_runs_again_after_a_fault(site: Path) -> None:
    with Generator(sys.executable, site, site / "log") as load_once:
        assert load_once(["--say", "yes"]) == ""
        assert "no more sockets" in load_once(["--say", "no"])
        assert "SystemExit" in load_once(["--unknown"])
        assert load_once(["--say", "yes"]) == ""
    assert "noise on stdout" in (site / "log").read_text()


def test_a_generator_that_ended_is_told(tmp_path: Path) -> None:
    with Generator(sys.executable, tmp_path / "nothing", tmp_path / "log") as load_once:
        assert "ended" in load_once(["--say", "yes"])


async def test_servers_that_do_not_start_cost_only_their_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One server of two is up, a load generator stands in for vLLM's."""

    class Engine:
        def __init__(self, url: str) -> None:
            self.url, self.log = url, None

        def ready(self, within_s: float) -> bool:
            return bool(self.url)

        def stop(self) -> None:
            pass

    class Load(Generator):
        def __init__(self, *_: object) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

        def __call__(self, argv: list[str]) -> str:
            given = dict(itertools.pairwise(argv))
            result = {"completed": 1, "p95_e2el_ms": 5.0, "p50_e2el_ms": 4.0}
            Path(given["--result-dir"], given["--result-filename"]).write_text(json.dumps(result))
            return ""

    async with FakeGemma() as server:
        up = iter([server.url, ""])
        monkeypatch.setattr(whole.Whole, "_engine", lambda *_: Engine(next(up)))
        monkeypatch.setattr(whole, "Generator", Load)
        monkeypatch.setattr(whole, "complete", lambda *_: True)
        monkeypatch.setattr(whole, "APART_S", 0.0)

        given = ["--payload", str(tmp_path), "--out", str(tmp_path / "out"), "--phases", "cache", "--cards", "0,1"]
        assert await asyncio.to_thread(whole.main, given) == 0
    assert "| on | line |" in (tmp_path / "out" / "cache.md").read_text()
    assert (tmp_path / "out" / "left_out.txt").read_text().split() == ["cache-off-line"]


def test_any_profile_is_a_system_as_it_ships_or_changed() -> None:
    phase = sweep().of_profiles("qna-26b-fp8-h100,qna-26b-fp8-h100:ngram-3+usual-runner")
    shipped, changed = (server.resolved() for server in phase.servers)
    assert shipped == load("qna-26b-fp8-h100")
    assert changed.args["speculative-config"] == {"method": "ngram", "num_speculative_tokens": 3}
    assert changed.env["VLLM_USE_V2_MODEL_RUNNER"] == "0"
    assert [server.name for server in phase.servers] == ["qna-26b-fp8-h100", "qna-26b-fp8-h100-ngram-3-usual-runner"]


@pytest.mark.parametrize("wrong", ["qna-26b", "qna-26b-fp8-h100:mtp-9"])
def test_an_unknown_profile_or_variant_is_named_with_those_there_are(wrong: str) -> None:
    with pytest.raises(ValueError, match="there are"):
        sweep().of_profiles(wrong)


def test_the_newer_runner_with_n_gram_is_refused_before_anything_starts() -> None:
    (server,) = sweep().of_profiles("qna-26b-fp8-h100:ngram-3").servers
    with pytest.raises(ValueError, match="refuses n-gram"):
        server.resolved()


def test_what_is_missing_is_told_before_a_server_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(payload, "CLIENT", ("deploy.vllm.no_such_client",))
    monkeypatch.setattr(whole.Whole, "_engine", lambda *_: pytest.fail("a server was started"))
    given = ["--payload", str(tmp_path), "--out", str(tmp_path / "out"), "--profiles", "qna-26b-fp8-h100"]
    assert whole.main(given) == 1
    told = capsys.readouterr().err
    for part in ("site/vllm", "26b-fp8/config.json", "26b-assistant/tokenizer.json", "no_such_client"):
        assert part in told


def test_a_complete_payload_lacks_nothing(tmp_path: Path) -> None:
    for name in payload.PACKAGES:
        (tmp_path / "site" / name).mkdir(parents=True)
    for folder in ("e4b", "e4b-assistant"):
        (tmp_path / "models" / folder).mkdir(parents=True)
        for name in payload.MODEL_FILES:
            (tmp_path / "models" / folder / name).touch()
    assert payload.missing(tmp_path, [load("qna-h200"), load("extraction-h200")]) == []


def test_sglang_brings_packages_of_its_own(tmp_path: Path) -> None:
    lacking = payload.missing(tmp_path, [load("extraction-sglang-h200")])
    assert [line for line in lacking if "/sglang/" in line] == [f"{tmp_path}/sglang/{n}" for n in payload.OF_SGLANG]
    made = random_weights.stand_in(load("extraction-sglang-h200"), tmp_path, port=9000)
    assert made.env["PYTHONPATH"].startswith(f"{tmp_path}/sglang:")
    assert made.args["max-total-tokens"] == 37_000


def test_sglang_reads_heads_under_its_own_names(tmp_path: Path) -> None:
    heads = {"head_dim": 256, "global_head_dim": 512, "num_key_value_heads": 2, "num_global_key_value_heads": None}
    (tmp_path / "e4b").mkdir()
    (tmp_path / "e4b" / "config.json").write_text(json.dumps(heads))
    (tmp_path / "e4b" / "tokenizer.json").touch()
    for _ in range(2):  # servers side by side make it anew
        made = random_weights.renamed(tmp_path / "e4b")
    assert (made / "tokenizer.json").is_file()
    read = json.loads((made / "config.json").read_text())
    assert (read["swa_head_dim"], read["swa_num_key_value_heads"], read["head_dim"]) == (256, 2, 512)
    assert json.loads((tmp_path / "e4b" / "config.json").read_text()) == heads


async def test_our_own_client_makes_load_too() -> None:
    made = {job.load: job for phase in PHASES for server in phase.servers for job in jobs(sweep().bench, phase, server)}

    def few(job: LoadJob) -> LoadJob:
        return job.model_copy(update={"flags": job.flags | {"num-prompts": 6, "max-concurrency": 2}})

    async with FakeGemma() as server:
        timed = await asyncio.to_thread(own.run, few(made["extraction"]), server.url, "google/gemma-4-E4B-it")
        hostile = await asyncio.to_thread(own.run, few(made["hostile"]), server.url, "google/gemma-4-E4B-it")
    assert (timed["completed"], timed["failed"]) == (6, 0)
    assert 0 < timed["p50_e2el_ms"] <= timed["p95_e2el_ms"]
    assert (hostile["completed"], hostile["not offered"]) == (6, 0)
