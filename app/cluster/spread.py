"""Work that is spread over a cluster: as many actors as asked for, each with what it works by, made once."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Generic, Protocol, TypeVar

import ray
from ray.exceptions import RayActorError, RayTaskError

from app.cluster.own import ray_here
from schemas.errors import InternalFault, TellerlineError

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

AHEAD: Final = 3
"""Pieces of work that wait at an actor, so that it never does."""
TRIES: Final = 3
"""How often a piece is begun, where its actor dies each time; one that kills them all ends the run."""


class PieceWorker(Protocol[T_contra, R_co]):
    """What does the work, in a process of its own."""

    def work(self, piece: T_contra) -> R_co:
        """One piece. What it raises ends everything."""
        ...


class _Actor(Generic[T, R]):
    def __init__(self, make: Callable[[], PieceWorker[T, R]]) -> None:
        self._fault: TellerlineError | None = None
        try:
            self._worker = make()
        except TellerlineError as error:
            self._fault = error  # told by the first piece: Ray would take it for a death

    def ready(self) -> None:
        """Answered once it is there."""

    def work(self, piece: T) -> R:
        if self._fault is not None:
            raise self._fault
        return self._worker.work(piece)


@dataclass(frozen=True, slots=True)
class _Begun(Generic[T]):
    actor: Any
    piece: T
    tries: int


class SpreadWork(Generic[T, R]):
    """Has pieces done by `workers` actors; each comes back once, in the order in which they are done.

    An actor has work once it is there: what a cluster has no room for is waited for by nobody.
    """

    def __init__(self, make: Callable[[], PieceWorker[T, R]], workers: int) -> None:
        self._made = ray.remote(num_cpus=1)(_Actor)
        self._make = ray.put(make)
        self._free: deque[Any] = deque()
        self._starting: dict[Any, Any] = {}
        self._under_way: dict[Any, _Begun[T]] = {}
        self._again: deque[tuple[T, int]] = deque()
        for _ in range(workers):
            self._start()

    def done(self, pieces: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Each piece with what was made of it. Raises what the worker raised, InternalFault."""
        todo = ((piece, 1) for piece in pieces)
        while True:
            while self._free and (found := self._again.popleft() if self._again else next(todo, None)) is not None:
                actor = self._free.popleft()
                self._under_way[actor.work.remote(found[0])] = _Begun(actor, *found)
            if self._free and not self._under_way:
                return
            yield from self._next()

    def _start(self) -> None:
        actor = self._made.remote(self._make)
        self._starting[actor.ready.remote()] = actor

    def _next(self) -> Iterator[tuple[T, R]]:
        """The results that are there; none where an actor came, or was found dead."""
        ready, _ = ray.wait([*self._under_way, *self._starting])
        for answer in ready:
            if answer in self._starting:
                self._came(answer)
            elif (begun := self._under_way.get(answer)) is not None:  # unless it is begun anew by now
                try:
                    made: R = ray.get(answer)
                except RayActorError as error:
                    self._died(begun.actor, error)
                    continue
                except RayTaskError as error:
                    raise (error.cause if isinstance(error.cause, TellerlineError) else error) from None
                del self._under_way[answer]
                self._free.append(begun.actor)
                yield begun.piece, made

    def _came(self, answer: Any) -> None:
        actor = self._starting.pop(answer)
        try:
            ray.get(answer)
        except RayActorError as error:
            raise InternalFault("a worker died before it had done anything") from error
        self._free.extend([actor] * AHEAD)

    def _died(self, dead: Any, error: RayActorError) -> None:
        """What waited there is for others, and another comes in its place. Raises InternalFault."""
        self._free = deque(actor for actor in self._free if actor != dead)
        waited = [(answer, begun) for answer, begun in self._under_way.items() if begun.actor == dead]
        for place, (answer, begun) in enumerate(waited):
            if place == 0 and begun.tries == TRIES:  # it was being done: the others only waited
                raise InternalFault(f"a worker died {TRIES} times of the same piece of work") from error
            del self._under_way[answer]
            self._again.append((begun.piece, begun.tries + (place == 0)))
        self._start()


@contextmanager
def spread_over(make: Callable[[], PieceWorker[T, R]], workers: int) -> Iterator[SpreadWork[T, R]]:
    """Actors on the cluster that RAY_ADDRESS names, or on one of this machine's own that is gone afterwards."""
    with ray_here(workers):
        yield SpreadWork(make, workers)
