"""The HTTP routes on real stages: what they answer, and what every kind of bad input gets."""

import io
import wave
from collections.abc import AsyncIterator
from pathlib import Path

import orjson
import pytest

from app.auth.principal import Scope
from app.transports.http import RAW_TYPES
from app.version import VERSION
from rules.load import ruleset_hash
from services.audio.codec import encode_pcm16
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app
from tests.harness.gateway import AUDIO, clip

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[RunningApp]:
    async with running_app(
        tmp_path, FakeRecognizer(lambda _seconds: "what's my balance"), max_upload_bytes=200_000
    ) as app:
        yield app


def wav(samples: bytes = b"", rate: int = 16_000) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples)
    return buffer.getvalue()


async def test_health_readiness_and_metrics(bank: RunningApp) -> None:
    assert (await bank.client.get("/healthz")).json() == {"status": "ok"}
    ready = await bank.client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ok", "version": VERSION, "ruleset": ruleset_hash()})
    metrics = await bank.client.get("/metrics")
    assert "tellerline_calls 0.0" in metrics.text
    bank.gateway.admission.drain()
    draining = await bank.client.get("/readyz")
    assert (draining.status_code, draining.json()["error"]["code"]) == (503, "draining")


async def test_a_gateway_that_can_not_know_its_callers_is_not_ready(quick_folder: Path) -> None:
    async with running_app(quick_folder, FakeRecognizer(""), jwks_url="http://127.0.0.1:1/jwks.json") as bank:
        told = await bank.client.get("/readyz")
        assert (told.status_code, told.json()["error"]["code"]) == (503, "not_ready")
        assert "issuer's keys" in told.json()["error"]["message"]


async def test_text_knows_the_callers_own_payees(bank: RunningApp) -> None:
    line = {"text": "send fifty dollars to catherine nguyen", "locale": "en-US"}
    answer = await bank.client.post("/v1/text", json=line, headers=bank.token("alex-morgan"))
    out = answer.json()
    assert (out["intent"], out["decision"]) == ("transfer_money", "confirm")
    assert out["slots"] == {"amount": {"amount_minor": 5000, "currency": "USD"}, "payee": "catherine-nguyen"}
    other = await bank.client.post("/v1/text", json=line, headers=bank.token("takahashi-misaki"))
    assert "catherine-nguyen" not in other.text


async def test_qa_brings_payees_of_its_own(bank: RunningApp) -> None:
    line = {"text": "pay zoe quartz ten dollars", "locale": "en-US", "payees": [{"id": "z", "name": "Zoe Quartz"}]}
    out = (await bank.client.post("/v1/text", json=line, headers=bank.token("qa-tool", Scope.QA))).json()
    assert out["slots"]["payee"] == "z"


async def test_a_recording_is_heard_and_decided(bank: RunningApp) -> None:
    body = (AUDIO / "balance.opus").read_bytes()
    headers = bank.token("alex-morgan") | {"Content-Type": "audio/ogg"}
    out = (await bank.client.post("/v1/utterances?locale=en-US", content=body, headers=headers)).json()
    assert out["transcript"] == "what's my balance"
    assert out["decision"]["intent"] == "balance_inquiry"
    assert {"upload", "asr", "total"} <= out["stages_ms"].keys()


