"""The servers of a GPU session: the profiles as they are shipped, full-size, with random weights, on one card."""

from __future__ import annotations

import argparse
from pathlib import Path

from deploy.vllm.random_weights import rates, serve, stand_in
from deploy.vllm.serving import Profile
from deploy.vllm.sweep.plan import Server
from deploy.vllm.sweep.servers import Engine

DRAFTED = {"qna": 2, "qna_v1": 2, "qna3": 3, "qna3_v1": 3}
"""The servers that draft, and how many tokens a step; `qna` is the shipped profile."""
V1 = {"VLLM_USE_V2_MODEL_RUNNER": "0"}
"""vLLM 0.24's usual model runner, which launches the drafter piece by piece: where a name ends in `_v1`."""
NAMES = ("extraction", *DRAFTED, "plain", "fp8")
"""In the order in which they are started."""
FIRST_PORT = 8101


def stated(drafted: int) -> float:
    """Tokens a step at these rates: one of the model's own and what is accepted before it."""
    return 1 + sum(rates(drafted))


def servers(payload: Path, out: Path) -> dict[str, Profile]:
    """All of them, side by side on one card: each has about 18 GiB, so that all seven fit on one of 141.

    What is compiled after the start is logged each time, with its shape, so that a stall can be held against it.
    """
    side: dict[str, object] = {"jit-monitor-verbose": True}

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
    } | {name: _drafting(name, drafted, side) for name, drafted in DRAFTED.items()}
    return {name: stand_in(chosen[name].resolved(), payload, FIRST_PORT + n) for n, name in enumerate(NAMES)}


def _drafting(name: str, drafted: int, side: dict[str, object]) -> Server:
    """The shipped profile with another number of drafted tokens; one that differs has graphs for decoding alone."""
    sizes = [batch * (drafted + 1) for batch in (1, 2, 4, 8, 16)]
    graphs = {"compilation-config": {"cudagraph_capture_sizes": sizes}} if drafted != DRAFTED["qna"] else {}
    return Server(
        name=name,
        profile="qna-h200",
        args=side | graphs,
        speculative={"num_speculative_tokens": drafted},
        env=V1 if name.endswith("_v1") else {},
    )


def engine(name: str, given: argparse.Namespace) -> Engine:
    """One server, started; it logs to OUT/NAME.log."""
    payload = Path(given.payload)
    return serve(servers(payload, given.out)[name], payload, given.out / f"{name}.log", given.python)
