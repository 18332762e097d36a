"""Whatever bytes a stranger sends, every parser of them answers in its own errors. What once crashed is kept."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from fastapi.requests import HTTPConnection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.auth.dependencies import HEADERS, SIGNATURE, bearer, signed_request
from app.auth.signature import RequestVerifier, sign
from app.transports.events.decode import to_input
from deploy.bench._abuse.bombs import (
    OPUS_120_MS,
    OPUS_TAGS,
    PLAYLISTS,
    flac_of_silence,
    mp3_of_hours,
    ogg,
    opus_head,
    wav,
)
from schemas.audio import AudioFormat, Encoding
from schemas.errors import BadInput, NotAllowed, TellerlineError
from schemas.wire import parse_client_event
from services.audio.containers import bare, links
from services.audio.decoder_pool import DecoderPool
from services.audio.files import read_raw
from tests.harness.echo import echo, raw
from tests.harness.tokens import KEYS, NOW, RULES, token, verify_token

MANY = settings(max_examples=300, deadline=2_000, suppress_health_check=[HealthCheck.too_slow])
SEEDS = (
    wav(b""), flac_of_silence(2), mp3_of_hours(20), *PLAYLISTS.values(),
    ogg([opus_head(), OPUS_TAGS, OPUS_120_MS], granule=lambda done: done * 5_760),
)  # fmt: skip
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
_TYPES = ("session.update", "input_audio_buffer.append", "conversation.item.create", "tellerline.token", "x")


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A file with some bytes changed, cut out or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, min(len(data), 400) - 1)))
        match draw(st.integers(0, 3)):
            case 0:
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
            case 1:
                del data[at : at + draw(st.integers(1, 40))]
            case 2:
                data[at:at] = draw(st.binary(max_size=40))
            case _:
                data[at : at + 4] = draw(st.sampled_from([b"\xff" * 4, bytes(4), b"\x80\0\0\0", b"OggS", b"fLaC"]))
    return bytes(data)


@MANY
@given(st.binary(max_size=600) | damaged())
@example(b"RIFF\0\0\0\0WAVE")
@example(b"ID3\x04\0\0\x7f\x7f\x7f\x7f")
@example(b"fLaC")
@example(b"OggS")
def test_containers_are_told_or_refused(data: bytes) -> None:
    with contextlib.suppress(BadInput):
        kind, rest = bare(data)
        assert len(rest) <= len(data) + 64
        if kind == "ogg":
            assert b"".join(links(rest)) == rest


@pytest.fixture
async def pool() -> AsyncIterator[DecoderPool]:
    made = DecoderPool(workers=1)
    yield made
    await made.close()


async def test_damaged_files_are_read_or_refused_and_crash_no_decoder(pool: DecoderPool) -> None:
    ended: list[str] = []

    @settings(max_examples=80, deadline=None, database=None)
    @given(damaged())
    def each(data: bytes) -> None:
        files.append(data)

    files: list[bytes] = []
    await asyncio.to_thread(each)
    for data in files:
        try:
            await pool.decode(data)
        except BadInput:
            continue
        except TellerlineError as error:
            ended.append(error.code)
    assert not ended


@MANY
@given(st.text(max_size=300) | st.builds(json.dumps, _JSON))
@example("[" * 60_000)
@example('{"type":"tellerline.token","token":"\\ud800"}')
@example('{"type":"input_audio_buffer.append","audio":"="}')
@example('{"type":"session.update","session":{"tellerline":{"recording":"yes"}}}')
def test_client_events_are_told_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        parse_client_event(text)


@MANY
@given(
    st.sampled_from(_TYPES), st.dictionaries(st.sampled_from(["session", "audio", "item", "token", "event_id"]), _JSON)
)
def test_nearly_events_are_told_or_refused(kind: str, rest: dict[str, object]) -> None:
    with contextlib.suppress(BadInput):
        event = parse_client_event(json.dumps({"type": kind} | rest))
        if event.type != "tellerline.token":
            to_input(event)


@MANY
@given(st.text(max_size=200) | st.binary(max_size=120).map(lambda data: data.decode("latin-1")))
@example("e30.e30.")
@example("..")
def test_tokens_are_refused(text: str) -> None:
    with pytest.raises(NotAllowed):
        verify_token(text, KEYS, RULES, NOW)


@MANY
@given(st.dictionaries(st.sampled_from(["iss", "aud", "sub", "exp", "iat", "nbf", "scope", "jti"]), _JSON))
def test_claims_of_any_kind_are_taken_or_refused(claims: dict[str, object]) -> None:
    with contextlib.suppress(NotAllowed):
        verify_token(token(**claims), KEYS, RULES, NOW)


@MANY
@given(st.text(max_size=60), st.data())
def test_headers_of_tokens_of_any_kind(name: str, data: st.DataObject) -> None:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "EdDSA", name: data.draw(_JSON)}).encode()).rstrip(b"=").decode()
    with pytest.raises(NotAllowed):
        verify_token(f"{head}.e30.{'A' * 86}", KEYS, RULES, NOW)


@MANY
@given(
    st.dictionaries(
        st.sampled_from([*HEADERS, SIGNATURE, "authorization", "sec-websocket-protocol"]), st.binary(max_size=80)
    )
)
@example({SIGNATURE: b"\xff", HEADERS[1]: "٣".encode()})
def test_signatures_are_refused(headers: dict[str, bytes]) -> None:
    raw_headers = [(name.encode(), value) for name, value in headers.items()]
    scope = {
        "type": "websocket", "path": "/v1/calls", "query_string": b"", "headers": raw_headers, "scheme": "ws",
        "server": ("localhost", 80),
    }  # fmt: skip
    connection = HTTPConnection(scope)
    with contextlib.suppress(NotAllowed):
        bearer(connection)
    if SIGNATURE in headers:
        with pytest.raises(NotAllowed):
            RequestVerifier({"bridge": b"s" * 32}).verify(signed_request(connection, b""), datetime.now(UTC))  # noqa: TID251 - any time


@MANY
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=40), st.text(max_size=40))
def test_signed_nonsense_is_refused_or_a_customer(key: str, when: str, nonce: str, customer: str) -> None:
    from dataclasses import replace

    from app.auth.signature import SignedRequest

    request = SignedRequest("bridge", "GET", key, when, nonce, customer, b"", "")
    with contextlib.suppress(NotAllowed, UnicodeEncodeError):
        signed = replace(request, signature=sign(b"s" * 32, request))
        principal = RequestVerifier({"bridge": b"s" * 32}).verify(signed, NOW)
        assert str(principal.customer).isprintable()


@MANY
@given(st.binary(max_size=2_000), st.sampled_from(list(Encoding)), st.sampled_from([8_000, 16_000, 24_000]))
def test_frames_of_sound_are_heard_or_refused(data: bytes, encoding: Encoding, rate: int) -> None:
    with contextlib.suppress(BadInput):
        samples = read_raw(data, AudioFormat(encoding, rate if encoding is Encoding.PCM16 else 8_000))
        assert abs(samples).max(initial=0.0) < 4


async def test_heads_of_any_bytes_are_answered_or_ended() -> None:
    lines: list[bytes] = []

    @settings(max_examples=60, deadline=None, database=None)
    @given(st.binary(max_size=200))
    def each(data: bytes) -> None:
        lines.append(data)

    await asyncio.to_thread(each)
    async with echo() as port:
        for data in lines:
            async with raw(port) as client:
                await client.send(data + b"\r\n\r\n")
                with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                    answer = await client.head()
                    assert answer.startswith(b"HTTP/1.1 ")
        async with raw(port) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert (await client.head()).split()[1] == b"200"
