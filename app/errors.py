"""Errors at the HTTP edge: every one leaves as the tree's status, its stable code, and nothing personal."""

import logging

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from schemas.errors import BadInput, InternalFault, NotFound, TellerlineError
from services.observe import Metrics

log = logging.getLogger(__name__)


def error_response(error: TellerlineError) -> Response:
    """The JSON body `{"error": {"code", "message", "retryable"}}` with the tree's status."""
    body = {"error": {"code": error.code, "message": error.message, "retryable": error.retryable}}
    headers = {"Retry-After": str(round(error.retry_after_s))} if error.retry_after_s else {}
    return Response(orjson.dumps(body), error.http_status, headers, "application/json")


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
        places = sorted({".".join(str(part) for part in item["loc"]) for item in error.errors()})
        return answer(BadInput("invalid: " + ", ".join(places)[:400]))

    async def framework(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        body = {"error": {"code": NotFound.code if error.status_code == NotFound.http_status else BadInput.code}}
        return Response(orjson.dumps(body), error.status_code, error.headers, "application/json")

    async def unforeseen(_: Request, error: Exception) -> Response:
        log.error("unforeseen %s", type(error).__name__)
        return answer(InternalFault("internal fault"))

    app.add_exception_handler(TellerlineError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, framework)
    app.add_exception_handler(Exception, unforeseen)
