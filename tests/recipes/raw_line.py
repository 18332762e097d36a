"""The smallest telephone protocol there can be: mu-law bytes and keys come in, the sentences to be spoken go out.

A transport turns what its line says into `schemas.call` inputs, and the call's events into what its line understands.
Everything in between is `LiveCall`.
"""

import contextlib

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from app.bootstrap import Gateway
from app.transports.live.together import first_end, together
from schemas.audio import AudioFormat, Encoding
from schemas.call import AudioIn, CallConfig, KeyIn, ReplyProgress
from schemas.ids import CallId
from schemas.turn import ReplyText
from services.call import CallPorts, LiveCall, OutboundQueue

TELEPHONE = CallConfig(form=AudioFormat(Encoding.MULAW, 8_000), estimated=True)
"""Such a line can't say what it has played: a reply counts as heard once it could have been spoken."""


def routes(gateway: Gateway) -> APIRouter:
    """WS /v1/raw, for whoever may call."""
    router = APIRouter()

    @router.websocket("/v1/raw")
    async def line(socket: WebSocket) -> None:
        customer = (await gateway.authenticator.principal(socket)).caller()
        with gateway.limits.shares.call(customer), gateway.admission.enter():
            handler = await gateway.callers.open(customer, CallId(gateway.clock.new_id()), TELEPHONE.locale)
            ports, outbound = CallPorts(handler, gateway.recognizer, gateway.vad, gateway.clock), OutboundQueue()
            await socket.accept()
            await _converse(socket, LiveCall(ports, outbound, TELEPHONE, seconds=900.0), outbound)

    return router


async def _converse(socket: WebSocket, call: LiveCall, outbound: OutboundQueue) -> None:
    """Read, live and write until one of them ends."""
    async with together(call.run(), _read(socket, call), _write(socket, outbound)) as tasks:
        await first_end(tasks)
    with contextlib.suppress(RuntimeError):
        await socket.close()


async def _read(socket: WebSocket, call: LiveCall) -> None:
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                call.hung_up = True
                return
            data, key = message.get("bytes"), message.get("text")
            await call.put(KeyIn(key) if key else AudioIn(data or b""))


async def _write(socket: WebSocket, outbound: OutboundQueue) -> None:
    while (event := await outbound.get()) is not None:
        if isinstance(event, ReplyProgress) and isinstance(event.event, ReplyText):
            await socket.send_text(event.event.text)
