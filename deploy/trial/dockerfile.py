"""Reads the Dockerfile: its instructions in order, by stage."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.trial.compose import HealthCheck, health

_FLAG: Final = re.compile(r"--([a-z-]+)=(\S+)\s+")
_PAIR: Final = re.compile(r"(\w+)=(\"[^\"]*\"|\S+)")


class DockerfileInvalid(Exception):
    """An instruction that is not understood here."""


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name, its flags, and the rest."""

    name: str
    flags: dict[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        """The rest as words: of a JSON list, or parted by blanks."""
        if self.text.startswith("["):
            return [str(word) for word in json.loads(self.text)]
        return self.text.split()


@dataclass(frozen=True)
class BuildStage:
    """One stage: what it starts from, its name, and its instructions."""

    base: str
    name: str
    steps: tuple[Instruction, ...]

    def last(self, name: str) -> Instruction | None:
        """The instruction of this name that counts."""
        return next((step for step in reversed(self.steps) if step.name == name), None)

    def environment(self, before: dict[str, str]) -> dict[str, str]:
        """What its ENV instructions leave, on top of what was there."""
        found = dict(before)
        for step in self.steps:
            if step.name == "ENV":
                found |= {name: set_in(value.strip('"'), found) for name, value in _PAIR.findall(step.text)}
        return found

    @property
    def health(self) -> HealthCheck | None:
        """Its health check."""
        step = self.last("HEALTHCHECK")
        if step is None:
            return None
        kind, _, command = step.text.partition(" ")
        words = json.loads(command)
        return health({"test": [kind, *words], **step.flags, "start_period": step.flags.get("start-period", "0s"),
                       "retries": int(step.flags.get("retries", "3"))})  # fmt: skip


def read(file: Path) -> list[BuildStage]:
    """The stages of a Dockerfile. Raises DockerfileInvalid."""
    stages: list[BuildStage] = []
    steps: list[Instruction] = []
    for step in _steps(file.read_text(encoding="utf-8")):
        if step.name == "FROM":
            base, *name = re.split(r"\s+AS\s+", step.text, flags=re.IGNORECASE)
            steps = []
            stages.append(BuildStage(base, name[0] if name else str(len(stages)), ()))
        elif not stages:
            raise DockerfileInvalid(f"{step.name} before FROM")
        else:
            steps.append(step)
            stages[-1] = BuildStage(stages[-1].base, stages[-1].name, tuple(steps))
    return stages


def set_in(text: str, variables: dict[str, str]) -> str:
    """A value with `$NAME` and `${NAME}` replaced."""
    return re.sub(r"\$\{?(\w+)\}?", lambda found: variables.get(found[1], ""), text)


def _steps(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        name, _, rest = line.strip().partition(" ")
        rest, flags = rest.strip(), dict[str, str]()
        while found := _FLAG.match(rest):
            flags[found[1]] = found[2]
            rest = rest[found.end() :]
        yield Instruction(name.upper(), flags, rest)
