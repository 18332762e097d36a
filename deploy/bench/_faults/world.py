"""The world in which the database fails: a gateway in a process of its own, its database, and a line between them."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import sqlalchemy as sa
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from deploy.bench._faults.silent_disk import SilentDisk
from deploy.postgres import Cluster

START_S: Final = 180.0
ROLE: Final = "teller"
DATABASE: Final = "bank"
_SOCKET: Final = ".s.PGSQL.5432"


class Wire:
    """The line to PostgreSQL. It can swallow requests, answers, or both, and be cut."""

    def __init__(self, server: Path) -> None:
        self._server = server
        self.swallows_requests = self.swallows_answers = False

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(OSError, asyncio.CancelledError):  # at the end the loop cancels what is left
            onward = await asyncio.open_unix_connection(self._server)
            await asyncio.gather(
                self._pass(reader, onward[1], "swallows_requests"), self._pass(onward[0], writer, "swallows_answers")
            )
        writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, swallowing: str) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if not getattr(self, swallowing):
                    writer.write(data)
        writer.close()


class GatewayProcess:
    """A gateway of our own, over the state in `folder`."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self._database = database
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._beside = tempfile.TemporaryDirectory(prefix="tellerline-")
        self.disk = SilentDisk(Path(self._beside.name), folder)

    @property
    def base(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self._port}"

    async def start(self) -> None:
        """Start it, and wait until it is ready. Raises SystemExit."""
        environment = os.environ | self.disk.environment  # noqa: TID251 - handed on to the child
        environment |= {
            "TELLERLINE_PORT": str(self._port),
            "TELLERLINE_STATE_DIR": str(self.folder),
            "TELLERLINE_LOG_LEVEL": "ERROR",
            "TELLERLINE_ENVIRONMENT": "demo",
            "TELLERLINE_DATABASE_URL": self._database,
            "TELLERLINE_DRAIN_SECONDS": "0",
        }
        log = (self.folder / "gateway.log").open("ab")
        self._process = subprocess.Popen(  # noqa: ASYNC220 - it is started before anybody calls
            [sys.executable, "-m", "app.cli", "serve"], env=environment, stdout=log, stderr=log
        )
        until = time.monotonic() + START_S
        while await self.ready() != httpx.codes.OK:
            if time.monotonic() > until or self._process.poll() is not None:
                raise SystemExit(f"the gateway did not start: {(self.folder / 'gateway.log').read_text()[-2000:]}")
            await asyncio.sleep(0.2)

    async def ready(self) -> int:
        """What /readyz answers; 0 where nobody does."""
        try:
            async with httpx.AsyncClient(base_url=self.base, timeout=5.0) as client:
                return (await client.get("/readyz")).status_code
        except httpx.HTTPError:
            return 0

    def kill(self) -> None:
        """End it without warning."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """End it in good order."""
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()

    def limit_files(self, size: int) -> None:
        """Let no file of it grow beyond so many bytes, as a full disk would; -1 lifts the limit."""
        assert self._process is not None
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self._process.pid, resource.RLIMIT_FSIZE, (size, hard))


class FaultWorld:
    """A gateway over an SQLite file, or over PostgreSQL behind a wire. `admin` writes behind its back."""

    def __init__(self, gateway: GatewayProcess, cluster: Cluster | None, wire: Wire | None) -> None:
        self.gateway = gateway
        self.cluster = cluster
        self.wire = wire
        self.path = gateway.folder / "tellerline.db"
        self.held: list[Any] = []
        self.fresh = True

    async def admin(self, *statements: str, database: str = DATABASE) -> None:
        """Run statements as the database's owner, each by itself."""
        if self.cluster is None:
            with contextlib.closing(sqlite3.connect(self.path, isolation_level=None, timeout=10)) as connection:
                for statement in statements:
                    connection.execute(statement)
            return
        async with self._connected(database) as connection:
            for statement in statements:
                await connection.execute(sa.text(statement))

    async def rows(self, query: str) -> list[tuple[Any, ...]]:
        """What a query finds."""
        if self.cluster is None:
            with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as connection:
                return list(connection.execute(query))
        async with self._connected(DATABASE) as connection:
            return [tuple(row) for row in await connection.execute(sa.text(query))]

    async def hold(self, statement: str) -> None:
        """Run a statement in a transaction that stays open until `let_go`."""
        if self.cluster is None:
            holder = sqlite3.connect(self.path, isolation_level=None)
            holder.execute(statement)
            self.held.append(holder)
            return
        engine = create_async_engine(self.cluster.url.format(database=DATABASE), poolclass=NullPool)
        connection = await engine.connect()
        await connection.execute(sa.text(statement))
        self.held.append(connection)

    async def let_go(self) -> None:
        """End what is held."""
        for holder in self.held:
            if isinstance(holder, sqlite3.Connection):
                holder.close()
            else:
                await holder.rollback()
                await holder.close()
        self.held.clear()

    @asynccontextmanager
    async def _connected(self, database: str) -> AsyncIterator[AsyncConnection]:
        assert self.cluster is not None
        url = self.cluster.url.format(database=database)
        engine = create_async_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        async with engine.connect() as connection:
            if database == DATABASE:
                await connection.execute(sa.text("SET default_transaction_read_only = off"))
            yield connection


@asynccontextmanager
async def embedded(folder: Path) -> AsyncIterator[FaultWorld]:
    """A world over an SQLite file, which has a disk of its own where we may give it one."""
    with _small_disk(folder):
        state = folder / "state"
        state.mkdir(mode=0o700)
        gateway = GatewayProcess(state, "")
        await gateway.start()
        try:
            yield FaultWorld(gateway, None, None)
        finally:
            gateway.stop()


@contextlib.contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


@asynccontextmanager
async def shared(folder: Path, cluster: Cluster) -> AsyncIterator[FaultWorld]:
    """A world over PostgreSQL, whose database belongs to a role that is no superuser."""
    plain = FaultWorld(GatewayProcess(folder, ""), cluster, None)
    await plain.admin(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)", database="postgres")
    await plain.admin(f"DROP ROLE IF EXISTS {ROLE}", f"CREATE ROLE {ROLE} LOGIN", database="postgres")
    await plain.admin(f"CREATE DATABASE {DATABASE} OWNER {ROLE}", database="postgres")
    wire, line = Wire(cluster.folder / _SOCKET), folder / "line"
    line.mkdir()
    server = await asyncio.start_unix_server(wire, line / _SOCKET)
    url = make_url(cluster.url.format(database=DATABASE)).set(username=ROLE, query={"host": str(line)})
    gateway = GatewayProcess(folder, url.render_as_string(hide_password=False))
    await gateway.start()
    try:
        yield FaultWorld(gateway, cluster, wire)
    finally:
        gateway.stop()
        server.close()