@pytest.mark.parametrize("media_type", sorted(RAW_TYPES))
async def test_headerless_audio(bank: RunningApp, media_type: str) -> None:
    headers = bank.token("alex-morgan") | {"Content-Type": media_type}
    content = encode_pcm16(clip("balance"))[:16_000]
    answer = await bank.client.post("/v1/utterances?locale=en-US&rate=8000", content=content, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        (b"", "audio/wav", 422, "malformed_audio"),
        (b"\x00" * 999, "audio/wav", 415, "unsupported_audio"),
        (wav()[:30], "audio/wav", 422, "malformed_audio"),
        (wav(b"\x00\x00" * 16_000)[:9_000], "audio/wav", 422, "malformed_audio"),
        (wav(b"\x00\x00" * 150_000), "audio/wav", 413, "too_large"),
        (b"<html>", "text/html", 415, "unsupported_audio"),
        (b"\x01", "audio/l16", 422, "malformed_audio"),
    ],
)
async def test_bad_recordings(bank: RunningApp, content: bytes, media_type: str, status: int, code: str) -> None:
    headers = bank.token("alex-morgan") | {"Content-Type": media_type}
    answer = await bank.client.post("/v1/utterances?locale=en-US", content=content, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert (await bank.client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code", "says"),
    [
        (b"{", 400, "bad_input", "body: no JSON: EOF"),
        (b"[]", 400, "bad_input", "body: write an object"),
        (orjson.dumps({"text": "x"}), 400, "bad_input", "body.locale: is missing"),
        (orjson.dumps({"text": "x" * 2_001, "locale": "en-US"}), 400, "bad_input", "body.text: write at most 2000"),
        (orjson.dumps({"text": "x", "locale": "en-US", "surprise": 1}), 400, "bad_input", "body: holds a name"),
        (b'{"text": "x", "locale": "en-US", "text": "y"}', 400, "bad_input", "twice"),
        (orjson.dumps({"text": "x", "locale": "tlh-KX"}), 422, "unsupported_locale", "en-GB, en-US, ja-JP"),
    ],
)
async def test_bad_texts(bank: RunningApp, body: bytes, status: int, code: str, says: str) -> None:
    headers = bank.token("alex-morgan") | {"Content-Type": "application/json"}
    answer = await bank.client.post("/v1/text", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert says in answer.json()["error"]["message"]


async def test_nobody_gets_in_without_a_credential(bank: RunningApp) -> None:
    line = {"text": "what's my balance", "locale": "en-US"}
    bare = await bank.client.post("/v1/text", json=line)
    assert (bare.status_code, bare.json()["error"]["code"]) == (401, "unauthenticated")
    forged = await bank.client.post("/v1/text", json=line, headers={"Authorization": "Bearer x.y.z"})
    assert forged.status_code == 401
    scopeless = await bank.client.post("/v1/text", json=line, headers=bank.token("alex-morgan", "admin"))
    assert (scopeless.status_code, scopeless.json()["error"]["code"]) == (403, "missing_scope")
    assert scopeless.json()["error"]["message"] == "needs the scope call"


async def test_unknown_routes_and_methods_answer_in_the_same_form(bank: RunningApp) -> None:
    assert (await bank.client.get("/nowhere")).json()["error"]["code"] == "not_found"
    for call in ("/v1/calls", "/v1/realtime", "/v1/ivr/twilio"):
        bare = await bank.client.get(call)  # as a proxy leaves it that passes no Upgrade on
        assert (bare.status_code, "Upgrade: websocket" in bare.json()["error"]["message"]) == (426, True)
    other = await bank.client.get("/v1/text")
    assert (other.status_code, other.json()["error"]["message"]) == (405, "send POST")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/", "/console/", "/nowhere", "/v1/text"])
async def test_head_is_answered_as_get_without_a_body(bank: RunningApp, path: str) -> None:
    whole, head = await bank.client.get(path), await bank.client.head(path)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert head.headers.get("content-type") == whole.headers.get("content-type")


async def test_a_redirect_stays_where_it_was_asked(bank: RunningApp) -> None:
    for path, to in (("/v1/text/?a=b", "/v1/text?a=b"), ("/console", "/console/")):
        answer = await bank.client.get(path, headers={"Host": "elsewhere.example"}, follow_redirects=False)
        assert answer.headers["location"] == to


async def test_the_console_is_served_with_a_strict_policy(bank: RunningApp) -> None:
    page = await bank.client.get("/console/")
    assert page.status_code == 200
    assert "default-src 'none'" in page.headers["content-security-policy"]


async def test_openapi_is_current(tmp_path: Path) -> None:
    """With all that may be switched on."""
    committed = orjson.loads((ROOT / "deploy" / "openapi.json").read_bytes())
    async with running_app(tmp_path, FakeRecognizer(lambda _: ""), recording_days=1) as bank:
        assert committed == orjson.loads(orjson.dumps(bank.app.openapi())), "run `tellerline openapi`"
