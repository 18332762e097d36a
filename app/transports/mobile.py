"""WS /v1/calls: a live call from an app. Audio as binary messages or in base64, everything else as JSON text."""

from typing import Final

from fastapi import APIRouter, WebSocket

from app.transports._decode import to_input
from app.transports._dialect import Given
from app.transports._encode import Encoder
from app.transports._line import CallDeps, serve
from schemas.call import AudioIn, CallConfig, CallEvent
from schemas.errors import BadInput
from schemas.ids import CallId
from schemas.wire import RenewToken, parse_client_event
from services.ports import Clock

SUBPROTOCOL: Final = "tellerline.v1"


def router(deps: CallDeps) -> APIRouter:
    """The route of the calls."""
    routes = APIRouter()

    @routes.websocket("/v1/calls")
    async def calls(socket: WebSocket) -> None:
        await serve(socket, deps, lambda call: Calls(deps.clock, call), (SUBPROTOCOL,))

    return routes


class Calls:
    """One call's `Dialect`: our own events."""

    def __init__(self, clock: Clock, identity: CallId) -> None:
        self.config = CallConfig()
        self._encoder = Encoder(clock, identity)

    def opening(self) -> list[str]:
        """The settings in force."""
        return [self._encoder.created(self.config)]

    def sound(self, data: bytes) -> Given:
        """Sound in the call's format."""
        return Given((AudioIn(data),))

    def read(self, text: str) -> Given:
        """An event; what can't be read is refused."""
        try:
            event = parse_client_event(text)
            if isinstance(event, RenewToken):
                return Given(token=event.token)
            return Given((to_input(event),), cause=event.event_id)
        except BadInput as refused:
            return Given(refused=refused)

    def encode(self, event: CallEvent, *, audible: bool) -> list[str]:  # noqa: ARG002 - it is told whatever is heard
        """The messages that tell of `event`, in order."""
        return self._encoder.encode(event)

    def farewell(self) -> list[str]:
        """The close code says it."""
        return []
