"""What FastAPI's own OpenAPI document lacks or gets wrong: our errors instead of its own, and how to prove who asks."""

from typing import Any, Final

from fastapi import FastAPI, Security
from fastapi.openapi.utils import get_openapi
from fastapi.security import APIKeyHeader, HTTPBearer

from app.auth.dependencies import SIGNATURE

_OWN: Final = ("HTTPValidationError", "ValidationError")
CREDENTIALS: Final = (
    Security(HTTPBearer(scheme_name="token", description="an access token (OAuth 2, JWT)", auto_error=False)),
    Security(
        APIKeyHeader(
            name=SIGNATURE,
            scheme_name="signature",
            description="an IVR bridge's HMAC-SHA256 over key id, method, path, time, nonce, customer and body",
            auto_error=False,
        )
    ),
)
"""For the document alone: `app.auth` is what checks a credential. Either of them will do."""


def install(app: FastAPI) -> None:
    """Serve the document without the framework's validation error, which no route of ours ever answers with."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _without_framework_errors(
                get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign] # FastAPI's documented way to change the document


def _without_framework_errors(document: dict[str, Any]) -> dict[str, Any]:
    for operations in document["paths"].values():
        for operation in operations.values():
            answers = operation["responses"]
            if _OWN[0] in str(answers.get("422")):
                del answers["422"]
    for name in _OWN:
        document["components"]["schemas"].pop(name, None)
    return document
