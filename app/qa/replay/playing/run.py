"""Playing a manifest: every case once, on all cores, as fast as it goes, resumable.

Each process composes its own pipeline once and plays whole cases, so that nothing that changes is shared and order does
not matter.
"""

import asyncio
import multiprocessing
import multiprocessing.connection
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from multiprocessing.util import Finalize
from pathlib import Path
from threading import Thread
from typing import Final, Protocol

from app.qa.replay.comparing.policy import slack
from app.qa.replay.comparing.readings import readings
from app.qa.replay.comparing.rule_entries import rule_entries
from app.qa.replay.judging.judge import owed_after
from app.qa.replay.manifests.manifest import Case, Manifest, MoneyMove
from app.qa.replay.playing.forked import context
from app.qa.replay.provenance import UNKNOWN, sitting, sources
from app.qa.replay.records.journal import Journal, RunHead
from app.qa.replay.records.record import TurnResult, unplayed
from rules.load import ruleset_hash
from schemas.errors import ConfigInvalid, InternalFault, TellerlineError, TimedOut

CASE_TIMEOUT_S: Final = 300.0
MAX_JOBS: Final = 64
_WAITING_PER_JOB: Final = 4
"""Cases handed to a process ahead of time."""


class Player(Protocol):
    """Plays cases through a pipeline of its own."""

    async def play(self, case: Case, base: Path) -> tuple[TurnResult, ...]:
        """All turns of one call, in order. Raises TellerlineError where a turn can't be played."""
        ...

    async def close(self) -> None:
        """Release models and files."""
        ...


class PlayerSpec(Protocol):
    """How to make a Player: picklable, so that each process makes its own."""

    def head(self, manifest: Manifest, corpus: str) -> RunHead:
        """What the decisions will depend on."""
        ...

    def weights(self) -> dict[str, str]:
        """The recogniser's files, each with a hash."""
        ...

    def prepare(self) -> None:
        """Begin with what several processes have in common."""
        ...

    async def open(self) -> Player:
        """Compose the pipeline and warm it up."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, counted from its very first start."""

    done: int
    cases: int
    audio_s: float


Watcher = Callable[[Progress], None]


class _Worker:
    """One process' player and event loop; a process has one. `base` is what recordings are relative to."""

    def __init__(self, spec: PlayerSpec, base: Path = Path()) -> None:
        self._base = base
        self.runner = asyncio.Runner()
        try:
            self.player = self.runner.run(spec.open())
        except BaseException:
            self.runner.close()
            raise

    def work(self, piece: Case) -> tuple[TurnResult, ...]:
        return self.play(piece, self._base)

    def play(self, case: Case, base: Path) -> tuple[TurnResult, ...]:
        return self.runner.run(guarded(self.player, case, base))

    def close(self) -> None:
        self.runner.run(self.player.close())
        self.runner.close()


async def guarded(player: Player, case: Case, base: Path) -> tuple[TurnResult, ...]:
    """A case that fails is a result too: its error's code on record, the run goes on."""
    try:
        async with asyncio.timeout(CASE_TIMEOUT_S):
            return _with_debts(await player.play(case, base))
    except TellerlineError as error:
        return _failed(case, error)
    except TimeoutError:
        return _failed(case, TimedOut(f"the call took longer than {CASE_TIMEOUT_S:.0f} s"))
    except Exception as error:  # noqa: BLE001 - a fault of ours in one call ends no run
        return _failed(case, InternalFault(f"{type(error).__name__}: {error!s:.200}"))


def _with_debts(results: tuple[TurnResult, ...]) -> tuple[TurnResult, ...]:
    """Each turn with the money that the call still owed its caller when it began."""
    owed: tuple[MoneyMove, ...] = ()
    told: list[TurnResult] = []
    for result in results:
        record = result.record.model_copy(update={"owed": owed})
        told.append(result.model_copy(update={"record": record}))
        owed = owed_after(record)
    return tuple(told)


def _failed(case: Case, error: TellerlineError) -> tuple[TurnResult, ...]:
    numbers = range(1, len(case.turns) + 1)
    return tuple(unplayed(case, number, error=error.code, reason=error.message) for number in numbers)


_worker: _Worker | TellerlineError | None = None


