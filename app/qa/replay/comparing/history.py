"""Runs over time: each noted with its scores, held to a baseline that has a name, and told where it dropped."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from app.qa.replay.comparing.diff import RunDiff, compare
from app.qa.replay.comparing.policy import Policy
from app.qa.replay.judging.score import Scores, score
from app.qa.replay.provenance import file_hash
from app.qa.replay.records.journal import DECISIONS, HEAD, HELD, RULES, SOURCES, TIMINGS, Run, read_run
from schemas.amiss import faults
from schemas.errors import BadInput, MalformedMessage, NotFound
from services.disk import locked, write_whole

RUNS: Final = "runs.jsonl"
BASELINES: Final = "baselines"
MAX_RUNS: Final = 10_000
_KEPT: Final = (HEAD, DECISIONS, TIMINGS, SOURCES, HELD, RULES)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
P95: Final = "total_p95_ms"


class NotedRun(BaseModel):
    """A run as history keeps it. A ratio is its value, the ends of its interval, and of how many."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    run: str
    at: str
    commit: str
    dirty: bool | None
    manifest: str
    ruleset: str
    turns: int
    ratios: dict[str, tuple[float, float, float, float]]
    against: str = ""
    alerts: tuple[str, ...] = ()


class RunHistory:
    """A folder of noted runs and of baselines, which are whole runs without their sound."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, name: str, out: Path) -> None:
        """Make a finished run the baseline of this name, in place of an earlier one. Raises BadInput, NotFound."""
        target = self._baseline(name)
        read_run(out)
        fresh = target.with_name(f".{name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        for file in (name for name in _KEPT if (out / name).is_file()):
            shutil.copyfile(out / file, fresh / file)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)

    def baselines(self) -> tuple[str, ...]:
        """The names that there are."""
        folder = self._folder / BASELINES
        found = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
        return tuple(sorted(name for name in found if _NAME.fullmatch(name)))

    def folder_of(self, name: str) -> Path:
        """The run that a baseline is. Raises BadInput, NotFound with the names that there are."""
        found = self._baseline(name)
        if not found.is_dir():
            raise NotFound(f"no baseline {name!r}: {', '.join(self.baselines()) or 'none is kept yet'}")
        return found

    def runs(self) -> tuple[NotedRun, ...]:
        """All noted runs, oldest first. Raises MalformedMessage."""
        path = self._folder / RUNS
        lines = path.read_bytes().splitlines() if path.is_file() else []
        try:
            return tuple(NotedRun.model_validate(orjson.loads(line)) for line in lines)
        except (orjson.JSONDecodeError, ValidationError) as error:
            said = next(faults(error, own_file=True)) if isinstance(error, ValidationError) else error
            raise MalformedMessage(f"{path}: {said}") from error

    def note(
        self, out: Path, against: str, policy: Policy, accepted: Sequence[str] = ()
    ) -> tuple[NotedRun, RunDiff | None]:
        """Put a run on record, held to the baseline `against` where one is named; noting it again changes nothing.

        `accepted` are patterns of changed rules that no turn need use.
        Raises NotFound, MalformedMessage, and WrongState where the two have no turn in common.
        """
        run = read_run(out)
        compared = compare(read_run(self.folder_of(against)), run) if against else None
        noted = noted_run(
            run, file_hash(out / DECISIONS), score(run.results), against, alerts(compared, policy, accepted)
        )
        self._folder.mkdir(parents=True, exist_ok=True)
        with locked(self._folder / ".lock"):  # two that note at once must not lose each other's line
            known = self.runs()
            if noted not in known:
                self._write((*known, noted)[-MAX_RUNS:])
        return noted, compared

    def _write(self, runs: tuple[NotedRun, ...]) -> None:
        """All or nothing: a history is not torn by a crash."""
        lines = (orjson.dumps(run.model_dump(), option=orjson.OPT_SORT_KEYS) + b"\n" for run in runs)
        write_whole(self._folder / RUNS, b"".join(lines))

    def _baseline(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise BadInput(f"{name!r:.80} is no name: letters, figures, `.`, `_` and `-`, at most 60")
        return self._folder / BASELINES / name


def alerts(compared: RunDiff | None, policy: Policy, accepted: Sequence[str] = ()) -> tuple[str, ...]:
    """Why a run is worse than what it is held to, in words: what the policy fails on, and scores that really fell."""
    if compared is None:
        return ()
    found = [
        f"{finding.policy}: {finding.says}" for finding in compared.findings(policy.fail_on, accepted, policy.unreached)
    ]
    fallen = (moved for moved in compared.scores if moved.worse)
    found += [f"{m.name} {m.before.value or 0:.4f} → {m.after.value or 0:.4f}: {m.says}" for m in fallen]
    return tuple(found)


def noted_run(run: Run, decisions: str, scores: Scores, against: str, found: tuple[str, ...]) -> NotedRun:
    """A run as it is noted."""
    last = run.sittings[-1] if run.sittings else None
    ratios: dict[str, tuple[float, float, float, float]] = {
        name: (ratio.value, ratio.low or 0.0, ratio.high or 0.0, ratio.of)
        for name, ratio in scores.ratios.items()
        if ratio.value is not None
    }
    if (total := scores.latency.get("total")) and not scores.kept:
        ratios[P95] = (total.p95_ms, total.p95_ms, total.p95_ms, total.count)
    return NotedRun(
        run=decisions,
        at=run.sittings[0].started if run.sittings else "",
        commit=last.commit if last else "",
        dirty=last.dirty if last else None,
        manifest=run.head.manifest[:16],
        ruleset=run.head.ruleset[:16],
        turns=scores.turns,
        ratios=ratios,
        against=against,
        alerts=found,
    )


def folder_named(text: Path, history: RunHistory) -> Path:
    """A run's folder, or a baseline's by its name where there is no such folder. Raises BadInput, NotFound."""
    return text if text.is_dir() or len(text.parts) > 1 else history.folder_of(str(text))


def series(runs: tuple[NotedRun, ...]) -> Mapping[str, list[tuple[NotedRun, tuple[float, float, float, float]]]]:
    """Every figure over the runs that have it."""
    found: dict[str, list[tuple[NotedRun, tuple[float, float, float, float]]]] = {}
    for run in runs:
        for name, value in run.ratios.items():
            found.setdefault(name, []).append((run, value))
    return found
