"""The process: uvicorn that drains. On SIGTERM or SIGHUP newcomers are refused and admitted calls may finish."""

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.gate.doorman import ConnectionGate
from app.gate.secured import SecuredConfig, SecuredGate
from app.gate.websocket import BoundedWebSocket
from app.settings import Settings
from services.guard.admission import Admission

WS_MAX_BYTES = 64 * 1024
"""A WebSocket message may be no larger: two seconds of PCM16 at 16 kHz."""

PING_EVERY_S = 5.0
PONG_WITHIN_S = 10.0
"""A client whose network changed leaves a line behind that counts among its calls until it is known to be dead."""

GOODBYE_S = 3.0
"""What calls that are cut off may take to say so."""


class DrainingServer(uvicorn.Server):
    """Stock uvicorn closes every WebSocket at once; this one waits for admitted calls up to a deadline."""

    def __init__(self, config: uvicorn.Config, admission: Admission, drain_seconds: float) -> None:
        super().__init__(config)
        self._admission = admission
        self._drain_seconds = drain_seconds
        self._hurried = asyncio.Event()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse newcomers, wait for those inside, then stop."""
        self._admission.drain(self._drain_seconds)
        waiting = asyncio.create_task(self._admission.empty.wait())
        hurried = asyncio.create_task(self._hurried.wait())
        await asyncio.wait({waiting, hurried}, timeout=self._drain_seconds, return_when=asyncio.FIRST_COMPLETED)
        self._admission.close()
        await asyncio.wait({waiting}, timeout=GOODBYE_S)
        for task in (waiting, hurried):
            task.cancel()
        await super().shutdown(sockets)

    def _log_started_message(self, listeners: Sequence[socket.SocketType]) -> None:
        """Uvicorn has been kept from TLS, but not from telling where it listens."""
        if isinstance(self.config, SecuredConfig):
            self.config.ssl = self.config.tls
        super()._log_started_message(listeners)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Also of a terminal that goes away, or of who asks for a reload: every call ended at once."""
        ours = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGHUP)
        with super().capture_signals():
            if ours and before is not signal.SIG_IGN:  # nohup
                signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                if ours:
                    signal.signal(signal.SIGHUP, before)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """End in good order, with status 0: uvicorn would die of the signal. A second one ends the wait."""
        if self.should_exit:
            self._hurried.set()
        self.should_exit = True


def make_server(app: FastAPI, settings: Settings, admission: Admission) -> DrainingServer:
    """A server for `app`, not yet started."""
    secured = settings.tls_certificate is not None
    config = (SecuredConfig if secured else uvicorn.Config)(
        app,
        host=settings.host,
        port=settings.port,
        loop="uvloop",
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        http=SecuredGate if secured else ConnectionGate,
        ws=BoundedWebSocket,
        ws_max_size=WS_MAX_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=PING_EVERY_S,
        ws_ping_timeout=PONG_WITHIN_S,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
    )
    return DrainingServer(config, admission, settings.drain_seconds)
