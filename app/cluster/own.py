"""The cluster that work runs on: the one that is named, or one of this machine's own."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Final

import ray

SHARED_BYTES: Final = 256 * 1024 * 1024
"""Memory in which decodes' sound crosses; a second of it has 64 kB."""
SYSTEM: Final = {
    "worker_niceness": 0,  # 15 by default: calls would wait for all else on the machine
    "max_direct_call_object_size": 2 * 1024 * 1024,  # up to half a minute of sound goes along with the call
    "task_events_report_interval_ms": 0,  # a record of every decode, for a dashboard that is off
    "enable_metrics_collection": False,  # of Ray's own: ours are the gateways'
    "raylet_report_resources_period_milliseconds": 500,
}


def named() -> bool:
    """Whether there is a cluster that others started, of more machines than this one."""
    return bool(os.environ.get("RAY_ADDRESS"))  # noqa: TID251 - Ray's own setting


@contextmanager
def ray_here(cpus: float) -> Iterator[None]:
    """The cluster that RAY_ADDRESS names, which others use too, or one of our own."""
    if not named():
        with own_ray(cpus):
            yield
        return
    ray.init()
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def own_ray(cpus: float) -> Iterator[None]:
    """Ray on this machine, reachable from it alone, with room for actors that ask for so many CPUs.

    Logs and sockets are in a folder that nobody else may enter; nothing is left behind.
    """
    with TemporaryDirectory(prefix="tl-") as folder:
        ray.init(
            num_cpus=max(os.cpu_count() or 1, math.ceil(cpus)),
            object_store_memory=SHARED_BYTES,
            include_dashboard=False,
            _temp_dir=f"{folder}/ray",  # which Ray opens to everyone: the folder around it is closed
            _system_config=SYSTEM,
        )
        try:
            yield
        finally:
            ray.shutdown()
