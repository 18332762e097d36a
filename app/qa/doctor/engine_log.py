"""What an engine's own log says of it: attention, model runner, drafter, graphs; and what of that costs time."""

import re
from pathlib import Path
from typing import Final

from app.qa.doctor.findings import Report, Severity

LOG_BYTES: Final = 4 * 1024 * 1024
LINES: Final = (
    (
        "attention backend",
        re.compile(
            r"Using (?:AttentionBackendEnum\.)?([A-Z0-9_]+)(?: attention)? backend|Using (FA4) for all layers"
            r"|layout for ([A-Z_]+_ATTN) backend"
        ),
    ),
    ("attention forced", re.compile(r"(forcing \w+|heterogeneous head dimensions)", re.IGNORECASE)),
    ("model runner", re.compile(r"Using (V\d) Model Runner|(gpu_model_runner)\.py:")),
    ("drafter in log", re.compile(r"(Detected MTP model|SpeculativeConfig\(method='\w+')")),
)
_GRAPHS: Final = re.compile(r"'cudagraph_capture_sizes': \[([\d, ]+)\]")
_OWN_DRAFTER: Final = re.compile(r"SpeculativeConfig\(method='(mtp|dflash|eagle3?)'")
USUAL_RUNNER: Final = "gpu_model_runner"
"""vLLM 0.24's usual one; the newer says V2."""
LEAST_GRAPH: Final = 512
"""Tokens of a prefill of ours that nothing caches, several requests at once, deploy/vllm/gpu/results."""


def read_log(path: Path, report: Report) -> None:
    """Add what the log says, with a warning where it costs time that a setting would save."""
    text = path.read_bytes()[:LOG_BYTES].decode("utf-8", "replace")
    for subject, pattern in LINES:
        found = sorted({next(g for g in match.groups() if g) for match in pattern.finditer(text)})
        if found:
            health = Severity.WARN if subject == "attention forced" else Severity.OK
            report.add(subject, health, ", ".join(found))
            report.figures[subject.replace(" ", "_")] = ", ".join(found)
    if not any(finding.subject == "attention backend" for finding in report.findings):
        report.add("attention backend", Severity.NOTE, "not named in the log")
    _graphs(text, report)
    if report.figures.get("model_runner") == USUAL_RUNNER and (drafter := _OWN_DRAFTER.search(text)):
        said = f"the usual one launches {drafter[1]} piece by piece, the newer does not (VLLM_USE_V2_MODEL_RUNNER=1)"
        report.add("runner and drafter", Severity.WARN, said)


def _graphs(text: str, report: Report) -> None:
    """Whether prefills are replayed as graphs, by the largest size that was captured."""
    sizes = [int(size) for match in _GRAPHS.finditer(text) for size in match[1].split(",")]
    if not sizes:
        return
    most = max(sizes)
    report.figures["largest_graph"] = most
    if most < LEAST_GRAPH:
        said = f"up to {most} tokens: longer prefills launch every layer by itself (cudagraph_capture_sizes)"
        report.add("graphs for prefill", Severity.WARN, said)
    else:
        report.add("graphs for prefill", Severity.OK, f"up to {most} tokens")
