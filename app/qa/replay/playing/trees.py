"""Another pipeline by what is other about it, and the tree that it is started from."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import app
from app.qa.scratch import Scratch
from schemas.errors import BadInput

_PACKAGES: Final = ("app", "services", "schemas")


@dataclass(frozen=True, slots=True)
class OtherPipeline:
    """What is other about the other: a recogniser by name, a folder of rules, a whole tree. Empty is as here."""

    asr_model: str = ""
    rules: Path | None = None
    tree: Path | None = None


@contextmanager
def tree_of(other: OtherPipeline) -> Iterator[Path]:
    """The folder that a pipeline's packages lie in; with other rules, a folder of links to ours and to them.

    Raises BadInput where a folder is not what it should be.
    """
    top = other.tree or Path(app.__path__[0]).parent
    rules = other.rules or top / "rules"
    missing = [name for name in _PACKAGES if not (top / name / "__init__.py").is_file()]
    if missing or not (rules / "load.py").is_file():
        raise BadInput(f"{top} is no tree of tellerline" if missing else f"{rules} is no folder of rules")
    if other.rules is None:
        yield top.resolve()
        return
    scratch = Scratch("tellerline-shadow")
    try:
        for name in _PACKAGES:
            (scratch.path / name).symlink_to((top / name).resolve())
        shutil.copytree(rules, scratch.path / "rules")  # rules are read from where they lie, and no link leads out
        yield scratch.path
    finally:
        scratch.close()


def mirror_elsewhere(other: OtherPipeline) -> int:
    """Have other rules, or another tree, be the shadow: in a process that reads and writes where this one would.

    Its environment is ours, which has no secret of the gateway's, and its folder ours, which has no `.env`.
    """
    command = [sys.executable, "-m", "app.cli", "replay", "mirror", "--asr-model", other.asr_model]
    with tree_of(other) as tree:
        return subprocess.run(["/usr/bin/env", f"PYTHONPATH={tree}", *command], check=False).returncode  # noqa: S603


def give_way() -> None:
    """Run where nobody else wants to, and be the first to go where memory runs out."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
