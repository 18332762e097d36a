"""The servers of a GPU session: the profiles as they are shipped, full-size, with random weights, on one card."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.vllm.serving import Profile
from deploy.vllm.sweep.plan import Server
from deploy.vllm.sweep.servers import Engine

EACH = 0.8
"""How often a drafted token is accepted where those before it were: by decree, since the weights are random."""
DRAFTED = {"qna": 2, "qna_v1": 2, "qna3": 3, "qna3_v1": 3}
"""The servers that draft, and how many tokens a step; `qna` is the shipped profile."""
V1 = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
"""vLLM 0.24's usual model runner, which launches the drafter piece by piece: where a name ends in `_v1`."""
NAMES = ("extraction", *DRAFTED, "plain", "fp8")
"""In the order in which they are started."""
FIRST_PORT = 8101
CACHE_BYTES = 2 * 1024**3
"""37,000 tokens, four times what 16 requests of ours hold. With weights (14.2 GiB), graphs and workspace a server has
about 18 GiB, so that all seven fit on a card of 141."""


def rates(drafted: int) -> list[float]:
    """What vLLM wants to be told: for each position, how often it and all before it are accepted."""
    return [round(EACH**place, 4) for place in range(1, drafted + 1)]


def stated(drafted: int) -> float:
    """Tokens a step at these rates: one of the model's own and what is accepted before it."""
    return 1 + sum(rates(drafted))


def servers(payload: Path, out: Path) -> dict[str, Profile]:
    """All of them. A fixed cache size spares them the memory profiling that would clash on one card.

    The share of memory is only what must be free when a server starts. What is compiled after the start is logged each
    time, with its shape, so that a stall can be held against it.
    """
    side = {"host": "127.0.0.1", "gpu-memory-utilization": 0.12, "kv-cache-memory-bytes": CACHE_BYTES}
    side |= {"jit-monitor-verbose": True}

    def traced(name: str) -> dict[str, object]:
        folder = str(out / f"trace-{name}")
        return {
            "profiler-config": {"profiler": "torch", "torch_profiler_dir": folder, "torch_profiler_with_stack": False}
        }

    # What a server without our findings would run: no graphs for prefill, no asynchronous scheduling, xgrammar.
    plain = {
        "compilation-config": None,
        "async-scheduling": False,
        "structured-outputs-config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    chosen = {
        "extraction": Server(name="extraction", profile="extraction-h200", args=side | traced("extraction")),
        "plain": Server(name="plain", profile="extraction-h200", args=side | plain | traced("plain")),
        "fp8": Server(name="fp8", profile="extraction-h200-fp8", args=side),
    } | {name: _drafting(name, drafted, payload, side) for name, drafted in DRAFTED.items()}
    made = {}
    for place, name in enumerate(NAMES):
        profile = chosen[name].resolved()
        env = profile.env | environment(payload) | (V1 if name.endswith("_v1") else {})
        made[name] = profile.model_copy(update={"port": FIRST_PORT + place, "env": env})
    return made


def _drafting(name: str, drafted: int, payload: Path, side: dict[str, object]) -> Server:
    """The shipped profile with another number of drafted tokens; one that differs has graphs for decoding alone."""
    drafter = {
        "model": str(payload / "models" / "e4b-assistant"),
        "num_speculative_tokens": drafted,
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_rates": rates(drafted),
    }
    sizes = [batch * (drafted + 1) for batch in (1, 2, 4, 8, 16)]
    graphs = {"compilation-config": {"cudagraph_capture_sizes": sizes}} if drafted != DRAFTED["qna"] else {}
    return Server(name=name, profile="qna-h200", args=side | graphs, speculative=drafter)


def environment(payload: Path) -> dict[str, str]:
    """What vLLM needs beside its flags: its packages, no network, one compile cache for all."""
    return {
        "PYTHONPATH": f"{payload}/site:{payload}/fa4/nvidia_cutlass_dsl/python_packages:{payload}/fa4",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_CACHE_ROOT": f"{payload}/cache",
    }


def engine(name: str, given: argparse.Namespace) -> Engine:
    """One server, started; it logs to OUT/NAME.log."""
    payload = Path(given.payload)
    return Engine(
        servers(payload, given.out)[name],
        given.out / f"{name}.log",
        launcher=f"{given.python} -m vllm.entrypoints.cli.main serve",
        model=str(payload / "models" / "e4b"),
        more="--load-format dummy",
    ).start()
