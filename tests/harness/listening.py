"""An application behind our HTTP and WebSocket stack, on a real socket."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from starlette.applications import Starlette

from app.gate.doorman import ConnectionGate
from app.gate.secured import SecuredConfig, SecuredGate
from app.gate.websocket import BoundedWebSocket
from app.server import WS_MAX_BYTES


@asynccontextmanager
async def listening(app: Starlette, **settings: Any) -> AsyncIterator[int]:
    """Serve `app`; yields the port. `settings` are uvicorn's; with a certificate it speaks TLS."""
    secured = "ssl_certfile" in settings
    config = (SecuredConfig if secured else uvicorn.Config)(
        app,
        http=SecuredGate if secured else ConnectionGate,
        ws=BoundedWebSocket,
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
        **settings,
    )
    server = uvicorn.Server(config)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(256)  # a client that comes before the server has started waits here
        serving = asyncio.create_task(server.serve([bound]))
        try:
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            await serving
