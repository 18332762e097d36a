"""README's way from an empty PostgreSQL to a call in production, its commands carried out as they are printed.

What stands around a bank's gateway (identity provider, code service, core) is played on real sockets of this machine.
"""

import asyncio
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from app.client import session, typed
from tests.fakes.around import Around
from tests.fakes.fineract import FakeFineract, Savings
from tests.fakes.http import Asked
from tests.harness.calls import heard
from tests.harness.gateway import Caller
from tests.harness.stores import administer

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SECTION = README[README.index("### Production") : README.index("## Figures")]
COMMANDS = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)
CLAIMS = json.loads(re.findall(r"```json\n(.*?)```", SECTION, re.DOTALL)[0])
DATABASE = "tellerline_production"


@dataclass
class Bank:
    """A folder in which the commands run, and what stands around."""

    folder: Path
    around: Around
    core: FakeFineract
    database: str
    port: int

    def printed(self, command: str) -> str:
        """A command as the README has it, hosts and port being this machine's."""
        changed = {
            "postgresql://tellerline@db.bank.example/tellerline": self.database,
            "TELLERLINE_DATABASE_PASSWORD=the-password": "TELLERLINE_DATABASE_PASSWORD=p@ss:w/rd",
            "https://id.bank.example/jwks.json": f"{self.around.url}/jwks.json",
            "https://codes.bank.example": self.around.url,
            "https://core.bank.example/fineract-provider/api": self.core.url,
            "8443": str(self.port),
        }
        for here, there in changed.items():
            command = command.replace(here, there)
        return command

    async def start(self, command: str, **environment: str) -> asyncio.subprocess.Process:
        path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"  # noqa: TID251 - where curl and openssl are
        return await asyncio.create_subprocess_exec(
            "bash", "-euo", "pipefail", "-c", self.printed(command), cwd=self.folder,
            env={"PATH": path, "HOME": str(self.folder)} | environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip

    async def run(self, command: str, **environment: str) -> str:
        process = await self.start(command, **environment)
        said = (await process.communicate())[0].decode()
        assert process.returncode == 0, said
        return said

    def token(self, customer: str) -> str:
        return self.around.token(CLAIMS | {"sub": customer})


@pytest.fixture
async def bank(postgres_server: str, tmp_path: Path) -> AsyncIterator[Bank]:
    for program in ("curl", "openssl"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    await administer(postgres_server, f"DROP DATABASE IF EXISTS {DATABASE}", f"CREATE DATABASE {DATABASE}")
    accounts = {
        "asha-current": Savings("1001", 120_000, currency="GBP"),
        "haruka-futsu": Savings("1002", 8_300_000, currency="JPY"),
    }
    shutil.copy(ROOT / "deploy/examples/customers.jsonl", tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Around() as around, FakeFineract(accounts) as core:
        url = postgres_server.format(database=DATABASE)
        made = Bank(tmp_path, around, core, url, port)
        await made.run(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=127.0.0.1 "
            "-addext subjectAltName=IP:127.0.0.1 -keyout certificate.key -out certificate.pem"
        )
        yield made


@asynccontextmanager
async def serving(bank: Bank, command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await bank.start(command)
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", bank.port)
                except ConnectionError:
                    assert process.returncode is None, (await process.communicate())[0].decode()
                    await asyncio.sleep(0.1)
                else:
                    writer.close()
                    break
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


@asynccontextmanager
async def calling(bank: Bank, customer: str, locale: str) -> AsyncIterator[Caller]:
    trusting = ssl.create_default_context(cafile=str(bank.folder / "certificate.pem"))
    headers = {"Authorization": f"Bearer {bank.token(customer)}"}
    url = f"wss://127.0.0.1:{bank.port}/v1/calls"
    async with connect(url, ssl=trusting, compression=None, additional_headers=headers) as opened:
        caller = Caller(opened)
        await caller.next("session.created")
        await caller.send(session(locale))
        await caller.next("session.updated")
        yield caller


async def answered(caller: Caller, said: str) -> str:
    """What the assistant says to it, heard to its end."""
    await caller.send(typed(said))
    return await heard(caller)


def signed(asked: Asked, key: str) -> bool:
    text = asked.headers["x-tellerline-time"].encode() + b"." + asked.body
    wanted = hmac.new(key.encode(), text, hashlib.sha256).hexdigest()
    return asked.headers["x-tellerline-signature"] == f"v1={wanted}"


@pytest.mark.timeout(300)
async def test_from_an_empty_database_to_calls(bank: Bank) -> None:
    settings, importing, opening, asking = COMMANDS
    await bank.run(settings)
    assert oct((bank.folder / ".env").stat().st_mode & 0o777) == "0o600"
    said = await bank.run(importing)
    assert "nothing was written" in said
    assert said.count("customer: 2 new") == 2
    examine, serve = opening.strip().splitlines()
    examined = await bank.run(examine)
    assert "1 accounts of the first customer" in examined.replace("\n", " ")
    async with serving(bank, f"exec {serve}"):
        balance = json.loads(await bank.run(asking, TOKEN=bank.token("C-1001")))
        assert balance["intent"] == "balance_inquiry"
        async with calling(bank, "C-1001", "en-GB") as caller:
            assert "1,200 pounds" in await answered(caller, "what's my balance")
            assert "15 dollars" not in await answered(caller, "what is the overdraft fee")
            await _pays(bank, caller)
        async with calling(bank, "C-2001", "ja-JP") as caller:
            assert "83,000円" in await answered(caller, "残高を教えてください")


async def _pays(bank: Bank, caller: Caller) -> None:
    """More than the customer may move without a code, which the messaging service gets signed."""
    env = dict(line.split("=", 1) for line in (bank.folder / ".env").read_text().splitlines())
    assert "600 pounds" in await answered(caller, "send six hundred pounds to my brother")
    await answered(caller, "yes")
    (asked,) = bank.around.codes
    assert signed(asked, env["TELLERLINE_CODE_WEBHOOK_KEY"])
    await answered(caller, json.loads(asked.body)["code"])
    assert bank.core.accounts["rowan-current"].cents == 60_000
