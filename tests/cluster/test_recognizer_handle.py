"""The recogniser's port over Ray Serve keeps its contract, and outlives the replicas that are killed under it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")

from ray import serve  # noqa: E402 - after it is known to be there

from app.cluster.deployments import RECOGNIZER, Recognizers, recognizers  # noqa: E402
from app.cluster.recognizer import HandleRecognizer  # noqa: E402
from app.cluster.start import cluster, deploy  # noqa: E402
from deploy.bench.asr import cases  # noqa: E402
from schemas.audio import SAMPLE_RATE, Samples  # noqa: E402
from schemas.errors import RecognizerUnavailable, TooLarge  # noqa: E402
from schemas.ids import EN_US, JA_JP, Locale  # noqa: E402
from schemas.transcript import Decode  # noqa: E402
from services.audio.files import read_file  # noqa: E402
from tests.contract import recognizer_suite as suite  # noqa: E402
from tests.harness.until import until  # noqa: E402

pytestmark = [pytest.mark.timeout(300), pytest.mark.filterwarnings("default")]
DATA = Path(__file__).parent.parent / "data" / "asr"
REPLICAS = 2


def speech(locale: Locale) -> Samples:
    return read_file(next(c for c in cases(DATA) if c.lang == locale[:2]).path.read_bytes())


@pytest.fixture(scope="module")
def two_replicas() -> Iterator[None]:
    with cluster(cpus=2):
        deploy(RECOGNIZER, recognizers(Recognizers(asr_workers=1, least=REPLICAS, most=REPLICAS)))
        yield


@pytest.fixture
def recognizer(two_replicas: None) -> HandleRecognizer:
    return HandleRecognizer(serve.get_app_handle(RECOGNIZER), patience_s=60)


@pytest.mark.parametrize("locale", [EN_US, JA_JP])
async def test_the_suite(recognizer: HandleRecognizer, locale: Locale) -> None:
    said = speech(locale)
    await suite.hears_finals_and_partials(recognizer, said, locale)
    await suite.is_repeatable(recognizer, said, locale)
    await suite.survives_cancellation(recognizer, said, locale)
    await suite.leaves_the_loop_free(recognizer, said, locale)


async def test_errors_are_those_that_the_replica_raised(recognizer: HandleRecognizer) -> None:
    with pytest.raises(TooLarge, match="60 s"):
        await recognizer.transcribe(np.zeros(61 * SAMPLE_RATE, np.float32), EN_US, Decode.FINAL)
    with pytest.raises(RecognizerUnavailable, match="no checkpoint"):
        await recognizer.transcribe(speech(EN_US), Locale("xx-XX"), Decode.FINAL)
    with pytest.raises(RecognizerUnavailable, match="a recogniser failed"):
        await recognizer.transcribe(None, EN_US, Decode.FINAL)  # type: ignore[arg-type]


async def test_after_closing_nothing_is_decoded(recognizer: HandleRecognizer) -> None:
    await recognizer.close()
    with pytest.raises(RecognizerUnavailable):
        await recognizer.transcribe(speech(EN_US), EN_US, Decode.FINAL)


def replicas() -> list[dict[str, str]]:
    return [one for one in ray.util.list_named_actors(all_namespaces=True) if f"#{RECOGNIZER}#" in one["name"]]


async def whole() -> None:
    """Who was killed by an earlier test is started anew."""
    await until(lambda: len(replicas()) == REPLICAS, most_s=60)


def kill_replicas(count: int) -> None:
    for one in replicas()[:count]:
        ray.kill(ray.get_actor(one["name"], namespace=one["namespace"]))


@pytest.mark.parametrize("killed", [1, REPLICAS])
async def test_replicas_killed_in_the_middle_lose_no_decode(recognizer: HandleRecognizer, killed: int) -> None:
    await whole()
    said = speech(EN_US)
    alone = await recognizer.transcribe(said, EN_US, Decode.FINAL)
    decoding = [asyncio.create_task(recognizer.transcribe(said, EN_US, Decode.FINAL)) for _ in range(12)]
    await asyncio.sleep(0.02)
    kill_replicas(killed)
    heard = await asyncio.gather(*decoding)
    assert {one.hypotheses for one in heard} == {alone.hypotheses}
    assert (await recognizer.transcribe(said, EN_US, Decode.FINAL)).text == alone.text


async def test_who_waits_for_no_replica_is_told_in_time(recognizer: HandleRecognizer) -> None:
    await whole()
    kill_replicas(REPLICAS)
    impatient = HandleRecognizer(serve.get_app_handle(RECOGNIZER), patience_s=0.2)
    with pytest.raises(RecognizerUnavailable, match="in time"):
        await impatient.transcribe(speech(EN_US), EN_US, Decode.FINAL)
    await recognizer.warm_up()
    assert (await recognizer.transcribe(speech(EN_US), EN_US, Decode.FINAL)).text
