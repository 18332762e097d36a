"""Settings of a training: a profile of config.toml, and on the command line what differs from it, as KEY=VALUE.

A profile is a table of the file; `like` names one that it begins as. A value on the command line is TOML, or plain text
where it is none: `lr=4e-5 folder=/tmp/asr only=ja`.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

FILE = Path(__file__).parents[1] / "config.toml"
Settings = TypeVar("Settings")


def settings(kind: type[Settings], arguments: Sequence[str], file: Path = FILE) -> Settings:
    """Settings of a dataclass: of the profile named first, then those told. SystemExit for unknown or missing ones."""
    profiles = tomllib.loads(file.read_text(encoding="utf-8"))
    name, told = (arguments[0], arguments[1:]) if arguments else ("", ())
    if name not in profiles:
        raise SystemExit(f"name a profile of {file.name}: {', '.join(profiles)}")
    values = _profile(profiles, name) | dict(_told(argument) for argument in told)
    hints = get_type_hints(kind)
    if unknown := values.keys() - hints.keys():
        raise SystemExit(f"no such setting: {', '.join(sorted(unknown))}; there are {', '.join(hints)}")
    needed = {f.name for f in dataclasses.fields(kind) if f.default is f.default_factory is dataclasses.MISSING}  # type: ignore[arg-type]
    if missing := needed - values.keys():
        raise SystemExit(f"still to be told: {', '.join(sorted(missing))}")
    return kind(**{key: _as(hints[key], value) for key, value in values.items()})


def _profile(profiles: dict[str, Any], name: str) -> dict[str, Any]:
    own = dict(profiles[name])
    like = own.pop("like", None)
    return own if like is None else _profile(profiles, like) | own


def _told(argument: str) -> tuple[str, Any]:
    key, equals, value = argument.partition("=")
    if not equals:
        raise SystemExit(f"{argument}: settings are KEY=VALUE")
    try:
        return key, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key, value


def _as(hint: Any, value: Any) -> Any:
    """The value as the type that its field has."""
    return hint(value) if hint in (Path, float, str) else value