def _start(spec: PlayerSpec) -> None:
    global _worker  # noqa: PLW0603 - a pool's initializer has no other place to leave what it made
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        _worker = _Worker(spec)
    except TellerlineError as error:
        _worker = error  # told by the first case: a pool whose initializer raises keeps no reason
        return
    # A pool's process leaves without atexit; this is how it is told to release what its player holds.
    Finalize(None, _worker.close, exitpriority=10)


def _end_with_parent() -> None:
    """Wait until the run's process is gone, however it went, and go too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _work(case: Case, base: Path) -> tuple[TurnResult, ...]:
    assert _worker is not None
    if isinstance(_worker, TellerlineError):
        raise _worker
    return _worker.play(case, base)


def replay(
    manifest: Manifest,
    spec: PlayerSpec,
    out: Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    watch: Watcher | None = None,
    corpus: str = "",
    on_ray: bool = False,
) -> tuple[TurnResult, ...]:
    """Play what the journal in `out` does not hold yet; all results in manifest order.

    An interruption loses only the cases in flight; what began here may go on `on_ray`, and the other way.
    Raises WrongState where `out` holds another run, or one goes on there, and what the pipeline raises where it can't
    be composed.
    """
    head = spec.head(manifest, corpus)
    journal = Journal(out, head, sitting(jobs))
    done = journal.open(fresh=fresh)
    _note_what_made(journal, head, manifest, spec.weights())
    order = [case.id for case in manifest.cases]
    todo = [case for case in manifest.cases if case.id not in done]
    finished, seconds = len(order) - len(todo), 0.0
    player = _on_ray if on_ray else _one_by_one if jobs <= 1 else _pooled
    try:
        for case, results in player(todo, manifest.base, spec, min(jobs, MAX_JOBS)):
            journal.append(case, results)
            finished += 1
            seconds += sum(r.timing.audio_s for r in results)
            if watch is not None:
                watch(Progress(finished, len(order), seconds))
        return journal.finish(order)
    finally:
        journal.close()


def _note_what_made(journal: Journal, head: RunHead, manifest: Manifest, weights: Mapping[str, str]) -> None:
    """Our own code and rules, where it is they that play: of a gateway's nothing is known but what it tells."""
    code = head.code != UNKNOWN
    rules = code or head.ruleset == ruleset_hash()
    ours = {name: digest for name, digest in sources().items() if (rules if name.startswith("rules/") else code)}
    journal.note_sources(ours | dict(weights) | {f"audio/{k}": v for k, v in manifest.recordings().items()})
    words = readings(frozenset(case.language for case in manifest.cases)) if rules else {}
    journal.note_held(words, slack())
    journal.note_rules(rule_entries() if rules else {})


Played = Iterator[tuple[str, tuple[TurnResult, ...]]]


def _one_by_one(todo: Sequence[Case], base: Path, spec: PlayerSpec, _jobs: int) -> Played:
    if not todo:
        return
    worker = _Worker(spec)
    try:
        for case in todo:
            yield case.id, worker.play(case, base)
    finally:
        worker.close()


def _on_ray(todo: Sequence[Case], base: Path, spec: PlayerSpec, jobs: int) -> Played:
    """As `_pooled`, by actors that may be on other machines, which see `base` at the same place."""
    if not todo:
        return
    try:
        from app.cluster.spread import spread_over
    except ModuleNotFoundError as error:
        raise ConfigInvalid("Ray is not installed: `make ray` makes an environment with it") from error
    with spread_over(partial(_Worker, spec, base.resolve()), min(jobs, len(todo))) as spread:
        for case, results in spread.done(todo):
            yield case.id, results


def _pooled(todo: Sequence[Case], base: Path, spec: PlayerSpec, jobs: int) -> Played:
    if not todo:
        return
    spec.prepare()
    with ProcessPoolExecutor(min(jobs, len(todo)), context(), initializer=_start, initargs=(spec,)) as pool:
        waiting: dict[Future[tuple[TurnResult, ...]], str] = {}
        cases = iter(todo)
        try:
            while True:
                while len(waiting) < jobs * _WAITING_PER_JOB and (case := next(cases, None)) is not None:
                    waiting[pool.submit(_work, case, base)] = case.id
                if not waiting:
                    return
                finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()
