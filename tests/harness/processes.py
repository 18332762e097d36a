"""Gateways as processes of their own on one database, of this version or of the one before."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import httpx
from websockets.asyncio.client import connect

from app.auth.signature import SignedRequest
from app.client import demo_token, session
from tests.harness.gateway import Caller
from tests.harness.handshakes import headers_of

ROOT: Final = Path(__file__).parents[2]
VERSIONS: Final = "app/migrations/versions"
PACKAGES: Final = ("app", "rules", "schemas", "services")
START_S: Final = 180.0
SECRET: Final = "bridge-secret-" + "s" * 32
SHARED: Final = {
    "CONFIRMATION_KEY": "c0" + "fe1234567890abcd" * 4,
    "AUDIT_KEY": "a0" + "dit987654321fedc" * 4,
    "IVR_KEYS": json.dumps({"bridge": SECRET}),
    "LOG_LEVEL": "WARNING",
    "SPEECH": "none",
}


def signed(customer: str, nonce: str, now: datetime) -> dict[str, str]:
    """A bridge's handshake for one of its callers."""
    at = str(int(now.timestamp()))
    request = SignedRequest("bridge", "GET", "/v1/calls", at, nonce, customer, b"", "")
    return headers_of(request, SECRET)


@dataclass(frozen=True)
class Process:
    """A gateway that listens."""

    port: int
    process: asyncio.subprocess.Process
    log: Path

    @property
    def http(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def calls(self) -> str:
        return f"ws://127.0.0.1:{self.port}/v1/calls"

    async def token(self, customer: str) -> dict[str, str]:
        """Headers with an access token of this gateway."""
        return {"Authorization": f"Bearer {await demo_token(self.http, customer)}"}

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()

    def leave(self) -> None:
        """Ask it to drain."""
        self.process.send_signal(signal.SIGTERM)

    @asynccontextmanager
    async def calling(self, customer: str) -> AsyncIterator[Caller]:
        """A call that is set up."""
        async with connect(self.calls, compression=None, additional_headers=await self.token(customer)) as opened:
            talking = Caller(opened)
            await talking.next("session.created", within_s=30)
            await talking.send(session("en-US"))
            await talking.next("session.updated", within_s=30)
            yield talking


def previous() -> str:
    """The commit before the newest migration was added: whose schema gateways stand on that are upgraded.

    Empty where there is no history to ask.
    """
    newest = max(path.name for path in (ROOT / VERSIONS).glob("[0-9]*.py"))
    asked = ["git", "log", "-1", "--diff-filter=A", "--format=%H", "--", f"{VERSIONS}/{newest}"]
    with suppress(OSError):
        added = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
        if added.returncode == 0:
            commit = f"{added.stdout.strip()}^" if added.stdout.strip() else "HEAD"
            known = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
            if subprocess.run(known, cwd=ROOT, capture_output=True, check=False).returncode == 0:
                return commit
    return ""


def tree_of(commit: str, folder: Path) -> Path:
    """The product's packages as a commit had them, in a folder."""
    packed = subprocess.run(["git", "archive", commit, *PACKAGES], cwd=ROOT, capture_output=True, check=True).stdout
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


@asynccontextmanager
async def gateway_process(database: str, state: Path, tree: Path = ROOT, **settings: str) -> AsyncIterator[Process]:
    """A gateway of a source tree as a process; killed at the end where it still runs."""
    state.mkdir(parents=True)  # noqa: ASYNC240 - before anybody calls
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mine = {**SHARED, **settings, "DATABASE_URL": database, "STATE_DIR": str(state), "PORT": str(port)}
    environment = {f"TELLERLINE_{name}": value for name, value in mine.items()}
    log = state / "said.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.cli", "serve", cwd=state, stdout=out, stderr=out,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(tree)} | environment,  # noqa: TID251 - to find programs
        )  # fmt: skip
    made = Process(port, process, log)
    try:
        await _ready(made)
        yield made
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _ready(made: Process) -> None:
    until = time.monotonic() + START_S
    async with httpx.AsyncClient() as client:
        while made.process.returncode is None and time.monotonic() < until:
            with suppress(httpx.TransportError):
                if (await client.get(f"{made.http}/readyz")).is_success:
                    return
            await asyncio.sleep(0.3)
    raise AssertionError(made.log.read_text(errors="replace")[-2000:])
