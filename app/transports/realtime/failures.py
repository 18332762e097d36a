"""What a Realtime client is told of an error, by codes that clients know."""

from typing import Literal

from schemas.errors import BadInput, NotAllowed, TellerlineError
from schemas.wire.realtime import server


class Refusal(BadInput):
    """A refusal with the protocol's own code, which clients know."""

    def __init__(self, code: str, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.wire = code
        self.param = param


def failure(error: TellerlineError, cause: str | None) -> server.Failure:
    """An error's event. A credential that does not hold any more has a code that ends every client's attempts."""
    code = getattr(error, "wire", "invalid_api_key" if isinstance(error, NotAllowed) else error.code)
    return server.Failure(
        error=server.ErrorDetails(
            type=kind_of(error),
            code=code,
            message=error.message,
            param=getattr(error, "param", None),
            event_id=cause or getattr(error, "cause", None),
        )
    )


def kind_of(error: TellerlineError) -> Literal["invalid_request_error", "server_error"]:
    """Whose fault it is, as the protocol calls it."""
    return "invalid_request_error" if isinstance(error, BadInput | NotAllowed) else "server_error"
