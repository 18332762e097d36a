"""A real Asterisk on loopback, with the dialplan of deploy/examples; `make asterisk` fetches one."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.harness.phone import KEYS
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import Place

ROOT: Final = Path(__file__).parents[2]
FETCHED: Final = ROOT / ".asterisk"
EXAMPLES: Final = ROOT / "deploy/examples/asterisk"
CONFIG: Final = ROOT / "tests/data/telephone/pbx"
PATH: Final = f"{FETCHED / 'bin'}:{os.environ.get('PATH', '')}"  # noqa: TID251 - the programs of this machine
ASTERISK, SIPP = shutil.which("asterisk", path=PATH), shutil.which("sipp", path=PATH)
needs_asterisk = pytest.mark.skipif(ASTERISK is None, reason="there is no Asterisk: make asterisk")
needs_sipp = pytest.mark.skipif(None in {ASTERISK, SIPP}, reason="there is no Asterisk or no sipp: make asterisk")


@dataclass(frozen=True)
class Pbx:
    """One that runs; `folder` has its files, `sip` is its port."""

    folder: Path
    sip: int

    async def ask(self, command: str) -> str:
        """What its console answers."""
        return await ran(ASTERISK or "", "-C", str(self.folder / "asterisk.conf"), "-rx", command)

    async def call(
        self, door: str, sound: Path, customer: str, recorded: Path, *, caller: str = "caller", keys: str = ""
    ) -> None:
        """Ring the assistant at a `door` of the dialplan; the caller plays `sound` and hears into `recorded`."""
        given = {"SOUND": sound.with_suffix(""), "RECORDED": recorded, "CUSTOMER": customer, "KEYS": keys}
        for name, value in given.items():
            await self.ask(f"dialplan set global {name} {value}")
        await self.ask(f"channel originate Local/{door}@people extension {caller}@people")

    async def met(self, within_s: float = 40.0) -> None:
        """Return once a caller has reached a person."""
        async with asyncio.timeout(within_s):
            while not (self.folder / "agent-came").exists():  # noqa: ASYNC110 - another process' file
                await asyncio.sleep(0.2)

    async def until_idle(self, within_s: float = 20.0) -> None:
        """Return once it has no call left."""
        async with asyncio.timeout(within_s):
            while "0 active channels" not in await self.ask("core show channels count"):  # noqa: ASYNC110 - a program
                await asyncio.sleep(0.2)


@asynccontextmanager
async def pbx(folder: Path, place: Place) -> AsyncIterator[Pbx]:
    """Asterisk, which sends its calls to the service at `place`, until the block ends."""
    made = Pbx(folder, free_port())
    _configure(made, place)
    command = [ASTERISK or "", "-C", str(folder / "asterisk.conf"), "-f", "-n", "-vvv"]
    quiet, env = asyncio.subprocess.DEVNULL, {"PATH": PATH, "TELLERLINE_KEY_DIR": str(folder)}
    running = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet, env=env)
    try:
        async with asyncio.timeout(60):
            while "fully booted" not in await made.ask("core waitfullybooted"):
                assert running.returncode is None, "see log/full in its folder"
                await asyncio.sleep(0.2)
        yield made
    finally:
        if running.returncode is None:
            running.terminate()
        await running.wait()


def _configure(made: Pbx, place: Place) -> None:
    """The example's files, and those of a PBX around them."""
    made.folder.mkdir()
    told = {
        "@FOLDER@": str(made.folder),
        "@SIP@": str(made.sip),
        "@DATA@": str(FETCHED / "usr/share/asterisk" if FETCHED.is_dir() else Path("/usr/share/asterisk")),
        "@MODULES@": str(_modules()),
        "http://127.0.0.1:8080": f"http://127.0.0.1:{place.port}",
        "ws://127.0.0.1:8080": f"ws://127.0.0.1:{place.port}",
        "127.0.0.1:9092": f"127.0.0.1:{place.audiosocket}",
        "/etc/asterisk/tellerline/announce.py": f"{sys.executable} {EXAMPLES / 'announce.py'}",
        "the-key": KEYS["pbx"],
    }
    for file in [*CONFIG.glob("*.conf"), *EXAMPLES.glob("*.conf")]:
        text = file.read_text()
        for word, value in told.items():
            text = text.replace(word, value)
        (made.folder / file.name).write_text(text)
    with (made.folder / "extensions.conf").open("a") as dialplan:
        dialplan.write("\n#include people.conf\n")
    (made.folder / "pbx.key").write_text(KEYS["pbx"])
    for name in ("run", "log", "lib", "spool"):
        (made.folder / name).mkdir()


def _modules() -> Path:
    top = FETCHED / "usr/lib" if FETCHED.is_dir() else Path("/usr/lib")
    return next(iter([*top.glob("*/asterisk/modules"), top / "asterisk/modules"]))


async def ran(*command: str) -> str:
    """What a program prints."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    return out.decode(errors="replace")
