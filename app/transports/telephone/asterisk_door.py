"""WS /v1/ivr/asterisk: chan_websocket."""

from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter, WebSocket

from app.auth.bridge_keys import with_key
from app.transports.live.query import language
from app.transports.telephone.asterisk_websocket import MediaWebSocket
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.door import PhoneLine, answer
from services.guard.expected_calls import ExpectedCalls

SUBPROTOCOL = "media"


def router(deps: PhoneDeps, expected: ExpectedCalls, bridges: Mapping[str, bytes]) -> APIRouter:
    """The route. The address carries `statement`, or the id of a `call` that was announced; and `locale`."""
    routes = APIRouter(prefix="/v1/ivr")
    asked = replace(deps, ended=expected.ended)

    async def proven(socket: WebSocket) -> bool:
        return with_key(socket, bridges)

    @routes.websocket("/asterisk")
    async def asterisk(socket: WebSocket) -> None:
        query = socket.query_params
        call, statement = query.get("call", ""), query.get("statement")

        def said() -> PhoneLine:
            return PhoneLine(MediaWebSocket(statement or call or None, call, language(socket)))

        taking = asked if statement else replace(asked, vouch=expected.take)
        await answer(socket, said, taking, proven, SUBPROTOCOL)

    return routes
