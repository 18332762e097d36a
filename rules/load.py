"""The one way in for rules: every file has an id and a version, is validated against a model, and is hashed.

A rules file is YAML or JSON with `id` and `version` at its top; a table is TSV whose first line is `#id@version`.
Paths are relative to the rules folder: `load("normalize/en-US/money.yaml", MoneyRules)`.
"""

import hashlib
from collections.abc import Hashable, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.amiss import faults
from schemas.errors import RulesInvalid
from schemas.ids import Locale, RuleId

ROOT: Final = Path(__file__).parent
MAX_BYTES: Final = 16 * 1024 * 1024
"""No rules file may be larger."""
MAX_FAULTS: Final = 3
"""Of one file that are told."""


class RuleFile(BaseModel):
    """The head of every rules file; subclass it with the fields of the body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int

    @property
    def rule(self) -> RuleId:
        """This file's identity, `id@version`."""
        return RuleId(f"{self.id}@{self.version}")


M = TypeVar("M", bound=RuleFile)


class _PlainLoader(yaml.CSafeLoader):
    """YAML in which only true and false are booleans (`no` is a word callers say) and keys are unique."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: ARG002 - the base signature
        mapping = super().construct_mapping(node, deep=True)
        if len(mapping) != len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "duplicate key", node.start_mark)
        return mapping


_BOOL: Final = "tag:yaml.org,2002:bool"
_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL or first in "tTfF"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def read(path: str) -> bytes:
    """The bytes of a rules file. Raises RulesInvalid when it is absent, outside the folder or too large."""
    target = (ROOT / path).resolve()
    if ROOT not in target.parents or not target.is_file():
        raise RulesInvalid(f"no rules file {path}")
    if target.stat().st_size > MAX_BYTES:
        raise RulesInvalid(f"rules file {path} is larger than {MAX_BYTES} bytes")
    return target.read_bytes()


@lru_cache(maxsize=512)
def _load(path: str, model: type[RuleFile]) -> RuleFile:
    return _parsed(read(path), path, model)


def _parsed(text: bytes, path: str, model: type[M], words: Mapping[str, str] = MappingProxyType({})) -> M:
    try:
        body = orjson.loads(text) if path.endswith(".json") else yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader
        return model.model_validate(_filled(body, words) if words else body)
    except (yaml.YAMLError, orjson.JSONDecodeError, ValidationError) as error:
        raise RulesInvalid(f"{path}: {_said(error)}") from error


def _filled(body: Any, words: Mapping[str, str]) -> Any:
    """A file's body, or a part of it, with the words of every `{name}` in it."""
    if isinstance(body, dict):
        return {name: _filled(each, words) for name, each in body.items()}
    if isinstance(body, list):
        return [_filled(each, words) for each in body]
    if isinstance(body, str):
        for name, said in words.items():
            body = body.replace(f"{{{name}}}", said)
    return body


def _said(error: Exception) -> str:
    """What is wrong with a file, in a line: where, and what was expected."""
    if isinstance(error, ValidationError):
        return "; ".join(islice(faults(error, own_file=True), MAX_FAULTS))
    return " ".join(str(error).split())


def load(path: str, model: type[M]) -> M:
    """Read and validate a YAML or JSON rules file, once a process. Raises RulesInvalid."""
    loaded = _load(path, model)
    assert isinstance(loaded, model)
    return loaded


def load_filled(path: str, model: type[M], words: Mapping[str, str]) -> M:
    """Read and validate a rules file in which `{name}` stands for those of `words`. Raises RulesInvalid."""
    return _parsed(read(path), path, model, words)


def as_written(path: str) -> dict[str, Any]:
    """All that a YAML or JSON rules file says, held to no model. Raises RulesInvalid."""
    text = read(path)
    body = orjson.loads(text) if path.endswith(".json") else yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a SafeLoader
    if not isinstance(body, dict):
        raise RulesInvalid(f"{path}: no names in it")
    return body


def load_own(path: Path, model: type[M]) -> M:
    """Read and validate a file of the bank's own, outside the rules folder. Raises RulesInvalid."""
    if path.stat().st_size > MAX_BYTES:
        raise RulesInvalid(f"{path} is larger than {MAX_BYTES} bytes")
    return _parsed(path.read_bytes(), str(path), model)


@lru_cache(maxsize=64)
def load_table(path: str) -> tuple[RuleId, tuple[tuple[str, ...], ...]]:
    """Read a TSV table: its identity and its rows; blank lines and `#` lines are skipped. Raises RulesInvalid."""
    head, *lines = read(path).decode("utf-8").splitlines()
    if not head.startswith("#") or "@" not in head:
        raise RulesInvalid(f"{path}: the first line must be #id@version")
    rows = tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))
    return RuleId(head[1:].strip()), rows


def exists(path: str) -> bool:
    """Whether a rules file is there."""
    return (ROOT / path).is_file()


def locales() -> tuple[Locale, ...]:
    """Every locale that has rules: the folders of rules/locales, sorted."""
    return tuple(Locale(p.stem) for p in sorted((ROOT / "locales").glob("*.yaml")))


@lru_cache(maxsize=1)
def ruleset_hash() -> str:
    """SHA-256 over every rules file's path and bytes (hex): the version of all rules together."""
    digest = hashlib.sha256()
    for path in rule_files():
        digest.update(path.encode() + b"\0" + hashlib.sha256((ROOT / path).read_bytes()).digest())
    return digest.hexdigest()


def rule_files() -> list[str]:
    """Every rules file, relative to the rules folder, sorted."""
    found = sorted(p for p in ROOT.rglob("*") if p.suffix in {".yaml", ".json", ".tsv", ".md", ".txt", ".xz"})
    return [str(path.relative_to(ROOT)) for path in found]
