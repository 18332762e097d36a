"""The servers of a GPU session: the profiles as they are shipped, full-size, with random weights, on one card."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.vllm.serving import Profile
from deploy.vllm.sweep.plan import Server
from deploy.vllm.sweep.servers import Engine

ACCEPTANCE = 1.8
"""Tokens a step that the drafter is told to reach; its weights are random."""
FIRST_PORT = 8101
NAMES = ("extraction", "qna", "fp8", "plain")
"""In the order in which they are started."""


def servers(payload: Path, out: Path) -> dict[str, Profile]:
    """All four. A fixed cache size spares them the memory profiling that would clash on one card."""
    side = {"host": "127.0.0.1", "gpu-memory-utilization": 0.22, "kv-cache-memory-bytes": 8 * 1024**3}

    def traced(name: str) -> dict[str, object]:
        folder = str(out / f"trace-{name}")
        return {
            "profiler-config": {"profiler": "torch", "torch_profiler_dir": folder, "torch_profiler_with_stack": False}
        }

    drafter = {
        "model": str(payload / "models" / "e4b-assistant"),
        "rejection_sample_method": "synthetic",
        "synthetic_acceptance_length": ACCEPTANCE,
    }
    # What a server without our findings would run: no graphs for prefill, no asynchronous scheduling, xgrammar.
    plain = {
        "compilation-config": None,
        "async-scheduling": False,
        "structured-outputs-config": {"backend": "xgrammar", "disable_any_whitespace": True},
    }
    chosen = (
        Server(name="extraction", profile="extraction-h200", args=side | traced("extraction")),
        Server(name="qna", profile="qna-h200", args=side, speculative=drafter),
        Server(name="fp8", profile="extraction-h200-fp8", args=side),
        Server(name="plain", profile="extraction-h200", args=side | plain | traced("plain")),
    )
    made = {}
    for place, server in enumerate(chosen):
        profile = server.resolved()
        env = profile.env | environment(payload)
        made[server.name] = profile.model_copy(update={"port": FIRST_PORT + place, "env": env})
    return made


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
