"""Replays asked for over HTTP: a bounded queue on disk, worked off one at a time by a process of their own.

A job is a folder: `job.json`, the manifest, its recordings, and `out/` as `tellerline replay` leaves it. What
matters is in files, so a gateway that starts again goes on where the last one stopped.
"""

import asyncio
import logging
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests import readers
from app.qa.replay.records.journal import JOURNAL, REPORT
from schemas.errors import BadInput, Busy, MalformedMessage, NotFound, TellerlineError, TooLarge, WrongState
from services.ports import Clock
from services.timing import write_whole

log = logging.getLogger(__name__)

MAX_WAITING: Final = 8
MAX_KEPT: Final = 50
"""Finished jobs kept; the oldest make room."""
MAX_CASES: Final = 5_000
MAX_FILES: Final = 5_000
RETRY_AFTER_S: Final = 30.0
MAX_TOLD: Final = 20
"""Faults of a manifest that a refusal names."""
_JOB: Final = "job.json"
_MANIFESTS: Final = frozenset({"manifest.jsonl", "manifest.csv"})
_SUFFIXES: Final = readers.AUDIO_SUFFIXES | {".json", ".txt"}


class JobState(StrEnum):
    """Where a job stands. A RUNNING one whose gateway died is taken up again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Job(BaseModel):
    """What is on disk of a job, less its files. `reason` says why it failed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    state: JobState
    submitted_at: datetime
    by: str
    manifest: str
    cases: int
    done: int = 0
    reason: str = ""


Runner = Callable[[Path, Path], Awaitable[int]]
"""Plays a manifest into a folder; the exit status. Cancelled when the gateway goes away."""


async def run_process(manifest: Path, out: Path) -> int:
    """`tellerline replay` as a process of low priority, so that live calls keep their latency.

    It is tied to us: it holds the other end of a pipe, and ends when that is closed, by us or by our end.
    """
    command = ("nice", "-n", "15", sys.executable, "-m", "app.cli", "replay", "job", str(manifest), str(out))
    with (out.parent / "log.txt").open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=output, stderr=output
        )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
            await process.wait()


