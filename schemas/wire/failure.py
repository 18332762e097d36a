"""What the service sends when something was refused or failed."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from schemas.errors import BadInput, NotAllowed, TellerlineError
from schemas.wire.event import Event

ErrorKind = Literal["invalid_request_error", "server_error"]


def kind_of(error: TellerlineError) -> ErrorKind:
    """Whose fault an error is, as both protocols call it."""
    return "invalid_request_error" if isinstance(error, BadInput | NotAllowed) else "server_error"


class ErrorBody(BaseModel):
    """`code` is stable (schemas/errors.py); `event_id` is the client's event that caused it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: ErrorKind
    code: str
    message: str
    event_id: str | None = None
    param: None = None


class ErrorEvent(Event):
    """Something was refused or failed; the call goes on unless it is closed next."""

    type: Literal["error"] = "error"
    error: ErrorBody
