"""What FastAPI's own OpenAPI document lacks or gets wrong: our errors instead of its own, and how to prove who asks."""

from typing import Any, Final

from fastapi import FastAPI, Security
from fastapi.openapi.utils import get_openapi
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import BaseModel

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

_PLACE: Final = "#/components/schemas/{model}"
_SLOW: Final = {
    "408": {
        "description": "timed_out",
        "content": {"application/json": {"schema": {"$ref": _PLACE.format(model="ErrorOut")}}},
    }
}
"""What is answered to a body that comes too slowly, before any route sees it."""
_READ_BY_US: Final[dict[str, type[BaseModel]]] = {}
"""Models of bodies that the framework does not read, by name."""


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """What a route says of a body that it reads itself, once it knows who sends it."""
    _READ_BY_US[model.__name__] = model
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": _PLACE.format(model=model.__name__)}}},
        }
    }


def install(app: FastAPI) -> None:
    """Serve the document without the framework's validation error, which no route of ours ever answers with."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _ours(
                get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign] # FastAPI's documented way to change the document


def _ours(document: dict[str, Any]) -> dict[str, Any]:
    for operations in document["paths"].values():
        for operation in operations.values():
            answers = operation["responses"]
            if _OWN[0] in str(answers.get("422")):
                del answers["422"]
            if "requestBody" in operation:
                answers |= _SLOW
    schemas = document["components"]["schemas"]
    for name in _OWN:
        schemas.pop(name, None)
    for name, model in _READ_BY_US.items():
        own = model.model_json_schema(ref_template=_PLACE)
        schemas |= own.pop("$defs", {}) | {name: own}
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document
