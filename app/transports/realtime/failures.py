"""What a Realtime client is told of an error, by codes that clients know."""

from schemas.errors import BadInput, NotAllowed, TellerlineError
from schemas.wire.failure import kind_of, param_of
from schemas.wire.realtime import server
from schemas.wire.unreadable import Refused


class Refusal(BadInput):
    """A refusal with the protocol's own code, which clients know."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.wire = code
        self.param = param


def failure(error: TellerlineError, cause: str | None) -> server.Failure:
    """An error's event. A credential that does not hold any more has a code that ends every client's attempts."""
    code, param = error.code, param_of(error)
    match error:
        case NotAllowed():
            code = "invalid_api_key"
        case Refusal():
            code, param = error.wire, error.param
        case Refused():
            cause = cause or error.cause
    details = server.ErrorDetails(type=kind_of(error), code=code, message=error.message, param=param, event_id=cause)
    return server.Failure(error=details)
