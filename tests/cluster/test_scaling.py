"""Lines that grow bring another recogniser, under way and without a decode that is lost."""

import asyncio
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")

from ray import serve  # noqa: E402 - after it is known to be there

from app.cluster.deployments import RECOGNIZER, Recognizers, recognizers  # noqa: E402
from app.cluster.recognizer import HandleRecognizer  # noqa: E402
from app.cluster.start import cluster, deploy  # noqa: E402
from schemas.ids import EN_US  # noqa: E402
from schemas.transcript import Decode  # noqa: E402
from services.audio.files import read_file  # noqa: E402

pytestmark = [pytest.mark.timeout(300), pytest.mark.filterwarnings("default")]
SPOKEN = Path(__file__).parent.parent / "data" / "asr" / "human_an4-001.ogg"
CALLERS = 6
GROWN_S = 120.0


def replicas() -> int:
    return sum(f"#{RECOGNIZER}#" in one["name"] for one in ray.util.list_named_actors(all_namespaces=True))


async def test_a_line_that_grows_brings_another_recogniser() -> None:
    said, heard = read_file(SPOKEN.read_bytes()), set[str]()
    with cluster(cpus=2):
        deploy(RECOGNIZER, recognizers(Recognizers(asr_workers=1, least=1, most=2)))
        recognizer, grown = HandleRecognizer(serve.get_app_handle(RECOGNIZER), patience_s=60), asyncio.Event()
        assert replicas() == 1

        async def call() -> None:
            while not grown.is_set():
                heard.add((await recognizer.transcribe(said, EN_US, Decode.FINAL)).text)

        async with asyncio.timeout(GROWN_S), asyncio.TaskGroup() as callers:
            for _ in range(CALLERS):
                callers.create_task(call())
            while replicas() < 2:  # noqa: ASYNC110 - Ray tells nobody
                await asyncio.sleep(0.5)
            await asyncio.sleep(5.0)  # while it starts, and takes its share
            grown.set()
    assert len(heard) == 1
