"""WS /v1/realtime: the events of the OpenAI Realtime API (GA) both ways, as its clients write and read them.

Of what a client sends only what can be honoured is read; the rest is let through unread, and the settings in force tell
so. What is the same on both doors is defined once, in `schemas.wire`; what is ours lies under `tellerline.` and is sent
to those alone who asked for it. A message is at most MAX_MESSAGE bytes.
"""

from schemas.wire.realtime.client import MAX_MESSAGE, ClientEvent, parse_client_event
from schemas.wire.realtime.server import ServerEvent

__all__ = ["MAX_MESSAGE", "ClientEvent", "ServerEvent", "parse_client_event"]
