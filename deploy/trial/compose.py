"""Reads docker-compose.yml as compose does, as far as ours goes: includes, variables, profiles, health checks."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml
from dotenv import dotenv_values

_VARIABLE: Final = re.compile(
    r"\$(?:(?P<escaped>\$)|\{(?P<name>\w+)(?:(?P<how>:?[-?])(?P<rest>(?:[^{}]|\{[^{}]*\})*))?\})"
)
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class ComposeInvalid(Exception):
    """What is wrong with a compose file, or missing for it."""


@dataclass(frozen=True)
class HealthCheck:
    """A health check. `test` is a command's words; times are in seconds."""

    test: tuple[str, ...]
    interval_s: float = 30.0
    timeout_s: float = 30.0
    start_s: float = 0.0
    retries: int = 3

    @property
    def patience_s(self) -> float:
        """How long a service may take until it is unhealthy."""
        return self.start_s + self.retries * (self.interval_s + self.timeout_s)


@dataclass(frozen=True)
class Service:
    """One service, its variables replaced."""

    name: str
    image: str
    built: bool
    raw: Mapping[str, Any]
    environment: Mapping[str, str]
    health: HealthCheck | None
    needs: Mapping[str, str] = field(default_factory=dict)
    """Which services come before it, each with its condition."""

    @property
    def profiles(self) -> frozenset[str]:
        """The profiles that it belongs to; none is all of them."""
        return frozenset(self.raw.get("profiles", ()))

    @property
    def names(self) -> frozenset[str]:
        """Under which others reach it."""
        networks = self.raw.get("networks", {})
        aliases = networks.get("default", {}).get("aliases", ()) if isinstance(networks, dict) else ()
        return frozenset({self.name, *aliases})

    @property
    def ports(self) -> frozenset[int]:
        """The ports that it says it listens on."""
        published = (str(port).rpartition(":")[2] for port in self.raw.get("ports", ()))
        return frozenset(int(port) for port in (*published, *self.raw.get("expose", ())))

    @property
    def words(self) -> tuple[str, ...]:
        """The command line that replaces the image's: entrypoint, then command."""
        return (*_words(self.raw.get("entrypoint", ())), *_words(self.raw.get("command", ())))

    @property
    def grace_s(self) -> float:
        """How long it may take to end."""
        return seconds(self.raw.get("stop_grace_period", "10s"))


def load(file: Path, variables: Mapping[str, str], home: Path | None = None) -> dict[str, Service]:
    """Every service of a file and of those that it includes; `home` has the env files. Raises ComposeInvalid."""
    document = yaml.safe_load(file.read_text(encoding="utf-8"))
    services: dict[str, Service] = {}
    for included in document.get("include", ()):
        services |= load(file.parent / included, variables, home)
    for name, given in document.get("services", {}).items():
        if name in services:
            raise ComposeInvalid(f"{name} is defined twice")
        services[name] = _service(name, replaced(given, variables), home or file.parent)
    return services


def chosen(services: Mapping[str, Service], profiles: Iterable[str]) -> dict[str, Service]:
    """The services of these profiles, each after those that it needs. Raises ComposeInvalid."""
    wanted = set(profiles)
    here = {name: one for name, one in services.items() if not one.profiles or one.profiles & wanted}
    ordered: dict[str, Service] = {}
    while len(ordered) < len(here):
        ready = [one for name, one in here.items() if name not in ordered and set(one.needs) <= set(ordered)]
        if not ready:
            raise ComposeInvalid(f"what {', '.join(sorted(set(here) - set(ordered)))} needs is not there, or a circle")
        ordered |= {one.name: one for one in ready}
    return ordered


def seconds(text: str) -> float:
    """A duration, as `1m30s`. Raises ComposeInvalid."""
    parts = re.findall(r"(\d+)(ms|s|m|h)", text)
    if "".join(map("".join, parts)) != text or not text:
        raise ComposeInvalid(f"{text} is no duration")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


def replaced(given: Any, variables: Mapping[str, str]) -> Any:
    """A document with `${NAME}`, `${NAME:-default}` and `${NAME:?why}` replaced. Raises ComposeInvalid."""
    if isinstance(given, str):
        return _VARIABLE.sub(lambda found: _value(found, variables), given)
    if isinstance(given, list):
        return [replaced(one, variables) for one in given]
    if isinstance(given, dict):
        return {name: replaced(one, variables) for name, one in given.items()}
    return given


def _value(found: "re.Match[str]", variables: Mapping[str, str]) -> str:
    if found["escaped"]:
        return "$"
    name, how, rest = found["name"], found["how"] or "", found["rest"] or ""
    value = variables.get(name)
    if value or (value is not None and not how.startswith(":")):
        return value
    if how.endswith("?"):
        raise ComposeInvalid(f"{name}: {rest}")
    return str(replaced(rest, variables))


def _service(name: str, raw: Mapping[str, Any], folder: Path) -> Service:
    environment: dict[str, str] = {}
    for file in raw.get("env_file", ()):
        path = folder / file["path"]
        if not path.is_file() and file.get("required", True):
            raise ComposeInvalid(f"{name}: no file {path}")
        environment |= {key: value or "" for key, value in dotenv_values(path, interpolate=False).items()}
    environment |= {key: str(value) for key, value in raw.get("environment", {}).items()}
    needs = {other: how["condition"] for other, how in raw.get("depends_on", {}).items()}
    check = raw.get("healthcheck", {})
    return Service(name, raw["image"], "build" in raw, raw, environment, health(check), needs)


def health(check: Mapping[str, Any]) -> HealthCheck | None:
    """A health check; None where there is none, or it is disabled. Raises ComposeInvalid."""
    if not check or check.get("disable"):
        return None
    kind, *words = check["test"]
    if kind not in {"CMD", "CMD-SHELL"}:
        raise ComposeInvalid(f"{kind} is no health check")
    times = {name: seconds(check[name]) for name in ("interval", "timeout", "start_period") if name in check}
    return HealthCheck(
        test=("sh", "-c", *words) if kind == "CMD-SHELL" else tuple(words),
        interval_s=times.get("interval", 30.0),
        timeout_s=times.get("timeout", 30.0),
        start_s=times.get("start_period", 0.0),
        retries=check.get("retries", 3),
    )


def _words(given: "str | list[str]") -> list[str]:
    return given.split() if isinstance(given, str) else list(given)
