"""Serving profiles: every flag is one that the engine's own parser knows, and what is rendered is current."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from deploy.vllm.flags import jobs, servers, sglang_flags, written
from deploy.vllm.render import COMPOSE_FILE, compose, current, kubernetes
from deploy.vllm.serving import HERE, Profile, load, names, shell

PROFILES = {name: load(name) for name in names()}
KNOWN = written("vllm-serve", "0.24.0")
CHALLENGERS = {"sglang": "sglang", "tensorrt-llm": "trtllm-serve"}


def flags_of(name: str) -> list[str]:
    return [part for part in PROFILES[name].command() if part.startswith("--")]


def test_every_setup_that_is_promised_has_a_profile() -> None:
    promised = {
        ("vllm", "nvidia-l4", "extraction"), ("vllm", "nvidia-l4", "qna"), ("vllm", "nvidia-h200", "extraction"),
        ("vllm", "nvidia-h200", "qna"), ("vllm", "nvidia-h100", "qna"), ("vllm", "nvidia-rtx-4090", "qna"),
        ("vllm", "nvidia-rtx-5090", "qna"), ("vllm", "google-tpu-v6e", "qna"),
        ("sglang", "nvidia-h200", "extraction"), ("tensorrt-llm", "nvidia-h200", "extraction"),
    }  # fmt: skip
    assert promised <= {(p.engine, p.hardware.accelerator, p.role) for p in PROFILES.values()}
    drafts = {n: PROFILES[f"qna-26b-awq-4090-n{n}"].args["speculative-config"] for n in (1, 2, 3)}
    assert {n: d["num_speculative_tokens"] for n, d in drafts.items() if isinstance(d, dict)} == {1: 1, 2: 2, 3: 3}


@pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if p.engine == "vllm"])
def test_vllm_knows_every_flag(name: str) -> None:
    assert PROFILES[name].engine_version == "0.24.0"
    assert PROFILES[name].image.endswith("v0.24.0")
    assert not [flag for flag in flags_of(name) if flag not in KNOWN]


@pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if p.engine != "vllm"])
def test_a_challenger_knows_every_flag(name: str) -> None:
    profile = PROFILES[name]
    assert set(flags_of(name)) <= written(CHALLENGERS[profile.engine], profile.engine_version)
    assert profile.image.endswith(profile.engine_version)


def test_flags_are_read_from_a_parser_that_can_not_be_imported() -> None:
    source = "import torch\nparser.add_argument('--model-path', '--model')\nparser.add_argument('-x')\nprint('--no')"
    assert sglang_flags(source) == ["--model", "--model-path"]


def test_every_server_and_benchmark_command_is_listed_for_the_check() -> None:
    made = servers()
    assert {"extraction-h200", "sweep qna mtp-2", "session extraction", "session plain"} <= set(made)
    assert len(made) + len(jobs()) > 90


def test_prefill_runs_in_graphs_on_the_h200() -> None:
    for name in ("extraction-h200", "extraction-h200-fp8", "qna-h200"):
        graphs = PROFILES[name].args["compilation-config"]
        assert isinstance(graphs, dict)
        assert max(graphs["cudagraph_capture_sizes"]) >= 1000, "by itself vLLM stops at twice max-num-seqs"


def test_drafting_on_the_h200_runs_in_graphs() -> None:
    """A step checks one token of the model's own and the drafted ones."""
    profile = PROFILES["qna-h200"]
    graphs, drafting = profile.args["compilation-config"], profile.args["speculative-config"]
    assert isinstance(graphs, dict)
    assert isinstance(drafting, dict)
    assert not [size for size in graphs["cudagraph_capture_sizes"] if size % (drafting["num_speculative_tokens"] + 1)]


@pytest.mark.parametrize("name", [n for n, p in PROFILES.items() if p.engine == "vllm" and p.role == "extraction"])
def test_extraction_is_served_as_it_was_measured_to_be_safe(name: str) -> None:
    args = PROFILES[name].args
    assert args["structured-outputs-config"] == {"backend": "guidance", "disable_any_whitespace": True}
    assert args["default-chat-template-kwargs"] == {"enable_thinking": False}
    assert not {"reasoning-parser", "chat-template", "speculative-config", "kv-cache-dtype"} & set(args)
    assert args["enable-prefix-caching"] is True


