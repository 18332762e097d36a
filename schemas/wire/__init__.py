"""WS /v1/calls, version 1: every event both ways. Audio may also come as bare binary messages.

Names and shapes are those of the OpenAI Realtime API (GA) where the meaning matches; what is ours lies under
`tellerline.`. Client events refuse unknown fields. A message is at most 64 KiB.
"""

from schemas.wire.client import (
    AppendAudio,
    CancelResponse,
    ClearAudio,
    ClientEvent,
    CommitAudio,
    CreateItem,
    PlaybackReport,
    PressKey,
    RenewToken,
    UpdateSession,
    parse_client_event,
)
from schemas.wire.server import ServerEvent
from schemas.wire.session import Playback, SemanticVad, ServerVad, Session, SessionPatch

__all__ = [
    "AppendAudio",
    "CancelResponse",
    "ClearAudio",
    "ClientEvent",
    "CommitAudio",
    "CreateItem",
    "Playback",
    "PlaybackReport",
    "PressKey",
    "RenewToken",
    "SemanticVad",
    "ServerEvent",
    "ServerVad",
    "Session",
    "SessionPatch",
    "UpdateSession",
    "parse_client_event",
]
