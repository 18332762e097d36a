"""A private PostgreSQL for benchmarks and tests: its own cluster in a temporary folder, reached by a Unix socket."""

import os
import shutil
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


@contextmanager
def private_cluster(*, durable: bool) -> Iterator[str]:
    """Run a cluster for the duration of a block; yields a SQLAlchemy URL with a `{database}` place.

    `durable` keeps fsync on, as a benchmark must; tests do without. Raises CalledProcessError.
    """
    programs = server_folder()
    assert programs is not None, unavailable()
    folder = Path(tempfile.mkdtemp(prefix="tellerline-pg-", dir=None if durable else _memory()))
    data = folder / "data"
    options = [f"-k {folder}", "-c listen_addresses=''", "-c max_connections=200", "-c shared_buffers=128MB"]
    options += [] if durable else ["-c fsync=off", "-c synchronous_commit=off", "-c full_page_writes=off"]
    try:
        _own(folder)
        _run([programs / "initdb", "-D", data, "-U", ACCOUNT, "-A", "trust", "--locale=C", "--encoding=UTF8", "-N"])
        log = folder / "server.log"
        _run([programs / "pg_ctl", "-D", data, "-l", log, "-w", "-o", " ".join(options), "start"])
        try:
            yield f"postgresql+asyncpg://{ACCOUNT}@/{{database}}?host={folder}"
        finally:
            _run([programs / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    subprocess.run(  # noqa: S603 - the server's own programs
        [*become, *map(str, command)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, cwd="/", timeout=60,
    )  # fmt: skip