@pytest.mark.parametrize("name", list(PROFILES))
def test_no_profile_logs_requests_or_holds_a_key(name: str) -> None:
    text = json.dumps(PROFILES[name].command())
    assert "log-requests" not in text
    assert "api-key" not in text
    assert "trust-remote-code" not in text


@pytest.mark.parametrize("name", list(PROFILES))
def test_a_command_reads_back_as_it_was(name: str) -> None:
    profile = PROFILES[name]
    settings = [f"{setting}={value}" for setting, value in profile.env.items()]
    assert shlex.split(shell(profile).replace("\\\n", " ")) == settings + profile.command()


@pytest.mark.parametrize("name", list(PROFILES))
def test_an_environment_reaches_compose_and_kubernetes(name: str) -> None:
    wanted = PROFILES[name].env
    service = yaml.load(compose({"qna": name}), yaml.CSafeLoader)["services"]["qna"]
    pod = next(d for d in yaml.safe_load_all(kubernetes(name)) if d["kind"] == "Deployment")["spec"]["template"]["spec"]
    given = {setting["name"]: setting.get("value") for setting in pod["containers"][0]["env"]}
    assert wanted.items() <= service["environment"].items()
    assert wanted.items() <= given.items()


def test_answers_are_drafted_by_the_runner_that_was_measured() -> None:
    """The other profiles leave the choice to vLLM: nothing was measured there."""
    chosen = {name for name, p in PROFILES.items() if p.env.get("VLLM_USE_V2_MODEL_RUNNER") == "1"}
    awq = {f"qna-26b-awq-4090-n{drafted}" for drafted in (1, 2, 3)}
    assert chosen == {"qna-h100", "qna-h200", "qna-26b-fp8-h100"} | awq


def test_the_compose_file_is_current() -> None:
    assert COMPOSE_FILE.read_text(encoding="utf-8") == current(), "run `python -m deploy.vllm.render current`"


@pytest.mark.parametrize("name", list(PROFILES))
def test_compose_publishes_no_port_and_warms_the_endpoint(name: str) -> None:
    services = yaml.load(compose({"extraction": name}), yaml.CSafeLoader)["services"]
    assert set(services) == {"extraction", "extraction-doctor"}
    assert "ports" not in services["extraction"]
    assert all(service["profiles"] == ["gpu"] for service in services.values())
    assert services["extraction-doctor"]["depends_on"] == {"extraction": {"condition": "service_healthy"}}
    assert services["extraction-doctor"]["command"][0] == "doctor"


@pytest.mark.parametrize("name", list(PROFILES))
def test_kubernetes_is_ready_only_when_the_doctor_is_and_only_for_the_gateway(name: str) -> None:
    documents = {d["kind"]: d for d in yaml.safe_load_all(kubernetes(name))}
    assert set(documents) >= {"Deployment", "Service", "NetworkPolicy"}
    pod = documents["Deployment"]["spec"]["template"]["spec"]
    engine, doctor = pod["containers"]
    assert doctor["readinessProbe"]["exec"]["command"] == ["python", "-c", "open('/ready/warm')"]
    assert "readinessProbe" not in engine
    (limits,) = engine["resources"]["limits"].items()
    assert limits == (("google.com/tpu", 4) if "tpu" in name else ("nvidia.com/gpu", 1))
    (rule,) = documents["NetworkPolicy"]["spec"]["ingress"]
    assert rule["from"] == [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": "tellerline"}}}]
    assert ("ConfigMap" in documents) == bool(PROFILES[name].config)
    assert "&id" not in kubernetes(name)


def test_profile_files_are_small_and_say_what_they_are() -> None:
    for path in sorted(Path(HERE / "profiles").glob("*.yaml")):
        assert re.search(r"^(title: |# )", path.read_text(), re.MULTILINE), path.name


def test_a_profile_that_the_engine_refuses_is_refused() -> None:
    body = load("qna-26b-fp8-h100").model_dump()
    body["args"]["speculative-config"] = {"method": "ngram", "num_speculative_tokens": 3}
    with pytest.raises(ValidationError, match="newer model runner refuses n-gram"):
        Profile.model_validate(body)
    assert Profile.model_validate(body | {"env": {"VLLM_USE_V2_MODEL_RUNNER": "0"}})
