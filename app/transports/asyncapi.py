"""WS /v1/calls and WS /v1/realtime as one AsyncAPI 3 document, generated from schemas/wire.

A test keeps deploy/asyncapi.json current.
"""

from dataclasses import dataclass
from typing import Any, Final, get_args

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app.transports.live.line import MAX_REFUSED
from schemas import wire
from schemas.errors import BadInput, TellerlineError
from schemas.wire import realtime

VERSION: Final = "1.2.0"
"""The wire's version: a new field is a minor change, a changed or missing one a major change."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Door:
    """A channel: what comes in on it, and what goes out; `sound` whether sound goes both ways in binary messages."""

    name: str
    address: str
    description: str
    client: list[type[BaseModel]]
    server: list[type[BaseModel]]
    sound: bool = False

    @property
    def heard(self) -> list[str]:
        return [model.__name__ for model in self.client] + (["Audio"] if self.sound else [])

    @property
    def told(self) -> list[str]:
        return [model.__name__ for model in self.server] + (["SpokenAudio"] if self.sound else [])

    def channel(self) -> Json:
        names = dict.fromkeys([*self.heard, *self.told])
        messages = {name: {"$ref": f"#/components/messages/{name}"} for name in names}
        return {"address": self.address, "description": self.description, "messages": messages}

    def operation(self, action: str, names: list[str]) -> Json:
        return {
            "action": action,
            "channel": {"$ref": f"#/channels/{self.name}"},
            "messages": [{"$ref": f"#/channels/{self.name}/messages/{name}"} for name in names],
            "security": [{"$ref": "#/components/securitySchemes/bearer"}],
        }


def document() -> Json:
    """The whole document."""
    doors = (
        _Door("calls", "/v1/calls", _CALLS, _models(wire.ClientEvent), _models(wire.ServerEvent), sound=True),
        _Door("realtime", "/v1/realtime", _REALTIME, _models(realtime.ClientEvent), _models(realtime.ServerEvent)),
    )
    client = list(dict.fromkeys(model for door in doors for model in door.client))
    server = list(dict.fromkeys(model for door in doors for model in door.server))
    _, schemas = models_json_schema(
        [(model, "validation") for model in client] + [(model, "serialization") for model in server],
        by_alias=True,
        ref_template="#/components/schemas/{model}",
    )
    operations: Json = {}
    for door, hear, tell in zip(doors, ("hear", "hearRealtime"), ("tell", "tellRealtime"), strict=True):
        operations |= {hear: door.operation("receive", door.heard), tell: door.operation("send", door.told)}
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "tellerline calls", "version": VERSION, "description": _DESCRIPTION + _close_codes()},
        "channels": {door.name: door.channel() for door in doors},
        "operations": operations,
        "components": {
            "messages": {model.__name__: _message(model) for model in (*client, *server)}
            | {"Audio": _AUDIO, "SpokenAudio": _SPOKEN},
            "schemas": _named(schemas["$defs"]),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
    }


_DESCRIPTION: Final = "A live call, on either of two doors. Close codes besides 1000: "
_CALLS: Final = (
    "Names and shapes are those of the OpenAI Realtime API where the meaning matches; what is ours lies under "
    "`tellerline.`. Audio comes as binary messages or in base64; a message is at most 64 KiB. "
    "With `output_modalities` [`audio`] replies come as sound too, where the service has a voice: each "
    "`tellerline.reply.audio` is followed by one binary message, in the format of `audio.output`. At "
    "`tellerline.reply.interrupted` whatever of the reply is still to be played is dropped."
)
_REALTIME: Final = (
    "The OpenAI Realtime API (GA), for its clients as they are: what can't be honoured is let through, and "
    "`session.updated` tells what is in force. What lies under `tellerline.` is sent where it was asked for: by the "
    "subprotocol `tellerline.v1`, `?tellerline_events=1`, or `session.tellerline.events`. Audio comes in base64; a "
    "message is at most 1 MiB."
)
_AUDIO: Final[Json] = {
    "name": "audio",
    "summary": "Audio in the session's format, as a binary message.",
    "contentType": "application/octet-stream",
    "payload": {"type": "string", "format": "binary", "maxLength": 65536},
}
_SPOKEN: Final[Json] = {
    "name": "spoken_audio",
    "summary": "Sound of a reply as a binary message, right after the tellerline.reply.audio that tells its place.",
    "contentType": "application/octet-stream",
    "payload": {"type": "string", "format": "binary"},
}


def _named(schema: Any) -> Any:
    """JSON schema as AsyncAPI has it: a discriminator is the property's name alone."""
    if isinstance(schema, list):
        return [_named(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value["propertyName"] if key == "discriminator" and isinstance(value, dict) else _named(value)
        for key, value in schema.items()
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


def _close_codes() -> str:
    """Every error that closes a call, by its code."""
    refused = sorted({error.ws_close for error in _tree(BadInput) if not error.fatal})
    fatal = sorted({(error.ws_close, error.code) for error in _tree(TellerlineError) if error.fatal})
    return (
        ", ".join(f"{close} {code}" for close, code in fatal)
        + f"; the last one's ({', '.join(map(str, refused))}) past {MAX_REFUSED} refused events; 1002, 1007 where the "
        "frames themselves are wrong; 1011 where a fault is ours."
    )


def _tree(root: type[TellerlineError]) -> list[type[TellerlineError]]:
    return [root, *(found for child in root.__subclasses__() for found in _tree(child))]
