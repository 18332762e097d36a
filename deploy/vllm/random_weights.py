"""Any vLLM profile on the card at hand with random weights: its speed and memory are real, its words are noise.

The model is replaced by a configuration of the same shape, and how many drafted tokens are accepted is decreed, since a
random drafter's would never be.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.vllm.gpu.servers import CACHE_BYTES, environment, rates
from deploy.vllm.serving import Profile

GIB = 1024**3


@dataclass(frozen=True)
class Shape:
    """A configuration's folder under `models`, and what a server of it takes of a card, in GiB, its cache apart.

    Weights, graphs for prefill and workspace, as seen on an H100 while a server starts.
    """

    folder: str
    gib: float = 0.0


SHAPES = {
    "google/gemma-4-E4B-it": Shape("e4b", 20.0),
    "google/gemma-4-E4B-it-assistant": Shape("e4b-assistant"),
    "google/gemma-4-26B-A4B-it": Shape("26b", 54.0),
    "google/gemma-4-26B-A4B-it-assistant": Shape("26b-assistant"),
    "RedHatAI/gemma-4-26B-A4B-it-FP8-dynamic": Shape("26b-fp8", 34.0),
    "cyankiwi/gemma-4-26B-A4B-it-AWQ-4bit": Shape("26b-awq", 20.0),
    "z-lab/gemma-4-26B-A4B-it-DFlash": Shape("26b-dflash"),
}
DFLASH_ACCEPTED = 3.0
"""Drafted tokens accepted a step under DFlash: with the model's own, 4 a step."""


def room_gib(profile: Profile) -> float:
    """What a server of this profile takes of a card. Raises KeyError where no configuration stands in for its model."""
    return SHAPES[profile.model].gib + CACHE_BYTES / GIB


def stand_in(profile: Profile, payload: Path, card: int, port: int) -> Profile:
    """The profile as it is served on one card among others; its flags but for memory, address and drafter stay.

    A fixed cache size spares servers the memory profiling that would clash on one card; the share of memory is only
    what must be free when one starts. Raises KeyError where no configuration stands in for a model.
    """
    args = profile.args | {"host": "127.0.0.1", "gpu-memory-utilization": 0.12, "kv-cache-memory-bytes": CACHE_BYTES}
    drafting = args.get("speculative-config")
    if isinstance(drafting, dict):
        args["speculative-config"] = decreed(drafting, payload)
    env = profile.env | environment(payload) | {"CUDA_VISIBLE_DEVICES": str(card)}
    return profile.model_copy(update={"args": args, "env": env, "port": port})


def decreed(drafting: dict[str, Any], payload: Path) -> dict[str, Any]:
    """A drafting configuration whose acceptance is said. N-gram drafts from the text itself, so it is left alone."""
    if "model" not in drafting:
        return drafting
    drafted = int(drafting["num_speculative_tokens"])
    local = {"model": folder(str(drafting["model"]), payload), "rejection_sample_method": "synthetic"}
    if drafting["method"] == "dflash":
        return drafting | local | {"synthetic_acceptance_length": 1 + DFLASH_ACCEPTED}
    return drafting | local | {"synthetic_acceptance_rates": rates(drafted)}


def folder(model: str, payload: Path) -> str:
    """Where the configuration lies that stands in for a model. Raises KeyError."""
    return str(payload / "models" / SHAPES[model].folder)
