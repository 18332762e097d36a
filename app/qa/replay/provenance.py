"""What produced a run: code, rules, weights, settings; and, apart from them, when and on what machine it was played."""

import hashlib
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import app
import rules
import schemas
import services
from app.qa.figures import machine
from app.settings import Settings
from services.timing import SystemClock

_LIBRARIES: Final = ("ctranslate2", "numpy", "av", "soxr", "rapidfuzz", "jiwer")
_APART: Final = frozenset({"__pycache__", "model"})
"""Folders that are no source: what Python makes of it, and weights, which `weights` tells."""
_GIT_S: Final = 10.0
UNKNOWN: Final = "unknown: the gateway's"
"""Stands for what a caller can't know of the gateway that played a run."""
HASH: Final = 16
"""Hexadecimal digits kept of a hash that people read."""
_SETTINGS: Final = ("asr_model", "asr_device", "extraction_model", "extraction_deadline_s", "qna_model", "bank")


@dataclass(frozen=True, slots=True)
class Sitting:
    """One stretch of a run, from its start to its end or interruption. A run that was resumed has several."""

    started: str
    machine: str
    jobs: int
    libraries: str
    commit: str
    dirty: bool | None
    """Whether files differed from the commit; None where the code is not in a repository."""
    held: int = 0
    """Cases that the journal held already: these were not played in this sitting."""


def sitting(jobs: int) -> Sitting:
    """The sitting that begins now."""
    commit, dirty = revision()
    libraries = " ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    return Sitting(SystemClock().now().isoformat(timespec="seconds"), machine(), jobs, libraries, commit, dirty)


@lru_cache(maxsize=1)
def sources() -> dict[str, str]:
    """Every file of code and rules that this process runs by, of a checkout as of a wheel, with a hash of its bytes."""
    found = {}
    for package in (app, rules, schemas, services):
        top = Path(package.__path__[0])
        for path in sorted(p for p in top.rglob("*") if p.is_file() and not _APART.intersection(p.parts)):
            found[f"{top.name}/{path.relative_to(top).as_posix()}"] = file_hash(path)
    return found


@lru_cache(maxsize=1)
def code_hash() -> str:
    """One hash of all code: other code, other hash."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sources().items() if name.endswith(".py"))
    return hashlib.sha256(lines.encode()).hexdigest()[:HASH]


def file_hash(path: Path) -> str:
    """A hash of a file's bytes; "absent" where it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:HASH]
    except OSError:
        return "absent"


def weights(folder: Path) -> dict[str, str]:
    """Every file of a recogniser with a hash of its bytes."""
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {f"weights/{path.relative_to(folder).as_posix()}": file_hash(path) for path in files}


def revision() -> tuple[str, bool | None]:
    """The commit of the checkout, and whether its files differ from it; ("", None) where there is none."""
    top = Path(app.__path__[0]).parent
    try:
        commit = _git(top, "rev-parse", "HEAD").strip()
        return commit, bool(_git(top, "status", "--porcelain", "--untracked-files=no").strip())
    except (OSError, subprocess.SubprocessError):
        return "", None


def _git(top: Path, *command: str) -> str:
    if not (top / ".git").exists():
        raise FileNotFoundError(top)
    done = subprocess.run(  # noqa: S603 - our own words
        ["git", "-C", str(top), *command],  # noqa: S607 - git as found
        capture_output=True,
        text=True,
        timeout=_GIT_S,
        check=True,
    )
    return done.stdout


def settings_that_matter(settings: Settings) -> dict[str, str]:
    """What decisions depend on, as words; no secrets, no credentials."""
    found: dict[str, Any] = {name: getattr(settings, name) for name in _SETTINGS}
    found |= {"extraction_url": endpoint(settings.extraction_url), "qna_url": endpoint(settings.qna_url)}
    if settings.knowledge_dir is not None:
        found["knowledge"] = folder_hash(settings.knowledge_dir)
    return {name: str(value) for name, value in sorted(found.items()) if value != ""}


def endpoint(url: str) -> str:
    """A URL without what may be secret in it: user, password, query."""
    if not url:
        return ""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def folder_hash(folder: Path) -> str:
    """A hash over the names and bytes of all files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:HASH]
