"""The applications of deploy/examples, each with its framework's real package: what is asked is answered aloud."""

import asyncio
import wave
from pathlib import Path

import pytest

from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.gateway import clip, line
from tests.harness.realtime import RATE, at_24k, realtime
from tests.wire.realtime.test_other_clients import PYTHON, ROOT, nothing_moved, with_python


@with_python
@pytest.mark.timeout(120)
@pytest.mark.parametrize("framework", ["pipecat", "livekit"])
async def test_an_example_asks_and_keeps_the_answer(framework: str, tmp_path: Path) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    with wave.open(str(question), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(at_24k(line(0.3, clip("balance"), 1.5)))
    async with realtime(tmp_path, voice=FakeSynthesizer(25)) as running:
        app = ROOT / f"deploy/examples/realtime/with_{framework}.py"
        process = await asyncio.create_subprocess_exec(
            PYTHON, app, running.http, running.key(), question, answer,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={"PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        try:
            async with asyncio.timeout(90):
                out, err = await process.communicate()
        except TimeoutError:
            process.kill()
            out, err = await process.communicate()
        await nothing_moved(running)
    said = out.decode()
    assert process.returncode == 0, said + err.decode()[-3_000:]
    assert "caller: what's my balance" in said
    assert "checking" in said.replace("\nbank: ", " ")
    with wave.open(str(answer)) as file:
        assert file.getnframes() > RATE // 2
