"""WS /v1/ivr/jambonz: jambonz' `listen`, and with `?audio=file` FreeSWITCH's mod_audio_fork.

With `?audio=text` or `ssml` either speaks replies itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, WebSocket

from app.auth.bridge_keys import with_key
from app.transports.live.query import chosen
from app.transports.telephone.connection import PhoneDeps
from app.transports.telephone.door import PhoneLine, answer
from app.transports.telephone.jambonz import AudioFork, ReplyForm
from services.guard.expected_calls import ExpectedCalls

SUBPROTOCOLS: Final = ("audio.jambonz.org", "audio.drachtio.org")


def router(deps: PhoneDeps, expected: ExpectedCalls, bridges: Mapping[str, bytes]) -> APIRouter:
    """The route. A bridge proves itself by its key as user and password, or by a statement in the metadata."""
    routes = APIRouter(prefix="/v1/ivr")
    asked = replace(deps, ended=expected.ended)

    async def proven(socket: WebSocket) -> bool:
        return with_key(socket, bridges)

    @routes.websocket("/jambonz")
    async def jambonz(socket: WebSocket) -> None:
        def said() -> PhoneLine:
            replies = chosen(socket, "audio", {form.value: form for form in ReplyForm}, ReplyForm.AUDIO)
            return PhoneLine(AudioFork(replies), voiced=not replies.worded)

        await answer(socket, said, asked, proven, *SUBPROTOCOLS)

    return routes
