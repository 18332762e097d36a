"""A model server's faults, against a process that stands in for vLLM: halted, slow or killed, it recovers."""

import asyncio
import sys
from pathlib import Path

import pytest

from deploy.vllm.serving import load
from deploy.vllm.sweep import faults
from deploy.vllm.sweep.faults import FAULTS, ModelWorld, callers, played
from deploy.vllm.sweep.servers import Engine

GEMMA = """
import asyncio, sys
from tests.fakes.gemma import FakeGemma
async def main():
    server = FakeGemma()
    server.port = int(sys.argv[sys.argv.index("--port") + 1])
    async with server: await asyncio.sleep(3600)
asyncio.run(main())
"""


@pytest.mark.parametrize("name", FAULTS)
async def test_nobody_waits_past_the_deadline_and_all_is_well_again(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int
) -> None:
    monkeypatch.setattr(faults, "QUIET_S", 0.5)
    monkeypatch.setattr(faults, "FAULT_S", 2.0)
    stand_in = tmp_path / "stand_in.py"
    stand_in.write_text(GEMMA, encoding="utf-8")
    profile = load("extraction-h100").model_copy(update={"port": unused_tcp_port, "env": {"PYTHONPATH": "."}})

    def engine() -> Engine:
        return Engine(profile, tmp_path / "log", launcher=f"{sys.executable} {stand_in}").start()

    world = ModelWorld(engine, f"http://127.0.0.1:{unused_tcp_port}", profile.served_name)
    assert await asyncio.to_thread(world.engine.ready, 20.0)
    try:
        async with callers(world):
            row = await played(name, world)
    finally:
        world.engine.stop()
    assert row.longest_wait <= 1_500
    assert row.closed_s >= 0
    assert row.opened or name == "slow"
    assert row.answered or name != "slow"
