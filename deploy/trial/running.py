"""Processes of services: started, asked whether they are healthy, measured, and ended as compose ends them."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from deploy.trial.places import ServiceInstance
from deploy.trial.programs import Program, check

ASK_EVERY_S = 0.5
"""Compose asks at its intervals; whoever waits wants to know soon, but each answer costs what is starting a moment."""


class NotHealthy(Exception):
    """A service that ended, or was not healthy in its time."""


class Running:
    """One started service."""

    def __init__(self, place: ServiceInstance, process: asyncio.subprocess.Process, log: Path) -> None:
        self.place = place
        self.log = log
        self.ready_s = 0.0
        self._process = process
        self._began = time.monotonic()

    @classmethod
    async def start(cls, place: ServiceInstance, program: Program, folder: Path) -> "Running":
        """Start it; what it says goes into a file."""
        log = folder / f"{place.name}.log"
        with log.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *program.command, cwd=program.folder, env=program.environment, stdin=asyncio.subprocess.DEVNULL,
                stdout=out, stderr=asyncio.subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        return cls(place, process, log)

    async def healthy(self) -> None:
        """Wait until its health check says so. Raises NotHealthy."""
        until = self._began + max(60.0, self.place.service.health.patience_s if self.place.service.health else 0)
        while not await asked(self.place):
            if self._process.returncode is not None:
                raise NotHealthy(f"{self.place.name} ended with {self._process.returncode}: {self.last_words()}")
            if time.monotonic() > until:
                raise NotHealthy(f"{self.place.name} was not healthy in its time: {self.last_words()}")
            await asyncio.sleep(ASK_EVERY_S)
        self.ready_s = time.monotonic() - self._began

    @property
    def memory_mb(self) -> float:
        """What it and its children take, pages that several share counted once among them, in MB."""
        return sum(_pages(pid) for pid in _family(self._process.pid)) / 1024

    def kill(self) -> None:
        """End it without warning, and its children."""
        for pid in list(_family(self._process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    async def stop(self) -> None:
        """Ask it to end, and after its grace make it."""
        if self._process.returncode is not None:
            return
        self._process.send_signal(signal.SIGINT if "postgres" in self.place.service.image else signal.SIGTERM)
        try:
            async with asyncio.timeout(self.place.service.grace_s):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()

    def last_words(self) -> str:
        """The end of what it said."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])


async def asked(place: ServiceInstance) -> bool:
    """Whether a place's health check says that it is healthy; a service without one is."""
    words = check(place)
    if not words:
        return True
    environment = dict(place.service.environment) | {"TELLERLINE_HOST": place.address, "PATH": "/usr/bin:/bin"}
    asking = await asyncio.create_subprocess_exec(
        *words, env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    return await asking.wait() == 0


def _family(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _pages(pid: int) -> int:
    """Memory of a process in kB."""
    for file, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/{file}").read_text().splitlines():
                if line.startswith(field):
                    return int(line.split()[1])
    return 0
