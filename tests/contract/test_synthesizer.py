"""Every voice under one suite: embedded, an endpoint, recordings, a hum, and nobody."""

import asyncio
import wave
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from app.composition.speech import installed, voice
from app.settings import Settings, SpeechKind
from schemas.errors import Busy, ConfigInvalid, SpeechUnavailable
from schemas.ids import EN_GB, EN_US, JA_JP, Locale
from services.guard.breaker import BreakerLimits, CircuitBreaker
from services.ports import Synthesizer
from services.speech.kokoro import KokoroEngine
from services.speech.recorded import INDEX, RecordedSynthesizer
from services.speech.remote import RemoteEngine, SpeechEndpoint
from services.speech.silent import SilentSynthesizer
from services.speech.speaker import Speaker
from services.timing.clock import SystemClock
from tests.contract import synthesizer_suite as suite
from tests.fakes.speech_server import FakeSpeechServer
from tests.fakes.voice import HummingEngine
from tests.harness.until import until

LOCALES = (EN_US, EN_GB, JA_JP)
embedded = pytest.mark.skipif(not installed(), reason="the optional extra `speech` is not installed")


def recordings(folder: Path) -> Path:
    """A folder with a recording of each of the suite's texts."""
    index: dict[str, object] = {"id": "recordings", "version": 1}
    index["sentences"] = {locale: {suite.TEXTS[locale]: f"{locale}.wav"} for locale in LOCALES}
    (folder / INDEX).write_text(yaml.safe_dump(index, allow_unicode=True), encoding="utf-8")
    for locale in LOCALES:
        with wave.open(str(folder / f"{locale}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            file.writeframes(b"\x02\x00" * 16_000 * 2)
    return folder


def remote(url: str, **more: float) -> Speaker:
    endpoint = SpeechEndpoint(url, "a-model", "a-key", **more)  # type: ignore[arg-type]
    breaker = CircuitBreaker(SystemClock(), BreakerLimits(failures=2))
    return Speaker(RemoteEngine(endpoint, {"ja-JP": "hana"}, breaker))


@pytest.fixture(params=["hum", "endpoint", "recordings", pytest.param("embedded", marks=embedded)])
async def synthesizer(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Synthesizer]:
    async with AsyncExitStack() as stack:
        match request.param:
            case "hum":
                yield Speaker(HummingEngine(delay_s=0.001))
            case "endpoint":
                server = await stack.enter_async_context(FakeSpeechServer(odd=True))
                speaker = remote(server.url)
                stack.push_async_callback(speaker.close)
                yield speaker
            case "recordings":
                yield RecordedSynthesizer(recordings(tmp_path), SilentSynthesizer())
            case _:
                speaker = Speaker(KokoroEngine())
                stack.push_async_callback(speaker.close)
                yield speaker


@pytest.mark.parametrize("locale", LOCALES)
async def test_the_suite(synthesizer: Synthesizer, locale: Locale) -> None:
    await suite.speaks(synthesizer, locale)
    await suite.stops_when_closed(synthesizer, locale)
    await suite.stops_when_cancelled(synthesizer, locale)


async def test_several_at_once(synthesizer: Synthesizer) -> None:
    await suite.speaks_to_several(synthesizer, EN_US)


async def test_nobody_says_nothing() -> None:
    assert await suite.spoken(SilentSynthesizer(), suite.TEXTS[EN_US], EN_US) == []


async def test_an_endpoint_is_asked_for_words_in_the_voice_of_the_locale() -> None:
    async with FakeSpeechServer() as server:
        speaker = remote(server.url)
        await suite.spoken(speaker, "1円です。", JA_JP)
        await suite.spoken(speaker, "Hello.", EN_US)
        await suite.spoken(speaker, "Hello.", EN_US, "ash")
        await speaker.close()
    sent = {"model": "a-model", "input": "イチ エンです。", "voice": "hana", "response_format": "pcm"}
    assert server.asked[0] == sent | {"authorization": "Bearer a-key"}
    assert [asked["voice"] for asked in server.asked] == ["hana", "alloy", "ash"]


@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"body": b""}, {"body": b"RIFF" + b"\0" * 400}, {"before_s": 1.0}, {"stall_s": 1.0}],
    ids=str,
)
async def test_an_endpoint_that_fails_is_an_error_in_time_and_is_left_alone_after_some(fault: dict[str, float]) -> None:
    async with FakeSpeechServer(**fault) as server:  # type: ignore[arg-type]
        speaker = remote(server.url, first_s=0.2, stall_s=0.2)
        for _ in range(3):
            with pytest.raises(SpeechUnavailable):
                async with asyncio.timeout(5):
                    await suite.spoken(speaker, "Hello.", EN_US)
        await speaker.close()
        assert len(server.asked) == 2


