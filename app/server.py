"""The process: uvicorn that drains. On SIGTERM newcomers are refused and admitted calls may finish."""

import asyncio
import contextlib
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.settings import Settings
from services.guard.admission import Admission

WS_MAX_BYTES = 64 * 1024
"""A WebSocket message may be no larger: two seconds of PCM16 at 16 kHz."""


class DrainingServer(uvicorn.Server):
    """Stock uvicorn closes every WebSocket at once; this one waits for admitted calls up to a deadline."""

    def __init__(self, config: uvicorn.Config, admission: Admission, drain_seconds: float) -> None:
        super().__init__(config)
        self._admission = admission
        self._drain_seconds = drain_seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse newcomers, wait for those inside, then stop."""
        self._admission.drain()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._admission.empty.wait(), self._drain_seconds)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A second signal while draining ends the wait."""
        if self.should_exit:
            self._admission.empty.set()
        super().handle_exit(sig, frame)


def make_server(app: FastAPI, settings: Settings, admission: Admission) -> DrainingServer:
    """A server for `app`, not yet started."""
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        ws="websockets-sansio",
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=20.0,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
    )
    return DrainingServer(config, admission, settings.drain_seconds)
