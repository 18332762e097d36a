"""WS /v1/realtime through the other clients of the field, unmodified: each is an app in an environment of its own.

`make clients` installs them (deploy/lock/clients).
"""

import asyncio
import json
import shutil
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from services.banking.tables import transfers
from tests.harness.certificates import certified
from tests.harness.gateway import clip, line
from tests.harness.realtime import Realtime, at_24k, realtime
from tests.harness.rows import rows

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-clients/bin/python"
APPS = Path(__file__).parent / "clients"
SCRIPTS = ROOT / "deploy/lock/clients"
NODE = shutil.which("node")
TURNS = 10
HEARD = "what's my balance"

with_python = pytest.mark.skipif(not PYTHON.exists(), reason="the clients are not installed: make clients")
with_node = pytest.mark.skipif(
    NODE is None or not (SCRIPTS / "node_modules").is_dir(), reason="the clients are not installed: make clients"
)


async def app(
    running: Realtime, folder: Path, *command: str | Path, key: str | None = None, more: str = "", **env: str
) -> Any:
    """What an app prints that calls the gateway and says "what's my balance"."""
    sound = folder / "balance.pcm"
    sound.write_bytes(at_24k(line(0.3, clip("balance"), 0.9)))
    arguments = [*map(str, command), running.http, key or running.key(), str(sound), *more.split()]
    process = await asyncio.create_subprocess_exec(
        *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={"PATH": "/usr/bin:/bin"} | env
    )
    try:
        async with asyncio.timeout(240):
            out, err = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()
        raise
    assert process.returncode == 0, (out + err).decode()[-4_000:]
    return json.loads(out.splitlines()[-1])


async def client_secret(running: Realtime, certificate: str) -> str:
    """A secret for a browser."""
    async with httpx.AsyncClient(verify=ssl.create_default_context(cafile=certificate)) as client:
        headers = {"Authorization": f"Bearer {running.key()}"}
        answer = await client.post(f"{running.http}/v1/realtime/client_secrets", headers=headers)
        return str(answer.json()["value"])


async def nothing_moved(running: Realtime) -> None:
    store = running.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
    assert not await rows(store, sa.select(transfers.c.id))


@with_node
@pytest.mark.parametrize("where", ["node", "browser"])
async def test_the_openai_sdk_of_javascript(where: str, tmp_path: Path) -> None:
    settings = certified(tmp_path)  # it speaks TLS whatever its base URL says
    trusted = settings["tls_certificate"]
    async with realtime(tmp_path, **settings) as running:
        key = await client_secret(running, trusted) if where == "browser" else None
        script = SCRIPTS / "openai.js"
        told = await app(running, tmp_path, NODE or "", script, key=key, more=where, NODE_EXTRA_CA_CERTS=trusted)
    assert told["errors"] == []
    assert told["kinds"].count("session.updated") == 1
    assert told["transcript"] == HEARD
    assert "checking" in told["text"]
    assert told["protocol"] == ("realtime" if where == "browser" else "")


@with_node
@pytest.mark.timeout(300)
async def test_the_agents_sdk_of_javascript(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running:
        told = await app(running, tmp_path, NODE or "", SCRIPTS / "agents.js", more=str(TURNS))
        await nothing_moved(running)
    assert told["errors"] == []
    assert told["generic"] == []
    assert told["transcripts"] == [HEARD] * TURNS
    assert len([reply for reply in told["replies"] if "checking" in (reply or "")]) == TURNS + 1


@with_python
@pytest.mark.timeout(300)
async def test_pipecats_realtime_service(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running:
        told = await app(running, tmp_path, PYTHON, APPS / "pipecat_app.py", more=str(TURNS))
        await nothing_moved(running)
    assert told["errors"] == []
    assert told["alive"]
    assert told["greeting"].startswith("Hello")
    assert told["transcripts"] == [HEARD] * TURNS
    assert told["text"].count("checking") == TURNS


@with_python
@pytest.mark.timeout(300)
async def test_livekits_realtime_model(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running:
        told = await app(running, tmp_path, PYTHON, APPS / "livekit_app.py", more=str(TURNS))
        await nothing_moved(running)
    assert told["errors"] == []
    assert told["greeting"].startswith("Hello")
    assert told["transcripts"] == [HEARD] * TURNS
    assert ["checking" in reply for reply in told["replies"]] == [True] * TURNS
    assert "checking" in told["typed"]
    assert told["updated_s"] < 5


@with_python
@pytest.mark.timeout(300)
async def test_the_agents_sdk_of_python(tmp_path: Path) -> None:
    async with realtime(tmp_path) as running:
        told = await app(running, tmp_path, PYTHON, APPS / "agents_app.py", more=str(TURNS))
        await nothing_moved(running)
    assert told["errors"] == []
    assert told["users"][:TURNS] == [HEARD] * TURNS
    assert len([reply for reply in told["replies"] if "checking" in reply]) == TURNS + 1
    assert told["turns_ended"] >= TURNS
