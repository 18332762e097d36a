"""WS /v1/ivr/asterisk: chan_websocket."""

import base64
import binascii
import hmac
from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter, WebSocket
from starlette.requests import HTTPConnection

from app.transports.telephone.asterisk_websocket import MediaWebSocket
from app.transports.telephone.driver import PhoneDeps, serve
from app.transports.telephone.expected import ExpectedCalls
from app.transports.telephone.sockets import WebSocketConnection
from schemas.errors import TellerlineError, Unauthenticated
from schemas.ids import Locale

SUBPROTOCOL = "media"


def router(deps: PhoneDeps, expected: ExpectedCalls, bridges: Mapping[str, bytes]) -> APIRouter:
    """The route. The address carries `statement`, or the id of a `call` that was announced; and `locale`."""
    routes = APIRouter(prefix="/v1/ivr")
    asked = replace(deps, ended=expected.ended)

    @routes.websocket("/asterisk")
    async def asterisk(socket: WebSocket) -> None:
        connection = WebSocketConnection(socket, SUBPROTOCOL)
        query = socket.query_params
        call, statement = query.get("call", ""), query.get("statement")
        try:
            deps.calls.shares.connection(socket.client.host if socket.client else "")
            proven = with_key(socket, bridges)
        except TellerlineError as refused:
            deps.calls.metrics.error(refused.code)
            await connection.close(refused)
            return
        core = MediaWebSocket(statement or call or None, call, Locale(query.get("locale", "")) or None)
        taking = asked if statement else replace(asked, vouch=expected.take)
        await serve(connection, core, taking, proven=proven)

    return routes


def with_key(connection: HTTPConnection, bridges: Mapping[str, bytes]) -> bool:
    """Whether the connection has a bridge's key as user and password. Raises Unauthenticated: it has a wrong one."""
    scheme, _, value = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        name, _, given = base64.b64decode(value, validate=True).partition(b":")
    except (binascii.Error, ValueError):
        raise Unauthenticated("no user and password") from None
    key = bridges.get(name.decode("utf-8", "replace"))
    if not hmac.compare_digest(key or b"\0" * 32, given) or key is None:
        raise Unauthenticated("no bridge has this key")
    return True