class ReplayJobs:
    """The queue. `work` runs as long as the gateway."""

    def __init__(self, folder: Path, clock: Clock, runner: Runner = run_process) -> None:
        self._folder = folder
        self._clock = clock
        self._runner = runner
        self._wake = asyncio.Event()
        self._submitting = threading.Lock()
        self._running: str | None = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def all(self) -> list[Job]:
        """Every job, oldest first."""
        found = (self._read(path.name) for path in self._folder.iterdir() if (path / _JOB).is_file())
        return sorted(found, key=lambda job: (job.submitted_at, job.id))

    def get(self, job: str) -> Job:
        """A job, with how many cases are done. Raises NotFound."""
        found = self._read(job)
        journal = self._folder / job / "out" / JOURNAL
        done = journal.read_bytes().count(b"\n") if journal.is_file() else 0
        return found.model_copy(update={"done": min(done, found.cases)})

    def result(self, job: str, name: str) -> Path:
        """A file of a finished run. Raises NotFound, WrongState while it is not finished."""
        found = self._read(job)
        if found.state is not JobState.DONE:
            raise WrongState(f"the replay is {found.state.value}")
        path = self._folder / job / "out" / name
        if not path.is_file():
            raise NotFound("no such result")
        return path

    def submit(self, by: str, manifest: str, files: Mapping[str, bytes]) -> Job:
        """Queue a replay of `files`, of which `manifest` is one. Raises Busy, TooLarge, BadInput, MalformedMessage.

        Safe in any thread; call `wake` on the event loop afterwards.
        """
        with self._submitting:
            return self._submit(by, manifest, files)

    def wake(self) -> None:
        """Tell `work` that there is something to do."""
        self._wake.set()

    def _submit(self, by: str, manifest: str, files: Mapping[str, bytes]) -> Job:
        jobs = self.all()
        if sum(job.state in {JobState.QUEUED, JobState.RUNNING} for job in jobs) >= MAX_WAITING:
            raise Busy("too many replays wait", retry_after_s=RETRY_AFTER_S)
        if manifest not in _MANIFESTS or len(files) > MAX_FILES:
            raise BadInput(f"one of {', '.join(sorted(_MANIFESTS))} and at most {MAX_FILES} files are taken")
        self._make_room(jobs)
        folder = self._folder / self._clock.new_id()
        try:
            _unpack(folder, files)
            cases = _checked(folder, manifest)
        except (TellerlineError, OSError):
            shutil.rmtree(folder, ignore_errors=True)
            raise
        job = Job(
            id=folder.name, state=JobState.QUEUED, submitted_at=self._clock.now(), by=by, manifest=manifest, cases=cases
        )
        self._write(job)
        return job

    def remove(self, job: str) -> None:
        """Forget a job that is not running, files and all. Raises NotFound, WrongState."""
        if self._read(job).id == self._running:
            raise WrongState("the replay is running")
        shutil.rmtree(self._folder / job)

    async def work(self) -> None:
        """Work off the queue, those that a dead gateway left running first."""
        while True:
            waiting = [job for job in self.all() if job.state in {JobState.RUNNING, JobState.QUEUED}]
            if not waiting:
                self._wake.clear()
                await self._wake.wait()
                continue
            await self._run(min(waiting, key=lambda job: (job.state is JobState.QUEUED, job.submitted_at)))

    async def _run(self, job: Job) -> None:
        folder = self._folder / job.id
        (folder / "out").mkdir(exist_ok=True)
        self._running = job.id
        self._write(job.model_copy(update={"state": JobState.RUNNING}))
        try:
            status = await self._runner(folder / job.manifest, folder / "out")
        except OSError as error:
            log.warning("a replay could not be started: %s", type(error).__name__)
            status = -1
        finally:
            self._running = None
        done = status == 0 and (folder / "out" / REPORT).is_file()
        reason = "" if done else f"exit status {status}"
        state = JobState.DONE if done else JobState.FAILED
        self._write(job.model_copy(update={"state": state, "reason": reason}))

    def _read(self, job: str) -> Job:
        path = self._folder / job / _JOB
        if not job.replace("-", "").replace("_", "").isalnum() or not path.is_file():
            raise NotFound("no such replay")
        try:
            return Job.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise NotFound("no such replay") from error

    def _write(self, job: Job) -> None:
        write_whole(self._folder / job.id / _JOB, job.model_dump_json().encode())

    def _make_room(self, jobs: Iterable[Job]) -> None:
        finished = [job for job in jobs if job.state in {JobState.DONE, JobState.FAILED}]
        for job in finished[: max(0, len(finished) - MAX_KEPT + 1)]:
            shutil.rmtree(self._folder / job.id)


def _unpack(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files below `folder`, and nowhere else. Raises BadInput."""
    for name, body in files.items():
        path = PurePosixPath(name)
        odd = path.is_absolute() or ".." in path.parts or not name.isprintable() or "\\" in name
        if odd or not path.parts or (name not in _MANIFESTS and path.suffix.lower() not in _SUFFIXES):
            raise BadInput(f"a file of this name is not taken: {name!r:.80}")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)


def _checked(folder: Path, manifest: str) -> int:
    """How many cases the manifest has; its recordings must be among the files. Raises MalformedMessage and others."""
    read = readers.load(folder / manifest)
    if unknown := label_faults(read):
        raise MalformedMessage("; ".join(unknown[:MAX_TOLD]))
    if not 0 < len(read.cases) <= MAX_CASES:
        raise TooLarge(f"between 1 and {MAX_CASES} cases are taken")
    for audio in read.audio():
        if folder.resolve() not in audio.resolve().parents or not audio.is_file():
            raise BadInput(f"the manifest names a recording that did not come with it: {audio.name!r:.80}")
    return len(read.cases)
