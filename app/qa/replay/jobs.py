"""Replays asked for over HTTP: a bounded queue on disk, worked off by processes of their own, one a gateway at a time.

A job is a folder: `job.json`, the manifest, its recordings, and `out/` as `tellerline replay` leaves it. What
matters is in files, so a gateway that starts again goes on where the last one stopped. Gateways of one state folder
share the queue: who works on a job, or removes it, holds its lock.
"""

import asyncio
import logging
import shutil
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests import readers
from app.qa.replay.records.journal import JOURNAL, REPORT
from schemas.errors import BadInput, Busy, MalformedMessage, NotFound, TellerlineError, TooLarge, WrongState
from services.disk import locked, on_disk, write_whole
from services.ports import Clock

log = logging.getLogger(__name__)

MAX_WAITING: Final = 8
MAX_KEPT: Final = 50
"""Finished jobs kept; the oldest make room."""
MAX_CASES: Final = 5_000
MAX_FILES: Final = 5_000
RETRY_AFTER_S: Final = 30.0
LOOK_EVERY_S: Final = 10.0
"""So often the queue is looked at unasked: for what failed to begin, and what another gateway left."""
MAX_TOLD: Final = 20
"""Faults of a manifest that a refusal names."""
_JOB: Final = "job.json"
_LOCK: Final = ".lock"
_MANIFESTS: Final = frozenset({"manifest.jsonl", "manifest.csv"})
_SUFFIXES: Final = readers.AUDIO_SUFFIXES | {".json", ".txt"}


class JobState(StrEnum):
    """Where a job stands. A RUNNING one whose gateway died is taken up again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


_OPEN: Final = frozenset({JobState.RUNNING, JobState.QUEUED})


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
    with await on_disk.run(None, lambda: (out.parent / "log.txt").open("ab")) as output:
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
    """The queue. `work` runs as long as the gateway; everything else blocks, for a thread."""

    def __init__(self, folder: Path, clock: Clock, runner: Runner = run_process) -> None:
        self._folder = folder
        self._clock = clock
        self._runner = runner
        self._wake = asyncio.Event()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def all(self) -> list[Job]:
        """Every job that can be read, oldest first."""
        found = []
        for path in self._folder.iterdir():
            with suppress(NotFound, OSError):
                found.append(self._read(path.name))
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
        with locked(self._folder / _LOCK):
            return self._submit(by, manifest, files)

    def wake(self) -> None:
        """Tell `work` that there is something to do."""
        self._wake.set()

    def _submit(self, by: str, manifest: str, files: Mapping[str, bytes]) -> Job:
        jobs = self.all()
        if sum(job.state in _OPEN for job in jobs) >= MAX_WAITING:
            raise Busy("too many replays wait", retry_after_s=RETRY_AFTER_S)
        if manifest not in _MANIFESTS or len(files) > MAX_FILES:
            raise BadInput(f"one of {', '.join(sorted(_MANIFESTS))} and at most {MAX_FILES} files are taken")
        self._make_room(jobs)
        folder = self._folder / self._clock.new_id()
        try:
            _unpack(folder, files)
            now, cases = self._clock.now(), _checked(folder, manifest)
            job = Job(id=folder.name, state=JobState.QUEUED, submitted_at=now, by=by, manifest=manifest, cases=cases)
            self._write(job)
        except (TellerlineError, OSError):
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return job

    def remove(self, job: str) -> None:
        """Forget a job that is not running, files and all. Raises NotFound, WrongState."""
        self._read(job)
        try:
            with self._alone(job):
                _remove(self._folder / job)
        except BlockingIOError:
            raise WrongState("the replay is running") from None
        except FileNotFoundError:
            raise NotFound("no such replay") from None

    async def work(self) -> None:
        """Work off the queue, those that a dead gateway left running first. What fails keeps nothing else waiting."""
        while True:
            self._wake.clear()
            waiting = list[Job]()
            with _told():
                waiting = await on_disk.run(None, self._waiting)
            for job in waiting:
                with _told():
                    await self._run(job)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._wake.wait()

    def _waiting(self) -> list[Job]:
        waiting = (job for job in self.all() if job.state in _OPEN)
        return sorted(waiting, key=lambda job: job.state is JobState.QUEUED)

    async def _run(self, job: Job) -> None:
        folder = self._folder / job.id
        with ExitStack() as ours:
            if not await on_disk.run(None, self._begin, job.id, ours):
                return
            try:
                status = await self._runner(folder / job.manifest, folder / "out")
            except OSError as error:
                log.warning("a replay could not be started: %s", type(error).__name__)
                status = -1
            await on_disk.run(None, self._end, job, status)

    def _begin(self, job: str, ours: ExitStack) -> bool:
        """Take a job up, unless another gateway has it, or it is over by now."""
        try:
            ours.enter_context(self._alone(job))
            found = self._read(job)
        except (BlockingIOError, FileNotFoundError, NotFound):
            return False
        if found.state not in _OPEN:
            return False
        (self._folder / job / "out").mkdir(exist_ok=True)
        self._write(found.model_copy(update={"state": JobState.RUNNING}))
        return True

    def _end(self, job: Job, status: int) -> None:
        done = status == 0 and (self._folder / job.id / "out" / REPORT).is_file()
        reason = "" if done else f"exit status {status}"
        state = JobState.DONE if done else JobState.FAILED
        self._write(job.model_copy(update={"state": state, "reason": reason}))

    def _alone(self, job: str) -> AbstractContextManager[None]:
        """Nobody else works on a job, or removes it. Raises BlockingIOError, FileNotFoundError."""
        return locked(self._folder / job / _LOCK, wait=False)

    def _read(self, job: str) -> Job:
        if not job.replace("-", "").replace("_", "").isalnum():
            raise NotFound("no such replay")
        try:
            return Job.model_validate_json((self._folder / job / _JOB).read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError) as error:
            raise NotFound("no such replay") from error

    def _write(self, job: Job) -> None:
        write_whole(self._folder / job.id / _JOB, job.model_dump_json().encode())

    def _make_room(self, jobs: Iterable[Job]) -> None:
        finished = [job for job in jobs if job.state not in _OPEN]
        for job in finished[: max(0, len(finished) - MAX_KEPT + 1)]:
            with suppress(FileNotFoundError):
                _remove(self._folder / job.id)


@contextmanager
def _told() -> Iterator[None]:
    """What fails in the block is told, and ends no more than the block."""
    try:
        yield
    except Exception as fault:
        log.exception("a replay waits: %s", type(fault).__name__)


def _remove(folder: Path) -> None:
    """Out of the way at once, so that nobody begins with half of it."""
    shutil.rmtree(folder.rename(folder.with_name(f".{folder.name}.gone")))


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
