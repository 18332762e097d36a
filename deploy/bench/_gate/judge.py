"""Playing a copy, comparing it with the baseline, and what the gate said of it."""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from app.qa.replay.comparing.diff import compare
from app.qa.replay.comparing.policy import policy
from app.qa.replay.records.journal import read_run
from app.qa.replay.report.summary import blamed
from deploy.bench._gate.changes import Played, SeededChange, TreeCopy, place, put_in
from schemas.errors import NotFound

POLICY: Final = "ci"
CHANGED: Final = "changed between"
_LIMIT_S: Final = 1_200
_SUMMARY: Final = re.compile(r"policy |\w+: ")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate said: whether it is red, and the lines of its summary."""

    change: SeededChange
    red: bool
    summary: str
    refused: str = ""

    def told(self, *, outcome: bool = False) -> bool:
        """Whether the summary names the cause; by what came of it alone, if so asked, not by the changed file."""
        lines = [line for line in self.summary.splitlines() if not (outcome and line.startswith(CHANGED))]
        return not self.change.told or any(word in line for word in self.change.told for line in lines)


class Gate:
    """Baselines of a corpus, by words and by sound, and changes held to them."""

    def __init__(self, folder: Path, cases: dict[Played, list[dict[str, Any]]], base: Path) -> None:
        self._folder = folder
        self._cases = cases
        self._base = base

    def begin(self, played: Played) -> Verdict:
        """Play the baseline."""
        where = place(self._folder / f"base-{played}", self._cases[played], self._base)
        nothing = SeededChange(name="baseline", kind="code", played=played)
        code, said = self._play(where, nothing, self._out(played))
        return Verdict(nothing, code != 0, said)

    def try_out(self, change: SeededChange) -> Verdict:
        """Put a change into a copy, play that, compare; the copy is gone afterwards."""
        copy = self._folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        where = place(copy, self._cases[change.played], self._base)
        try:
            put_in(change, where)
        except (ValueError, OSError) as error:
            return Verdict(change, red=False, summary="", refused=str(error))
        played, said = self._play(where, change, copy / "out")
        compared = self._compared(self._out(change.played), copy / "out", change.accepted)
        return Verdict(change, played != 0 or bool(compared), "\n".join([_lines(said), *compared]))

    @staticmethod
    def _compared(before: Path, after: Path, accepted: Sequence[str]) -> list[str]:
        """Why the comparison fails, as `tellerline replay diff` tells it; nothing where it does not."""
        try:
            found = compare(read_run(before), read_run(after))
        except NotFound:
            return []  # it was refused or broke off, and said why
        findings = found.findings(policy(POLICY).fail_on, accepted)
        return [*(f"{each.policy}: {each.says}" for each in findings), *([blamed(found)] if findings else [])]

    def _out(self, played: Played) -> Path:
        return self._folder / f"out-{played}"

    def _play(self, where: TreeCopy, change: SeededChange, out: Path) -> tuple[int, str]:
        options = change.options or ("--jobs", "1")
        words = ("--words",) if change.played == "words" else ()
        run = [
            "replay",
            "run",
            str(where.manifest),
            "--out",
            str(out),
            "--policy",
            POLICY,
            "--hear-anew",
            *words,
            *options,
        ]
        return _cli(where.tree, run)


def _cli(tree: Path, command: list[str]) -> tuple[int, str]:
    """The command line of a copy: its exit code, and all that it said."""
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *command],
        cwd=tree, env={"PYTHONPATH": str(tree), "PATH": "/usr/bin:/bin", "COLUMNS": "400"},
        capture_output=True, text=True, timeout=_LIMIT_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def _lines(said: str) -> str:
    """The lines in which the gate gives its reasons, last lines of a crash among them."""
    lines = [line for line in said.splitlines() if _SUMMARY.match(line) and not line.startswith(("before:", "after:"))]
    return "\n".join(line[:1_500] for line in lines)
