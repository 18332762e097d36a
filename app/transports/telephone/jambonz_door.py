"""WS /v1/ivr/jambonz: jambonz' `listen`, and with `?audio=file` FreeSWITCH's mod_audio_fork."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, WebSocket

from app.auth.bridge_keys import with_key
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.door import answer
from app.transports.telephone.expected import ExpectedCalls
from app.transports.telephone.jambonz import AudioFork

SUBPROTOCOLS: Final = ("audio.jambonz.org", "audio.drachtio.org")


def router(deps: PhoneDeps, expected: ExpectedCalls, bridges: Mapping[str, bytes]) -> APIRouter:
    """The route. A bridge proves itself by its key as user and password, or by a statement in the metadata."""
    routes = APIRouter(prefix="/v1/ivr")
    asked = replace(deps, ended=expected.ended)

    async def proven(socket: WebSocket) -> bool:
        return with_key(socket, bridges)

    @routes.websocket("/jambonz")
    async def jambonz(socket: WebSocket) -> None:
        core = AudioFork(files=socket.query_params.get("audio") == "file")
        await answer(socket, core, asked, proven, *SUBPROTOCOLS)

    return routes
