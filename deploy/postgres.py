"""A private PostgreSQL for benchmarks and tests: its own cluster in a temporary folder, reached by a Unix socket."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ACCOUNT: Final = "postgres"
"""Owner of the cluster; also the system account that runs it where we are root, which the server refuses to be."""

MEMORY_ROOM: Final = 1 << 30
"""Bytes that a cluster without durability may take of the memory file system."""


def server_folder() -> Path | None:
    """Where the server's programs are: on the PATH, or in Debian's place; None where there are none."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def unavailable() -> str:
    """Why no private cluster can be started; empty when one can."""
    if server_folder() is None:
        return "no PostgreSQL server is installed"
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and setpriv is not installed"
    return ""


class Cluster:
    """A private cluster, which can be made to fail. `url` is a SQLAlchemy URL with a `{database}` place."""

    def __init__(self, programs: Path, folder: Path, options: Sequence[str]) -> None:
        self._programs = programs
        self._data = folder / "data"
        self._log = folder / "server.log"
        self._options = " ".join(options)
        self.folder = folder
        self.url = f"postgresql+asyncpg://{ACCOUNT}@/{{database}}?host={folder}"

    def start(self) -> None:
        """Start it, recovering from whatever ended it. Raises CalledProcessError."""
        _run([self._programs / "pg_ctl", "-D", self._data, "-l", self._log, "-w", "-o", self._options, "start"])

    def stop(self) -> None:
        """End it at once. Raises CalledProcessError."""
        _run([self._programs / "pg_ctl", "-D", self._data, "-m", "immediate", "-w", "stop"])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server and every process of it, at once."""
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """As a machine that loses power: nothing of it goes on."""
        self.signal(signal.SIGKILL)
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def _processes(self) -> list[int]:
        parent = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        return [parent, *map(int, children)]


@contextmanager
def cluster(*, durable: bool) -> Iterator[Cluster]:
    """Run a cluster for the duration of a block.

    `durable` keeps fsync on, as a benchmark must; tests do without. Raises CalledProcessError.
    """
    programs = server_folder()
    assert programs is not None, unavailable()
    folder = Path(tempfile.mkdtemp(prefix="tellerline-pg-", dir=None if durable else _memory()))
    options = [f"-k {folder}", "-c listen_addresses=''", "-c max_connections=200", "-c shared_buffers=128MB"]
    options += [] if durable else ["-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off"]
    try:
        _own(folder)
        data = folder / "data"
        _run([programs / "initdb", "-D", data, "-U", ACCOUNT, "-A", "trust", "--locale=C", "--encoding=UTF8", "-N"])
        made = Cluster(programs, folder, options)
        made.start()
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def private_cluster(*, durable: bool) -> Iterator[str]:
    """As `cluster`; yields its URL, with a `{database}` place."""
    with cluster(durable=durable) as made:
        yield made.url


def _memory() -> Path | None:
    """The memory file system where there is one with room to spare."""
    memory = Path("/dev/shm")  # noqa: S108 - the folder made in it is private
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_ROOM else None


def _own(folder: Path) -> None:
    folder.chmod(0o755)
    if os.geteuid() == 0:
        shutil.chown(folder, ACCOUNT, ACCOUNT)


def _run(command: Sequence[Path | str]) -> None:
    """Run one of the server's programs, as its own account where we are root; its output is dropped."""
    become = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"] if os.geteuid() == 0 else []
    subprocess.run(
        [*become, *map(str, command)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, cwd="/", timeout=60,
    )  # fmt: skip
