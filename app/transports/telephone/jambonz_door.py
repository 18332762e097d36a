"""WS /v1/ivr/jambonz: jambonz' `listen`, and with `?audio=file` FreeSWITCH's mod_audio_fork."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, WebSocket

from app.transports.telephone.asterisk_door import with_key
from app.transports.telephone.driver import PhoneDeps, serve
from app.transports.telephone.expected import ExpectedCalls
from app.transports.telephone.jambonz import AudioFork
from app.transports.telephone.sockets import WebSocketConnection
from schemas.errors import TellerlineError

SUBPROTOCOLS: Final = ("audio.jambonz.org", "audio.drachtio.org")


def router(deps: PhoneDeps, expected: ExpectedCalls, bridges: Mapping[str, bytes]) -> APIRouter:
    """The route. A bridge proves itself by its key as user and password, or by a statement in the metadata."""
    routes = APIRouter(prefix="/v1/ivr")
    asked = replace(deps, ended=expected.ended)

    @routes.websocket("/jambonz")
    async def jambonz(socket: WebSocket) -> None:
        connection = WebSocketConnection(socket, *SUBPROTOCOLS)
        try:
            deps.calls.shares.connection(socket.client.host if socket.client else "")
            proven = with_key(socket, bridges)
        except TellerlineError as refused:
            deps.calls.metrics.error(refused.code)
            await connection.close(refused)
            return
        await serve(connection, AudioFork(files=socket.query_params.get("audio") == "file"), asked, proven=proven)

    return routes
