"""Work shared out among processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tqdm import tqdm

Job = TypeVar("Job")
Done = TypeVar("Done")


def shared(work: Callable[[Job], Done], jobs: Sequence[Job], workers: int, unit: str = "shard") -> list[Done]:
    """What each job gives, in their order; the processes begin with what this one has in memory."""
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        done: Iterable[Done] = tqdm(pool.imap(work, jobs), total=len(jobs), unit=unit)
        return list(done)
