"""What the service sends when something was refused or failed."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from schemas.call import NoSuchReply
from schemas.errors import BadInput, NotAllowed, TellerlineError, UnknownEvent, UnsupportedLocale
from schemas.wire.event import Event
from schemas.wire.unreadable import Refused

ErrorKind = Literal["invalid_request_error", "server_error"]


def kind_of(error: TellerlineError) -> ErrorKind:
    """Whose fault an error is, as both protocols call it."""
    return "invalid_request_error" if isinstance(error, BadInput | NotAllowed) else "server_error"


def param_of(error: TellerlineError) -> str | None:
    """Where in the client's event the fault is, where that is known."""
    match error:
        case Refused():
            return error.param
        case UnknownEvent():
            return "type"
        case UnsupportedLocale():
            return "session.tellerline.locale"
        case NoSuchReply():
            return "response_id"
    return None


class ErrorBody(BaseModel):
    """`code` is stable (schemas/errors.py); `event_id` is the client's event that caused it, `param` where in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: ErrorKind
    code: str
    message: str
    event_id: str | None = None
    param: str | None = None


class ErrorEvent(Event):
    """Something was refused or failed; the call goes on unless it is closed next."""

    type: Literal["error"] = "error"
    error: ErrorBody


def body_of(error: TellerlineError, cause: str | None) -> ErrorBody:
    """What is told of an error that the client's event `cause` led to."""
    return ErrorBody(type=kind_of(error), code=error.code, message=error.message, event_id=cause, param=param_of(error))
