"""Serving profiles: YAML files that extend one another, read and checked."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

HERE = Path(__file__).parent
PROFILES = HERE / "profiles"
NEWER_RUNNER = "VLLM_USE_V2_MODEL_RUNNER"
Value = bool | int | float | str | dict[str, Any]


class Hardware(BaseModel):
    """What a profile is meant for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accelerator: str
    count: int = Field(ge=1)
    memory_gib: int

    @property
    def tpu(self) -> bool:
        """Whether the accelerator is a TPU."""
        return "tpu" in self.accelerator


class Profile(BaseModel):
    """One way to serve one model. `args` are the engine's flags without their dashes; true is a bare switch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str
    why: str = ""
    engine: Literal["vllm", "sglang", "tensorrt-llm"]
    engine_version: str
    image: str
    role: Literal["extraction", "qna"]
    model: str
    served_name: str
    port: int
    hardware: Hardware
    env: dict[str, str] = {}
    args: dict[str, Value]
    config: dict[str, Any] = {}

    @model_validator(mode="after")
    def _servable(self) -> Self:
        drafting = self.args.get("speculative-config")
        drafts_from_text = isinstance(drafting, dict) and drafting.get("method") == "ngram"
        if drafts_from_text and self.env.get(NEWER_RUNNER) == "1":
            raise ValueError(f"{self.name}: vLLM's newer model runner refuses n-gram drafting")
        return self

    def flags(self) -> list[str]:
        """The engine's flags as an argument vector, the model and the port among them."""
        name = "served_model_name" if self.engine == "tensorrt-llm" else "served-model-name"
        port: dict[str, Value] = {"port": self.port, name: self.served_name}
        return [part for flag, value in (port | self.args).items() for part in _flag(flag, value)]

    def command(self) -> list[str]:
        """The whole command as an argument vector."""
        if self.engine == "vllm":
            return ["vllm", "serve", self.model, *self.flags()]
        if self.engine == "sglang":
            return ["python", "-m", "sglang.launch_server", "--model-path", self.model, *self.flags()]
        return ["trtllm-serve", self.model, *self.flags(), "--config", "/etc/engine/config.yaml"]


def _flag(flag: str, value: Value) -> list[str]:
    if value is True:
        return [f"--{flag}"]
    if value is False:
        return [f"--no-{flag}"]
    text = json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else str(value)
    return [f"--{flag}", text]


def names() -> list[str]:
    """Every profile that can be served; files that begin with an underscore are only extended."""
    return sorted(path.stem for path in PROFILES.glob("*.yaml") if not path.stem.startswith("_"))


def load(name: str) -> Profile:
    """A profile with all that it extends. Raises FileNotFoundError, ValidationError."""
    return Profile.model_validate({"name": name} | _merged(name))


def _merged(name: str) -> dict[str, Any]:
    body: dict[str, Any] = yaml.safe_load((PROFILES / f"{name}.yaml").read_text(encoding="utf-8"))
    base = body.pop("extends", None)
    below = _merged(base) if base else {}
    together = {key: below.get(key, {}) | body.get(key, {}) for key in ("args", "env") if key in below or key in body}
    return below | body | together


def shell(profile: Profile) -> str:
    """A profile's environment and command as they are typed, one setting or flag a line."""
    lines = [f"{name}={shlex.quote(value)}" for name, value in profile.env.items()] + [""]
    for part in profile.command():
        if part.startswith("--"):
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + shlex.quote(part)
    return " \\\n  ".join(lines)
