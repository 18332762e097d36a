"""Errors at the HTTP edge: every one leaves as the tree's status, its stable code, and nothing personal."""

import logging
from itertools import islice
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from schemas.amiss import faults
from schemas.errors import (
    BadInput,
    DependencyFailed,
    InternalFault,
    MissingScope,
    NotFound,
    RateLimited,
    TellerlineError,
    Unauthenticated,
)
from services.observability import Metrics

log = logging.getLogger(__name__)

IDENTITY: Final = (Unauthenticated, MissingScope, RateLimited, DependencyFailed)
"""What a route that asks for a credential may answer."""
NO_ROUTE: Final = "no such route"
ANY_PATH: Final = "/{path:path}"
NO_UPGRADE: Final = "a WebSocket answers here: send Upgrade: websocket, and have proxies pass it on"
UPGRADE_REQUIRED: Final = 426
MAX_PLACES: Final = 8
"""Places that a refusal names."""


class ErrorBody(BaseModel):
    """`code` is stable (schemas/errors.py); `retryable` says whether the same request may do later."""

    code: str
    message: str
    retryable: bool


class ErrorOut(BaseModel):
    """Every answer that is no success."""

    error: ErrorBody


def documented(*errors: type[TellerlineError]) -> dict[int | str, dict[str, Any]]:
    """The errors a route may answer with, by status, as its OpenAPI document shows them."""
    statuses = sorted({error.http_status for error in errors})
    codes = {status: sorted({e.code for e in errors if e.http_status == status}) for status in statuses}
    return {status: {"model": ErrorOut, "description": ", ".join(codes[status])} for status in statuses}


def error_response(error: TellerlineError) -> Response:
    """The JSON body `{"error": {"code", "message", "retryable"}}` with the tree's status."""
    headers = {"Retry-After": str(round(error.retry_after_s))} if error.retry_after_s else {}
    return _response(error, error.http_status, headers)


def _response(error: TellerlineError, status: int, headers: dict[str, str] | None) -> Response:
    body = ErrorOut(error=ErrorBody(code=error.code, message=error.message, retryable=error.retryable))
    return Response(body.model_dump_json(), status, headers, "application/json")


def install(app: FastAPI, metrics: Metrics) -> None:
    """Make every exception of the application leave through the tree."""

    def answer(error: TellerlineError) -> Response:
        metrics.error(error.code)
        return error_response(error)

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, TellerlineError)
        return answer(error)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return answer(BadInput("; ".join(islice(faults(error.errors()), MAX_PLACES))))

    async def framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        status, headers = error.status_code, dict(error.headers or {})
        refused: TellerlineError = BadInput(f"send {headers.get('Allow', '')}")
        if status == NotFound.http_status:
            refused = NotFound(NO_ROUTE)
            if _has_call(app, request):
                refused, status, headers = BadInput(NO_UPGRADE), UPGRADE_REQUIRED, {"Upgrade": "websocket"}
        metrics.error(refused.code)
        return _response(refused, status, headers)

    async def unforeseen(_: Request, error: Exception) -> Response:
        log.error("unforeseen %s", type(error).__name__)
        return answer(InternalFault("internal fault"))

    app.add_exception_handler(TellerlineError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(Exception, unforeseen)


def _has_call(app: FastAPI, request: Request) -> bool:
    """Whether a call is taken at the address of a request that is none; a path for whatever is left takes none."""
    asked = {**request.scope, "type": "websocket"}
    doors = (route for route in app.routes if not isinstance(route, Mount) and getattr(route, "path", "") != ANY_PATH)
    return any(route.matches(asked)[0] is Match.FULL for route in doors)
