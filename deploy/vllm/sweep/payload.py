"""What a sweep or a session needs on a card's machine, looked for before a server starts: a start takes minutes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from deploy.vllm.random_weights import SHAPES
from deploy.vllm.serving import Profile

PACKAGES = ("vllm", "transformers", "xgrammar", "llguidance", "compressed_tensors")
OF_SGLANG = ("sglang", "sgl_kernel", "flashinfer", "llguidance")
OURS = ("openai", "httpx", "httpx2", "pydantic", "orjson", "bm25s", "tokenizers", "yaml", "typer", "numpy")
CLIENT = ("deploy.vllm.gpu.steps", "deploy.vllm.sweep.own", "tests.contract.extractor_suite")
"""Imported whole: they bring our client with its data files and whatever metadata its packages ask for."""
MODEL_FILES = ("config.json", "tokenizer.json")


def complete(payload: Path, profiles: Sequence[Profile]) -> bool:
    """Whether all is there; what is missing is told on stderr."""
    if lacking := missing(payload, profiles):
        print("\n".join(["nothing is started, since there is missing:", *lacking]), file=sys.stderr)
    return not lacking


def missing(payload: Path, profiles: Sequence[Profile]) -> list[str]:
    """What is not there, one line each; empty where everything is."""
    site = [f"{payload}/site/{name}" for name in PACKAGES if not (payload / "site" / name).is_dir()]
    if any(profile.engine == "sglang" for profile in profiles):
        site += [f"{payload}/sglang/{name}" for name in OF_SGLANG if not (payload / "sglang" / name).is_dir()]
    models = sorted({name for profile in profiles for name in _models(profile)})
    unknown = [f"a configuration for {name}" for name in models if name not in SHAPES]
    folders = [payload / "models" / SHAPES[name].folder for name in models if name in SHAPES]
    files = [str(folder / name) for folder in folders for name in MODEL_FILES if not (folder / name).is_file()]
    return [*site, *unknown, *files, *_unimportable()]


def _models(profile: Profile) -> list[str]:
    drafting = profile.args.get("speculative-config")
    drafter = [str(drafting["model"])] if isinstance(drafting, dict) and "model" in drafting else []
    return [profile.model, *drafter]


def _unimportable() -> list[str]:
    faults = []
    for name in (*OURS, *CLIENT):
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - whatever an import raises is what is missing
            faults.append(f"{name}: {type(error).__name__}: {error}")
    return faults
