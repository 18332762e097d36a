"""The voice over Ray Serve keeps the synthesiser's contract, says what one here says, and outlives killed replicas."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

ray = pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")

from ray import serve  # noqa: E402 - after it is known to be there

from app.cluster.deployments import VOICE, Voices, voices  # noqa: E402
from app.cluster.engine import HandleEngine  # noqa: E402
from app.cluster.start import cluster, deploy  # noqa: E402
from app.composition.speech import installed  # noqa: E402
from schemas.errors import SpeechUnavailable  # noqa: E402
from schemas.ids import EN_US, JA_JP, Locale  # noqa: E402
from services.speech.kokoro import KokoroEngine  # noqa: E402
from services.speech.speaker import Speaker  # noqa: E402
from tests.contract import synthesizer_suite as suite  # noqa: E402
from tests.harness.until import until  # noqa: E402

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not installed(), reason="the extra `speech` is not there: `make speech BIN=.venv-ray/bin`"),
]
REPLICAS = 2
CLAUSE = "Is that right?"


@pytest.fixture(scope="module")
def two_replicas() -> Iterator[None]:
    with cluster(cpus=2):
        deploy(VOICE, voices(Voices(least=REPLICAS, most=REPLICAS)))
        yield


@pytest.fixture
def engine(two_replicas: None) -> HandleEngine:
    return HandleEngine(serve.get_app_handle(VOICE), {}, patience_s=60)


@pytest.fixture
async def here() -> AsyncIterator[KokoroEngine]:
    made = KokoroEngine()
    yield made
    await made.close()


def replicas() -> list[dict[str, str]]:
    return [one for one in ray.util.list_named_actors(all_namespaces=True) if f"#{VOICE}#" in one["name"]]


async def clause(engine: HandleEngine | KokoroEngine, locale: Locale = EN_US, voice: str = "") -> bytes:
    return b"".join([sound.pcm async for sound in engine.sound(CLAUSE, locale, voice)])


@pytest.mark.parametrize("locale", [EN_US, JA_JP])
async def test_the_suite(engine: HandleEngine, locale: Locale) -> None:
    speaker = Speaker(engine)
    await suite.speaks(speaker, locale)
    await suite.stops_when_closed(speaker, locale)
    await suite.stops_when_cancelled(speaker, locale)
    await suite.speaks_to_several(speaker, locale)


async def test_it_is_the_voice_that_would_speak_here(engine: HandleEngine, here: KokoroEngine) -> None:
    assert engine.version == here.version
    assert await clause(engine) == await clause(here)
    other = HandleEngine(serve.get_app_handle(VOICE), {EN_US: "am_adam"}, patience_s=60)
    assert await clause(other) == await clause(here, voice="am_adam")


async def test_errors_are_those_that_the_replica_raised(engine: HandleEngine) -> None:
    with pytest.raises(SpeechUnavailable, match="no voice for"):
        await clause(engine, Locale("xx-XX"))
    with pytest.raises(SpeechUnavailable, match="no voice nobody"):
        await clause(engine, voice="nobody")


@pytest.mark.parametrize("killed", [1, REPLICAS])
async def test_replicas_killed_in_the_middle_lose_no_clause(engine: HandleEngine, killed: int) -> None:
    await until(lambda: len(replicas()) == REPLICAS, most_s=60)
    alone = await clause(engine)
    speaking = [asyncio.create_task(clause(engine)) for _ in range(6)]
    await asyncio.sleep(0.05)
    for one in replicas()[:killed]:
        ray.kill(ray.get_actor(one["name"], namespace=one["namespace"]))
    assert set(await asyncio.gather(*speaking)) == {alone}


async def test_who_waits_for_no_replica_is_told_in_time(engine: HandleEngine) -> None:
    await until(lambda: len(replicas()) == REPLICAS, most_s=60)
    for one in replicas():
        ray.kill(ray.get_actor(one["name"], namespace=one["namespace"]))
    impatient = HandleEngine(serve.get_app_handle(VOICE), {}, patience_s=0.2)
    with pytest.raises(SpeechUnavailable, match="in time"):
        await clause(impatient)


async def test_after_closing_nothing_is_said(engine: HandleEngine) -> None:
    await engine.close()
    with pytest.raises(SpeechUnavailable, match="closed"):
        await clause(engine)
