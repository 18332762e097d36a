"""The changes of faults.yaml and harmless.yaml, and how each is put into a copy of the tree or of the corpus."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson
import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from deploy.bench._gate import corpus

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ("app", "services", "schemas", "rules")
Played = Literal["words", "sound"]


class Edit(BaseModel):
    """Words of a file put in the place of others; all of them must be there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    find: str = ""
    put: str

    def apply(self, tree: Path) -> None:
        """Change the file, or write it where there is nothing to find. Raises ValueError where it is not there."""
        path = tree / self.file
        text = path.read_text(encoding="utf-8") if self.find else ""
        if self.find not in text:
            raise ValueError(f"{self.file} does not hold {self.find!r}")
        changed = text.replace(self.find, self.put, 1) if self.find else self.put
        path.unlink(missing_ok=True)  # the file may be a link to the one that we must not change
        path.write_text(changed, encoding="utf-8")


class SeededChange(BaseModel):
    """One fault, or one harmless change. `told` are words of which the gate's summary must have one, in any case.

    `accepted` are changed rules that no call of the corpus uses, and of which whoever makes the change says so.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    kind: Literal["rules", "code", "weights", "manifest", "recordings", "machine"]
    played: Played = "words"
    edits: tuple[Edit, ...] = ()
    corpus: str = ""
    options: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> "SeededChange":
        if self.corpus and self.corpus not in corpus.CHANGES:
            raise ValueError(f"no change of a corpus is called {self.corpus}")
        return self


@dataclass(frozen=True, slots=True)
class TreeCopy:
    """A copy to change: the tree that is run, and the corpus that it plays."""

    tree: Path
    manifest: Path


def read(name: str) -> tuple[SeededChange, ...]:
    """The changes of a file beside this one."""
    raw: list[dict[str, Any]] = yaml.load((Path(__file__).parent / name).read_text(encoding="utf-8"), yaml.CSafeLoader)
    return tuple(SeededChange.model_validate(item) for item in raw)


def place(folder: Path, cases: list[dict[str, Any]], base: Path) -> TreeCopy:
    """Copies of the packages and of a corpus, by links where the disk is the same."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / "tree" / package, copy_function=_link, ignore=shutil.ignore_patterns("__pycache__")
        )
    target = folder / "corpus"
    for name in {turn["audio"] for case in cases for turn in case["turns"] if "audio" in turn}:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        _link(str(base / name), str(target / name))
    manifest = target / "manifest.jsonl"
    target.mkdir(parents=True, exist_ok=True)
    manifest.write_bytes(b"".join(orjson.dumps(case) + b"\n" for case in cases))
    return TreeCopy(folder / "tree", manifest)


def put_in(change: SeededChange, where: TreeCopy) -> None:
    """Make the change. Raises ValueError where it does not take."""
    for edit in change.edits:
        edit.apply(where.tree)
    if change.corpus:
        corpus.CHANGES[change.corpus](where.manifest, where.tree)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
