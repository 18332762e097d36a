"""What an address says of the call that it opens is meant, or refused at the handshake: nothing is passed over."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from websockets.asyncio.client import connect

from app.auth.demo import LIFE_S
from tests.fakes.recognizer import FakeRecognizer
from tests.fakes.synthesizer import FakeSynthesizer
from tests.harness.handshakes import LET_IN, refusal, status
from tests.harness.phone_asterisk import free_port
from tests.harness.phone_lines import AUTHORIZED
from tests.harness.phone_lines import settings as telephones
from tests.harness.served import Served, served


@pytest.fixture
async def running(quick_folder: Path) -> AsyncIterator[Served]:
    ear, voice = FakeRecognizer(lambda _: ""), FakeSynthesizer(10)
    async with served(quick_folder, ear, voice=voice, **telephones(free_port())) as made:
        yield made


@pytest.mark.parametrize(
    ("path", "answer", "names"),
    [
        ("ivr/telnyx", LET_IN, ""),
        ("ivr/telnyx?codec=PCMA", LET_IN, ""),
        ("ivr/telnyx?codec=PCMU", LET_IN, ""),
        ("ivr/telnyx?codec=L16", 400, "PCMU"),
        ("ivr/telnyx?codec=pcma", 400, "PCMA"),
        ("ivr/telnyx?codec=", 400, "PCMA"),
        ("ivr/telnyx?codec=OPUS", 400, "codec"),
        ("ivr/telnyx?codec=PCMA&codec=PCMU", 400, "codec"),
        ("ivr/jambonz?audio=ssml", LET_IN, ""),
        ("ivr/jambonz?audio=Text", 400, "text"),
        ("ivr/jambonz?audio=words", 400, "ssml"),
        ("ivr/asterisk?call=x&locale=ja-JP", LET_IN, ""),
        ("ivr/asterisk?call=x&locale=fr-FR", 422, "ja-JP"),
        ("ivr/asterisk?call=x&locale=../x", 422, "ja-JP"),
        ("realtime", LET_IN, ""),
        ("realtime?model=x&locale=en-GB&tellerline_events=0", LET_IN, ""),
        ("realtime?locale=fr-FR", 422, "ja-JP"),
        ("realtime?locale=EN-us", 422, "en-US"),
        ("realtime?tellerline_events=yes", 400, "true"),
    ],
)
async def test_a_word_that_is_not_known_is_refused(running: Served, path: str, answer: int, names: str) -> None:
    headers = running.token("alex-morgan") if path.startswith("realtime") else AUTHORIZED
    refused = await refusal(f"ws://127.0.0.1:{running.port}/v1/{path}", headers)
    assert (refused.status_code if refused else LET_IN) == answer
    if refused is not None:
        assert names in orjson.loads(refused.body)["error"]["message"]


async def test_a_bridge_that_names_no_language_of_ours_is_told(running: Served) -> None:
    url = f"ws://127.0.0.1:{running.port}/v1/ivr/jambonz"
    async with connect(url, additional_headers=AUTHORIZED, compression=None) as bridge:
        given = {"statement": "", "locale": "fr-FR"}
        await bridge.send(orjson.dumps({"callSid": "c", "sampleRate": 8000, "metadata": given}).decode())
        told = orjson.loads(await bridge.recv())
        assert (told["type"], told["data"]["code"]) == ("error", "unsupported_locale")


async def test_a_token_that_is_just_over_opens_no_call(quick_folder: Path) -> None:
    async with served(quick_folder, FakeRecognizer(lambda _: "")) as made:
        issuer, clock = made.gateway.issuer, made.gateway.clock
        assert issuer is not None
        for late_s, answer in ((-30, LET_IN), (1, 401), (25, 401)):
            made_at = clock.now() - timedelta(seconds=LIFE_S + late_s)
            token = issuer.token("alex-morgan", ("call",), made_at, clock)
            assert await status(made.calls, {"Authorization": f"Bearer {token}"}) == answer, late_s
