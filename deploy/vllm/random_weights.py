"""Any profile of vLLM or SGLang on the card at hand with random weights: speed and memory are real, words are noise.

The model is replaced by a configuration of the same shape, and how many drafted tokens are accepted is decreed, since a
random drafter's would never be.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.vllm.serving import Profile, Value
from deploy.vllm.sweep.servers import Engine

GIB = 1024**3
CACHE_GIB = 2.0
"""37,000 tokens of E4B, four times what 16 requests of ours hold."""
EACH_GIB = 5 / 128
"""Of a server that takes more at once, for each: 720 tokens of E4B."""
GIB_A_TOKEN = CACHE_GIB / 37_000
"""Of E4B's cache."""
LAUNCHERS = {
    "vllm": "{python} -m vllm.entrypoints.cli.main serve",
    "sglang": "{python} -m sglang.launch_server --model-path",
}
"""How an engine is started from its packages; the model follows."""
EACH = 0.8
"""How often a drafted token is accepted where those before it were: by decree, since the weights are random."""


@dataclass(frozen=True)
class ModelShape:
    """A configuration's folder under `models`, and what a server of it takes of a card, in GiB, its cache apart.

    Weights, graphs for prefill and workspace, as seen on an H100 while a server starts.
    """

    folder: str
    gib: float = 0.0


SHAPES = {
    "google/gemma-4-E4B-it": ModelShape("e4b", 20.0),
    "google/gemma-4-E4B-it-assistant": ModelShape("e4b-assistant"),
    "google/gemma-4-26B-A4B-it": ModelShape("26b", 54.0),
    "google/gemma-4-26B-A4B-it-assistant": ModelShape("26b-assistant"),
    "RedHatAI/gemma-4-26B-A4B-it-FP8-dynamic": ModelShape("26b-fp8", 34.0),
    "cyankiwi/gemma-4-26B-A4B-it-AWQ-4bit": ModelShape("26b-awq", 20.0),
    "z-lab/gemma-4-26B-A4B-it-DFlash": ModelShape("26b-dflash"),
}
DFLASH_ACCEPTED = 3.0
"""Drafted tokens accepted a step under DFlash: with the model's own, 4 a step."""


def room_gib(profile: Profile) -> float:
    """What a server of this profile takes of a card. Raises KeyError where no configuration stands in for its model."""
    return SHAPES[profile.model].gib + cache_gib(profile)


def cache_gib(profile: Profile) -> float:
    """The cache that a server of this profile is given, by how many requests it takes at once."""
    return max(CACHE_GIB, EACH_GIB * int(str(profile.args.get("max-num-seqs", 0))))


def rates(drafted: int) -> list[float]:
    """What vLLM wants to be told: for each position, how often it and all before it are accepted."""
    return [round(EACH**place, 4) for place in range(1, drafted + 1)]


def environment(payload: Path, engine: str = "vllm") -> dict[str, str]:
    """What an engine needs beside its flags: its packages, no network, one compile cache for all."""
    packages = f"{payload}/site:{payload}/fa4/nvidia_cutlass_dsl/python_packages:{payload}/fa4"
    return {
        "PYTHONPATH": f"{payload}/sglang:{packages}" if engine == "sglang" else packages,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_CACHE_ROOT": f"{payload}/cache",
    }


def stand_in(profile: Profile, payload: Path, port: int, card: int | None = None) -> Profile:
    """The profile as it is served beside others on a card; its flags but for memory, address and drafter stay.

    A fixed cache size spares servers the memory profiling that would clash on one card; the share of memory is only
    what must be free when one starts. Raises KeyError where no configuration stands in for a model.
    """
    args = profile.args | {"host": "127.0.0.1"} | _cache(profile)
    drafting = args.get("speculative-config")
    if isinstance(drafting, dict):
        args["speculative-config"] = decreed(drafting, payload)
    env = (
        profile.env
        | environment(payload, profile.engine)
        | ({} if card is None else {"CUDA_VISIBLE_DEVICES": str(card)})
    )
    return profile.model_copy(update={"args": args, "env": env, "port": port})


def _cache(profile: Profile) -> dict[str, Value]:
    if profile.engine == "sglang":  # its share is of the whole card, whatever else stands there
        return {"mem-fraction-static": 0.95, "max-total-tokens": int(cache_gib(profile) / GIB_A_TOKEN)}
    return {"gpu-memory-utilization": 0.12, "kv-cache-memory-bytes": int(cache_gib(profile) * GIB)}


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


def renamed(configuration: Path) -> Path:
    """A copy beside a text-only configuration, in which heads have the names SGLang reads: `swa_*` in sliding layers.

    SGLang 0.5.13 renames them by itself only where the text is a part of a configuration that sees and hears as well.
    """
    copy = configuration.with_name(configuration.name + "-sglang")
    shutil.copytree(configuration, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("config.json"))
    told = json.loads((configuration / "config.json").read_text(encoding="utf-8"))
    sliding = {"swa_head_dim": told["head_dim"], "swa_num_key_value_heads": told["num_key_value_heads"]}
    whole = {"head_dim": told["global_head_dim"], "v_head_dim": told["global_head_dim"]}
    made = told | sliding | {"swa_v_head_dim": told["head_dim"]} | whole
    if told["num_global_key_value_heads"] is not None:
        made["num_key_value_heads"] = told["num_global_key_value_heads"]
    written = copy / "config.json.new"
    written.write_text(json.dumps(made, indent=1), encoding="utf-8")
    written.replace(copy / "config.json")  # another server may be reading it
    return copy


def serve(profile: Profile, payload: Path, log: Path, python: str) -> Engine:
    """Start a profile that `stand_in` gave, without waiting. Raises KeyError."""
    launcher = LAUNCHERS[profile.engine].format(python=python)
    model = Path(folder(profile.model, payload))
    model = renamed(model) if profile.engine == "sglang" else model
    return Engine(profile, log, launcher=launcher, model=str(model), more="--load-format dummy").start()
