"""What a sweep runs, from phases.yaml: servers with their overrides, and one `vllm bench serve` a combination."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.vllm.serving import HERE, Profile, load, names

PHASES = HERE / "sweep" / "phases.yaml"
Load = Literal["bench", "extraction", "hostile"]


class _PlanPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(_PlanPart):
    """A profile with other flags; null takes a flag away. `speculative` changes single drafting options."""

    name: str
    profile: str
    args: dict[str, Any] = {}
    speculative: dict[str, Any] = {}
    env: dict[str, str] = {}

    def resolved(self) -> Profile:
        """The profile as it is to be served."""
        profile = load(self.profile)
        args = {key: value for key, value in (profile.args | self.args).items() if value is not None}
        if self.speculative:
            drafting = args["speculative-config"]
            assert isinstance(drafting, dict)
            args["speculative-config"] = drafting | self.speculative
        return Profile.model_validate(profile.model_dump() | {"args": args, "env": profile.env | self.env})


class LoadRun(_PlanPart):
    """One kind of load; the matrix is multiplied out. `dataset` and `schema` name what datasets.py makes.

    `load`: vLLM's generator, or one of our own client's (own.py). `rounds`: at least so many requests for each at once.
    """

    label: str
    bench: dict[str, Any] = {}
    load: Load = "bench"
    rounds: int = 0
    dataset: str = ""
    schema_name: str = ""
    matrix: dict[str, list[Any]] = {}

    @classmethod
    def of(cls, body: dict[str, Any]) -> LoadRun:
        """A run from its YAML, where `schema` is the shorter word."""
        rest = {key: value for key, value in body.items() if key != "schema"}
        return cls.model_validate(rest | {"schema_name": body.get("schema", "")})


class Phase(_PlanPart):
    """One phase: servers × runs, or a command of another program."""

    name: str
    title: str
    command: str = ""
    servers: list[Server] = []
    runs: list[LoadRun] = []


class Systems(_PlanPart):
    """What is measured of any profile, and what may be changed in it, by name."""

    runs: list[LoadRun]
    variants: dict[str, Server]


class Sweep(_PlanPart):
    """The whole file."""

    bench: dict[str, Any]
    phases: dict[str, Phase]
    systems: Systems

    def of_profiles(self, wanted: str) -> Phase:
        """A phase of systems: `PROFILE` or `PROFILE:VARIANT+VARIANT`, comma-separated. Raises ValueError."""
        servers = [self._system(name) for name in filter(None, wanted.split(","))]
        return Phase(name="systems", title="systems side by side", servers=servers, runs=self.systems.runs)

    def _system(self, name: str) -> Server:
        profile, _, changes = name.partition(":")
        if profile not in names():
            raise ValueError(f"no profile {profile}; there are {', '.join(names())}")
        server = Server(name=name.replace(":", "-").replace("+", "-"), profile=profile)
        for change in filter(None, changes.split("+")):
            if change not in self.systems.variants:
                raise ValueError(f"no variant {change}; there are {', '.join(self.systems.variants)}")
            other = self.systems.variants[change]
            parts = {part: getattr(server, part) | getattr(other, part) for part in ("args", "speculative", "env")}
            server = server.model_copy(update=parts)
        return server


class LoadJob(_PlanPart):
    """One `vllm bench serve`, and what it is to be recorded under."""

    phase: str
    server: str
    label: str
    load: Load = "bench"
    varied: dict[str, Any]
    dataset: str
    schema_name: str
    flags: dict[str, Any]

    @property
    def key(self) -> str:
        """A file name of its own."""
        varied = "".join(f"-{key}-{value}" for key, value in sorted(self.varied.items()))
        return f"{self.phase}-{self.server}-{self.label}{varied}"

    def argv(self, url: str, model: str, tokenizer: str, out: Path, schemas: dict[str, Any]) -> list[str]:
        """The arguments after `vllm bench serve`."""
        flags = dict(self.flags)
        if self.dataset:
            flags["dataset-path"] = str(out / "data" / f"{self.dataset}.jsonl")
        body: dict[str, Any] = {"chat_template_kwargs": {"enable_thinking": False}}
        if self.schema_name:
            wanted = {"name": self.schema_name, "schema": schemas[self.schema_name], "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        flags |= {
            "base-url": url,
            "model": model,
            "tokenizer": tokenizer,
            "extra-body": json.dumps(body, ensure_ascii=False),
            "result-dir": str(out / "raw"),
            "result-filename": f"{self.key}.json",
        }
        return [part for flag, value in flags.items() for part in _flag(flag, value)]


def _flag(flag: str, value: Any) -> list[str]:
    if value is True:
        return [f"--{flag}"]
    return [f"--{flag}", str(value)]


def sweep() -> Sweep:
    """phases.yaml, checked. Raises ValidationError."""
    body = yaml.safe_load(PHASES.read_text(encoding="utf-8"))
    phases = {}
    for name, phase in body["phases"].items():
        phases[name] = Phase.model_validate(
            {"name": name} | phase | {"runs": list(map(LoadRun.of, phase.get("runs", [])))}
        )
    systems = body["systems"]
    variants = {name: {"name": name, "profile": ""} | change for name, change in systems["variants"].items()}
    of_systems = Systems.model_validate({"runs": list(map(LoadRun.of, systems["runs"])), "variants": variants})
    return Sweep(bench=body["bench"], phases=phases, systems=of_systems)


def jobs(common: dict[str, Any], phase: Phase, server: Server) -> list[LoadJob]:
    """Every combination of a phase on one server, in the order of the file."""
    made = []
    for run in phase.runs:
        for values in itertools.product(*run.matrix.values()):
            varied = dict(zip(run.matrix, values, strict=True))
            dataset = str(varied.get("dataset", run.dataset))
            flags = common | run.bench | {key: value for key, value in varied.items() if key != "dataset"}
            flags["num-prompts"] = max(flags["num-prompts"], run.rounds * flags["max-concurrency"])
            made.append(
                LoadJob(
                    phase=phase.name,
                    server=server.name,
                    label=run.label,
                    load=run.load,
                    varied=varied,
                    dataset=dataset,
                    schema_name=run.schema_name,
                    flags=flags,
                )
            )
    return made