async def test_an_endpoint_learns_at_once_that_nobody_listens() -> None:
    async with FakeSpeechServer(stall_s=5.0) as server:
        speaker = remote(server.url, stall_s=5.0)
        speaking = speaker.speak("Hello.", EN_US, "")
        waiting = asyncio.create_task(anext(speaking))  # type: ignore[arg-type]
        await until(lambda: bool(server.asked))
        waiting.cancel()
        await asyncio.wait({waiting})
        await until(lambda: server.left > 0)
        await speaker.close()


async def test_an_endpoint_takes_so_many_at_once() -> None:
    async with FakeSpeechServer(before_s=0.3) as server:
        speaker = remote(server.url, in_flight=1)
        first = asyncio.create_task(suite.spoken(speaker, "Hello.", EN_US))
        await until(lambda: bool(server.asked))
        with pytest.raises(Busy):
            await suite.spoken(speaker, "Hello.", EN_US)
        assert await first
        await speaker.close()


async def test_recordings_are_heard_where_nobody_else_speaks(tmp_path: Path) -> None:
    nobody = Settings(speech=SpeechKind.NONE)
    recorded = nobody.model_copy(update={"speech_recordings": recordings(tmp_path)})
    async with AsyncExitStack() as stack:
        assert not voice(stack, nobody, SystemClock()).speaks
        assert voice(stack, recorded, SystemClock()).speaks


async def test_what_is_not_recorded_is_spoken_behind(tmp_path: Path) -> None:
    engine = HummingEngine()
    synthesizer = RecordedSynthesizer(recordings(tmp_path), Speaker(engine))
    await suite.spoken(synthesizer, suite.TEXTS[EN_US], EN_US)
    assert engine.asked == []
    await suite.spoken(synthesizer, "Something else.", EN_US)
    await suite.spoken(synthesizer, suite.TEXTS[JA_JP], EN_US)
    await suite.spoken(synthesizer, suite.TEXTS[EN_US], EN_US, "somebody")
    assert [voice for _, _, voice in engine.asked][-1] == "somebody"
    assert len(engine.asked) > 3


@pytest.mark.parametrize("spoil", ["index", "file", "outside", "stereo"])
def test_recordings_that_can_not_be_played_are_told_at_the_start(tmp_path: Path, spoil: str) -> None:
    folder = recordings(tmp_path)
    match spoil:
        case "index":
            (folder / INDEX).unlink()
        case "file":
            (folder / "en-US.wav").write_bytes(b"no sound")
        case "outside":
            (folder / INDEX).write_text("id: r\nversion: 1\nsentences: {en-US: {Hello: ../x.wav}}\n")
        case _:
            with wave.open(str(folder / "en-US.wav"), "wb") as file:
                file.setnchannels(2)
                file.setsampwidth(2)
                file.setframerate(8_000)
                file.writeframes(b"\0" * 400)
    with pytest.raises(ConfigInvalid):
        RecordedSynthesizer(folder, SilentSynthesizer())


@embedded
async def test_an_embedded_voice_that_nobody_has_is_refused() -> None:
    speaker = Speaker(KokoroEngine())
    for name in ("nobody", "../../etc/passwd"):
        with pytest.raises(SpeechUnavailable):
            await suite.spoken(speaker, "Hello.", EN_US, name)
    await speaker.close()
    with pytest.raises(SpeechUnavailable):
        await suite.spoken(speaker, "Hello.", EN_US)
