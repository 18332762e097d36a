"""WS /v1/calls as an AsyncAPI 3 document, generated from schemas/wire. A test keeps deploy/asyncapi.json current."""

from typing import Any, Final, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from schemas.errors import TellerlineError
from schemas.wire import ClientEvent, ServerEvent

VERSION: Final = "1.0.0"
"""The wire's version: a new field is a minor change, a changed or missing one a major change."""

Json = dict[str, Any]


def document() -> Json:
    """The whole document."""
    client, server = _models(ClientEvent), _models(ServerEvent)
    _, schemas = models_json_schema(
        [(model, "validation") for model in client] + [(model, "serialization") for model in server],
        by_alias=True,
        ref_template="#/components/schemas/{model}",
    )
    messages = {model.__name__: _message(model) for model in (*client, *server)} | {"Audio": _AUDIO}
    sent = [model.__name__ for model in client] + ["Audio"]
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "tellerline calls", "version": VERSION, "description": _DESCRIPTION + _close_codes()},
        "channels": {
            "calls": {
                "address": "/v1/calls",
                "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
            }
        },
        "operations": {
            "hear": _operation("receive", sent),
            "tell": _operation("send", [model.__name__ for model in server]),
        },
        "components": {
            "messages": messages,
            "schemas": schemas["$defs"],
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


_DESCRIPTION: Final = (
    "One live call. Names and shapes are those of the OpenAI Realtime API where the meaning matches; what is ours lies "
    "under `tellerline.`. Audio comes as binary messages or in base64; a message is at most 64 KiB. "
    "Close codes besides 1000: "
)
_AUDIO: Final[Json] = {
    "name": "audio",
    "summary": "Audio in the session's format, as a binary message.",
    "contentType": "application/octet-stream",
    "payload": {"type": "string", "format": "binary", "maxLength": 65536},
}


def _models(events: Any) -> list[type[BaseModel]]:
    """The members of a discriminated union."""
    union = get_args(events)[0]
    return list(get_args(union))


def _message(model: type[BaseModel]) -> Json:
    name = get_args(model.model_fields["type"].annotation)[0]
    return {
        "name": name,
        "summary": (model.__doc__ or "").strip(),
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
    }


def _operation(action: str, names: list[str]) -> Json:
    return {
        "action": action,
        "channel": {"$ref": "#/channels/calls"},
        "messages": [{"$ref": f"#/channels/calls/messages/{name}"} for name in names],
        "security": [{"$ref": "#/components/securitySchemes/bearer"}],
    }


def _close_codes() -> str:
    """Every error that closes a call, by its code."""
    fatal = sorted({(error.ws_close, error.code) for error in _tree(TellerlineError) if error.fatal})
    return ", ".join(f"{close} {code}" for close, code in fatal) + "."


def _tree(root: type[TellerlineError]) -> list[type[TellerlineError]]:
    return [root, *(found for child in root.__subclasses__() for found in _tree(child))]
