"""The doctor against FakeGemma: a sound server passes, and every fault it is there to find is found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.doctor.client import Endpoint, MetricsPage
from app.qa.doctor.engine_log import USUAL_RUNNER, read_log
from app.qa.doctor.examine import Patient, examine
from app.qa.doctor.findings import Report, Severity
from app.qa.doctor.probes import (
    Probe,
    disconnect,
    drafting,
    guarded,
    legacy_parameters,
    prefix_cache,
    structured,
)
from app.qa.doctor.warm import AGAIN, TOKENS, extraction_asks, qna_asks, warm
from tests.fakes.gemma import Body, FakeGemma, Reply, chunk, completion, random_weights, stream

METRICS = """# HELP x
vllm:num_requests_running{model_name="m"} 0.0
vllm:prefix_cache_hits_total{model_name="m"} 128.0
vllm:prefix_cache_queries_total{model_name="m"} 256.0
vllm:spec_decode_num_drafts_total{model_name="m"} 0.0
"""


def sound(body: Body) -> Reply:
    """A constrained model whose JSON is compact."""
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if wanted.get("type") == "object":
        return completion('{"intent":"transfer","id":"p_002"}')
    if "enum" in wanted:
        return random_weights(1)(body)
    return stream("An overdraft costs money [1].") if body.get("stream") else completion("some words")


def spaced(body: Body) -> Reply:
    if body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("type") == "object":
        return completion('{\n  "intent": "transfer",\n  "id": "p_002"\n}')
    return sound(body)


def unconstrained(body: Body) -> Reply:
    return completion("Sure! Here you go: p_999") if "response_format" in body else sound(body)


async def examined(behave: Callable[[Body], Reply], role: str = "extraction", **patient: Any) -> Report:
    async with FakeGemma(behave, METRICS) as server:
        return await examine(Patient(server.url, role, key="k", batch=2, **patient))


def said(report: Report, subject: str) -> Severity:
    return next(f.health for f in report.findings if f.subject == subject)


async def test_a_sound_extraction_endpoint_is_usable() -> None:
    report = await examined(sound)
    assert report.usable, report.findings
    assert said(report, "engine") is Severity.OK
    assert report.figures["engine_version"] == "0.24.0"
    assert all(f.health is Severity.OK for f in report.findings if f.subject.startswith("structured"))
    assert report.figures["warmed_buckets"] == 4
    assert report.figures["drafting"] == "off"


async def test_a_sound_qna_endpoint_is_usable() -> None:
    report = await examined(sound, role="qna")
    assert report.usable, report.findings
    assert not [f for f in report.findings if f.subject.startswith("structured")]


async def test_an_endpoint_that_streams_nothing_is_not_usable() -> None:
    report = await examined(lambda body: Reply([b"{}"], status=500) if body.get("stream") else sound(body), role="qna")
    assert said(report, "warm-up") is Severity.FAIL
    assert not report.usable


async def test_tokens_without_text_warm_an_endpoint_and_are_told() -> None:
    """What random weights stream on real prompts: special tokens, each an event with an empty text."""
    special = stream(*[""] * 48, finish="length")
    report = await examined(lambda body: special if body.get("stream") else sound(body), role="qna")
    assert report.usable, report.findings
    assert said(report, "warm-up") is Severity.OK
    assert said(report, "answers without text") is Severity.WARN
    assert report.figures["answers_without_text"] == 12
    assert report.figures["warmed_buckets"] == 4


@pytest.mark.parametrize("events", [[chunk({"role": "assistant", "content": ""}), chunk({}, "stop")], []])
async def test_a_stream_without_a_token_warms_nothing(events: list[bytes]) -> None:
    empty = Reply([*events, b"data: [DONE]\n\n"], content_type="text/event-stream")
    report = await examined(lambda body: empty if body.get("stream") else sound(body), role="qna")
    assert said(report, "warm-up") is Severity.FAIL


async def test_an_ignored_schema_makes_it_unusable() -> None:
    report = await examined(unconstrained)
    assert not report.usable
    assert said(report, "structured: enum") is Severity.FAIL
    assert said(report, "structured: prose") is Severity.FAIL
    assert said(report, "structured: extra field") is Severity.FAIL


async def test_whitespace_in_json_is_a_warning() -> None:
    report = await examined(spaced)
    assert report.usable
    assert said(report, "structured: whitespace") is Severity.WARN
    assert said(report, "structured: extra field") is Severity.OK


async def test_routes_without_a_key_are_told() -> None:
    report = await examined(sound)
    assert said(report, "key") is Severity.WARN
    assert "/metrics" in str(report.figures["open_routes"])


async def probed(probe: Probe, behave: Callable[[Body], Reply], counting: str = "", step: float = 1.0) -> Report:
    """A report of one probe, against a server whose `counting` metric grows with every request it gets."""
    report = Report()

    def count(body: Body) -> Reply:
        server.metrics = f"{counting} {len(server.requests) * step}\n{METRICS}" if counting else METRICS
        return behave(body)

    async with FakeGemma(count, METRICS) as server, Endpoint(server.url) as endpoint:
        await probe(endpoint, "fake-gemma", report)
    return report


@pytest.mark.parametrize(
    ("counting", "health"),
    [('vllm:prefix_cache_hits_total{model_name="n"}', Severity.OK), ("", Severity.WARN)],
    ids=["counted", "never"],
)
async def test_prefix_cache_hits_are_looked_for(counting: str, health: Severity) -> None:
    report = await probed(prefix_cache, sound, counting, 64.0)
    assert said(report, "prefix cache") is health
    assert report.figures["prefix_cached_tokens"] == (128.0 if counting else 0.0)


async def test_acceptance_is_told_by_position() -> None:
    grown = iter([(0, 0, 0), (10, 8, 3)])

    def metrics() -> str:
        drafts, first, second = next(grown)
        name = "vllm:spec_decode_num_accepted_tokens"
        at = f'{name}_per_pos_total{{position="0"}} {first}\n{name}_per_pos_total{{position="1"}} {second}\n'
        return f"vllm:spec_decode_num_drafts_total {drafts}\n{name}_total {first + second}\n{at}"

    def behave(body: Body) -> Reply:
        server.metrics = metrics()
        return sound(body)

    report = Report()
    async with FakeGemma(behave, metrics()) as server, Endpoint(server.url) as endpoint:
        await drafting(endpoint, "fake-gemma", report)
    assert report.figures["acceptance_length"] == pytest.approx(2.1)
    assert (report.figures["accepted_at_0"], report.figures["accepted_at_1"]) == (0.8, 0.3)


@pytest.mark.parametrize(
    ("accepted", "runner", "health"),
    [
        (14, "V2", Severity.OK),
        (14, USUAL_RUNNER, Severity.WARN),
        (20, USUAL_RUNNER, Severity.OK),
        (1, "V2", Severity.WARN),
    ],
)
async def test_a_drafter_that_loses_is_told(accepted: int, runner: str, health: Severity) -> None:
    name = "vllm:spec_decode_num"
    told = [f"{name}_drafts_total 0\n{name}_accepted_tokens_total 0\n"]
    told += [f"{name}_drafts_total 10\n{name}_accepted_tokens_total {accepted}\n"]

    def behave(body: Body) -> Reply:
        server.metrics = told[1]
        return sound(body)

    report = Report(figures={"model_runner": runner})
    async with FakeGemma(behave, told[0]) as server, Endpoint(server.url) as endpoint:
        await drafting(endpoint, "fake-gemma", report)
    assert said(report, "drafting") is health


@pytest.mark.parametrize(("running", "health"), [(0, Severity.OK), (1, Severity.WARN)])
async def test_a_request_that_runs_on_without_its_client_is_told(running: int, health: Severity) -> None:
    report = Report()
    slow = Reply([b"x", 30.0])
    async with FakeGemma(lambda _: slow, f"vllm:num_requests_running {running}\n") as server:
        async with Endpoint(server.url) as endpoint:
            await disconnect(endpoint, "fake-gemma", report, patience_s=0.3)
        assert server.hang_ups == 1
    assert said(report, "disconnect") is health


@pytest.mark.parametrize(
    ("behave", "health"),
    [(sound, Severity.NOTE), (lambda _: Reply([b"{}"], status=400), Severity.OK)],
    ids=["taken", "400"],
)
async def test_a_parameter_that_is_silently_ignored_is_told(behave: Callable[[Body], Reply], health: Severity) -> None:
    assert said(await probed(legacy_parameters, behave), "guided_json") is health


@pytest.mark.parametrize("body", [b"[1, 2]", b'{"usage": 5, "choices": 7}', b"{", b'"text"', b"\xff"])
async def test_a_probe_of_a_server_that_sends_nonsense_is_a_finding(body: bytes) -> None:
    report = Report()
    async with FakeGemma(lambda _: Reply([body])) as server, Endpoint(server.url) as endpoint:
        for probe in (structured, prefix_cache, drafting):
            await guarded(probe, endpoint, "fake-gemma", report)
    assert not report.usable


@pytest.mark.parametrize("role", ["extraction", "qna"])
async def test_every_request_of_the_warm_up_reaches_the_model(role: str) -> None:
    async with FakeGemma(sound) as server:
        asks, client = (extraction_asks if role == "extraction" else qna_asks)(server.url, "fake-gemma", "", 4)
        for ask in asks.values():
            for number in range(12):
                await ask(number)
        await client.close()
        assert len(server.requests) == 12 * len(asks)


async def test_the_warm_up_asks_questions_with_passages_to_read_and_with_passages_in_the_cache() -> None:
    async with FakeGemma(sound) as server:
        asks, client = qna_asks(server.url, "fake-gemma", "", 1)
        prompts = {}
        for kind, ask in asks.items():
            server.requests.clear()
            for number in range(400):
                await ask(number)
            prompts[kind] = [body["messages"][-1]["content"] for body in server.requests]
        await client.close()
    assert all(body["max_tokens"] == TOKENS for body in server.requests)
    assert len(set(prompts["again"])) == AGAIN
    assert len(set(prompts["fresh"])) == 400
    first_passages = {prompt.splitlines()[0] for prompt in prompts["fresh"]}
    assert len(first_passages) > 150, "nearly every passage is read first at some time"


async def test_an_absent_server_is_not_healthy() -> None:
    report = await examine(Patient("http://127.0.0.1:9", wait_s=0))
    assert said(report, "health") is Severity.FAIL
    assert not report.usable


async def test_a_server_that_fails_while_it_is_warmed_is_not_usable() -> None:
    report = await examined(lambda _: Reply([b"{}"], status=500))
    assert said(report, "warm-up") is Severity.FAIL


async def test_a_stall_that_warms_away_is_noted_and_one_that_stays_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    script = iter([5.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.9, 0.9, 0.9, 0.9])

    async def scripted(_ask: object, _size: int, _start: int) -> tuple[float, int]:
        return next(script) * 1000, 0

    monkeypatch.setattr("app.qa.doctor.warm._round", scripted)

    async def nothing(_: int) -> bool:
        return True

    warmed = Report()
    await warm({"short": nothing, "long": nothing}, [1], warmed)
    assert said(warmed, "cold buckets") is Severity.NOTE
    assert warmed.usable
    stalled = Report()
    await warm({"short": nothing}, [1, 2], stalled)
    assert said(stalled, "stalls") is Severity.FAIL


def test_acceptance_is_read_by_position() -> None:
    metrics = MetricsPage('a_total{position="0"} 80.0\na_total{position="1"} 4e1\nb{x="y"} 3\nnonsense\n')
    assert metrics.by("a_total", "position") == {"0": 80.0, "1": 40.0}
    assert metrics.total("a_total") == 120.0
    assert metrics.total("c") is None


@pytest.mark.parametrize(
    ("line", "subject", "found"),
    [
        ("INFO Using FA4 for all layers", "attention backend", "FA4"),
        ("Using FLASH_ATTN attention backend out of potential backends", "attention backend", "FLASH_ATTN"),
        ("Using AttentionBackendEnum.TRITON_ATTN backend.", "attention backend", "TRITON_ATTN"),
        ("FA4 not available, forcing TRITON_ATTN", "attention forced", "forcing TRITON_ATTN"),
        ("gpu_worker.py:331] Using V2 Model Runner", "model runner", "V2"),
        ("[gpu_model_runner.py:5160] Starting to load model", "model runner", "gpu_model_runner"),
        ("Detected MTP model. Sharing target model embedding", "drafter in log", "Detected MTP model"),
        ("nothing of the kind", "attention backend", "not named in the log"),
    ],
)
def test_the_log_is_read(line: str, subject: str, found: str, tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text(f"(EngineCore) {line}\n")
    report = Report()
    read_log(log, report)
    assert (subject, found) in [(f.subject, f.said) for f in report.findings]


USUAL = "[gpu_model_runner.py:5160] Starting to load model"
NEWER = "gpu_worker.py:331] Using V2 Model Runner"
DRAFTS = "config: model='m', speculative_config=SpeculativeConfig(method='mtp', model='d', num_spec_tokens=4), x"


@pytest.mark.parametrize(
    ("lines", "subject", "health"),
    [
        ([USUAL, DRAFTS], "runner and drafter", Severity.WARN),
        ([NEWER, DRAFTS], "runner and drafter", None),
        ([USUAL, DRAFTS.replace("mtp", "ngram")], "runner and drafter", None),
        (["{'cudagraph_capture_sizes': [1, 2, 4, 8, 16, 32], 'x': 1}"], "graphs for prefill", Severity.WARN),
        (["{'cudagraph_capture_sizes': [3, 6, 12, 1536], 'x': 1}"], "graphs for prefill", Severity.OK),
        (["nothing of graphs"], "graphs for prefill", None),
    ],
)
def test_the_log_tells_what_costs_time(lines: list[str], subject: str, health: Severity | None, tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("\n".join(lines))
    report = Report()
    read_log(log, report)
    assert next((f.health for f in report.findings if f.subject == subject), None) is health


def test_the_command_reports_and_fails(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    result = CliRunner().invoke(main, ["doctor", "http://127.0.0.1:9", "--json", str(out)])
    assert result.exit_code == 1
    assert json.loads(out.read_text())["usable"] is False
