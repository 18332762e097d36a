"""Genesys' own reference client against our door: a probe, a session and twenty at once end in good order.

Its folder is no part of the project: AUDIOHOOK_CLIENT names its `client`, with its packages installed.
"""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.phone_genesys import API_KEY, PATH
from tests.harness.served import served
from tests.wire.telephone.test_genesys import SETTINGS

FOLDER = Path(os.environ.get("AUDIOHOOK_CLIENT", "/nowhere"))  # noqa: TID251 - no setting of ours
RUNS = [
    ("--connection-probe", "--max-stream-duration", "1"),
    ("--max-stream-duration", "3"),
    ("--max-stream-duration", "3", "--session-count", "20"),
]


@pytest.mark.skipif(
    not (FOLDER / "node_modules").is_dir() or shutil.which("script") is None,
    reason="AUDIOHOOK_CLIENT names no installed client",
)
@pytest.mark.timeout(120)
@pytest.mark.parametrize("run", RUNS, ids=["probe", "one", "twenty"])
async def test_its_sessions_end_in_good_order(run: tuple[str, ...], quick_folder: Path) -> None:
    heard = FakeRecognizer(lambda _seconds: "")
    async with served(quick_folder, heard, voice=FakeSynthesizer(25), **SETTINGS) as running:
        given = {"uri": f"ws://127.0.0.1:{running.port}{PATH}", "api-key": API_KEY}
        given |= {"client-secret": SETTINGS["audiohook_secret"]}
        command = [
            "npx",
            "ts-node",
            "-T",
            "src/index.ts",
            *(f"--{name}={value}" for name, value in given.items()),
            *run,
        ]
        process = await asyncio.create_subprocess_exec(
            "script", "-qefc", " ".join(command), "/dev/null",  # it wants a terminal
            cwd=FOLDER, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        printed = (await process.stdout.read()).decode()  # with its terminal left open: it ends by itself
        await process.wait()
    sessions = 20 if "--session-count" in run else 1
    assert process.returncode == 0, printed[-3_000:]
    assert printed.count("Session open!") == sessions, printed  # it leaves before its log of the end is written
    assert "ERROR" not in printed
