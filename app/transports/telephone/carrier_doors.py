"""WS /v1/ivr/twilio, /v1/ivr/telnyx and /v1/ivr/plivo: streams of carriers."""

from collections.abc import Mapping, Sequence
from typing import Final

from fastapi import APIRouter, WebSocket

from app.auth.carriers import PLIVO_NONCE, PLIVO_SIGNATURE, TWILIO_SIGNATURE, check_plivo, check_twilio
from app.auth.dependencies import path_of
from app.transports.live.query import chosen
from app.transports.telephone.carriers import PLIVO, TELNYX, TWILIO, Carrier, Credential
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.door import PhoneLine, answer
from app.transports.telephone.media_stream import MediaStream
from schemas.audio import AudioFormat, Encoding

_LAWS: Final = {"PCMU": AudioFormat(Encoding.MULAW, 8_000), "PCMA": AudioFormat(Encoding.ALAW, 8_000)}
"""Of Telnyx' codecs those that are taken, the usual one first."""


def router(deps: PhoneDeps, credentials: Mapping[str, Credential]) -> APIRouter:
    """The routes. `credentials` are the carriers' by name; one without a key takes only calls with a statement.

    Telnyx' address tells the codec that it takes (`stream_bidirectional_codec`), which its messages don't: it gives the
    caller's line's own, whatever it takes.
    """
    routes = APIRouter(prefix="/v1/ivr")

    @routes.websocket("/twilio")
    async def twilio(socket: WebSocket) -> None:
        await _stream(socket, deps, TWILIO, credentials["twilio"])

    @routes.websocket("/telnyx")
    async def telnyx(socket: WebSocket) -> None:
        await _stream(socket, deps, TELNYX, credentials["telnyx"], _LAWS)

    @routes.websocket("/plivo")
    async def plivo(socket: WebSocket) -> None:
        await _stream(socket, deps, PLIVO, credentials["plivo"])

    return routes


async def _stream(
    socket: WebSocket,
    deps: PhoneDeps,
    carrier: Carrier,
    credential: Credential,
    codecs: Mapping[str, AudioFormat] | None = None,
) -> None:
    async def proven(socket: WebSocket) -> bool:
        return _proven(socket, carrier, credential.keys)

    def said() -> PhoneLine:
        sent = chosen(socket, "codec", codecs, next(iter(codecs.values()))) if codecs else None
        return PhoneLine(MediaStream(carrier, credential, sent))

    await answer(socket, said, deps, proven)


def _proven(socket: WebSocket, carrier: Carrier, keys: Sequence[bytes]) -> bool:
    """Whether the connection is the carrier's; Telnyx signs none. Raises Unauthenticated: it says so and is not."""
    if not keys or carrier is TELNYX:
        return False
    host, path = socket.headers.get("host", ""), path_of(socket)
    if carrier is TWILIO:
        check_twilio(keys, host, path, socket.headers.get(TWILIO_SIGNATURE, ""))
    else:
        nonce, signatures = (socket.headers.get(name, "") for name in (PLIVO_NONCE, PLIVO_SIGNATURE))
        check_plivo(keys, host, path, nonce, signatures)
    return True
