"""TLS that ends here, behind the door: who dawdles with a handshake stands among the strangers, and makes room."""

import asyncio
from asyncio.sslproto import SSLProtocol
from pathlib import Path
from ssl import SSLContext
from typing import Any, Final, cast

import uvicorn
import uvloop
from uvicorn.config import create_ssl_context

from app.gate.certificate import Renewal
from app.gate.doorman import HEAD_S, ConnectionGate

HANDSHAKE_S: Final = 0.0005
"""Processor time of a TLS handshake, charged to all newcomers together: at most four hundred a second for long."""

uvloop_ssl: Final[Any] = vars(uvloop.loop)["SSLProtocol"]
"""uvloop's own, of which its types do not tell; asyncio's is for every other loop."""


class SecuredConfig(uvicorn.Config):
    """uvicorn's, which would have the event loop do TLS before the door hears of a connection, a minute long each."""

    tls: SSLContext | None = None
    _renewal: asyncio.Task[None] | None = None

    def load(self) -> None:
        """Keep the certificate for the door, and have it renewed as long as the loop runs."""
        super().load()
        self.tls, self.ssl = self.ssl, None
        if self.tls is not None and self.ssl_certfile and self.ssl_keyfile:
            renewal = Renewal(Path(self.ssl_certfile), Path(self.ssl_keyfile), self._loaded, self._take)
            self._renewal = asyncio.get_running_loop().create_task(renewal.run())

    def _loaded(self) -> SSLContext:
        assert self.ssl_certfile
        kind, asked = self.ssl_version, self.ssl_cert_reqs
        return create_ssl_context(
            self.ssl_certfile, self.ssl_keyfile, None, kind, asked, self.ssl_ca_certs, self.ssl_ciphers
        )

    def _take(self, renewed: SSLContext) -> None:
        self.tls = renewed


class SecuredGate(ConnectionGate):
    """One connection whose TLS handshake, its head and all that follows have the bounds of a plain one."""

    _plain: asyncio.Transport | None = None
    _shaking = _open = False

    def __init__(self, config: SecuredConfig, *given: Any, **named: Any) -> None:
        super().__init__(config, *given, **named)
        assert config.tls is not None, "loaded, and with a certificate"
        self._tls = config.tls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let it in, or not; and once more, when its handshake is over."""
        if self._plain is None:
            super().connection_made(transport)
        else:
            self._transport, self._open = cast("asyncio.Transport", transport), True
            super().begin(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone; what is behind the door has not heard of one that was never secured."""
        self._served = self._served and self._open
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Keep what comes before the handshake's turn: the loop began to read before it could be told not to."""
        if self._open:
            super().data_received(data)
        else:
            self._pending += data

    def begin(self, transport: asyncio.Transport) -> None:
        """Shake hands, in turn."""
        self._plain = transport
        if self._lobby.newcomers.in_debt:
            self._loop.call_soon(transport.pause_reading)
            self._lobby.newcomers.queue(self)
        else:
            self.feed()

    def refuse(self, transport: asyncio.Transport) -> None:
        """There is nothing that could be said in the clear."""
        transport.abort()

    def feed(self) -> None:
        """Begin the handshake, or parse a piece."""
        if self._open:
            super().feed()
        elif self._plain is not None and not self._shaking and not self._over:
            self._shaking = True
            self._lobby.newcomers.charge(HANDSHAKE_S)
            self._shake(self._plain)

    def _shake(self, plain: asyncio.Transport) -> None:
        shaken = self._loop.create_future()
        shaken.add_done_callback(self._shaken)
        kind: Any = uvloop_ssl if isinstance(self._loop, uvloop.Loop) else SSLProtocol
        securing = kind(self._loop, self, self._tls, shaken, server_side=True, ssl_handshake_timeout=HEAD_S)
        plain.set_protocol(securing)
        securing.connection_made(plain)
        early = bytes(self._pending)
        self._pending.clear()
        if early:
            securing.get_buffer(len(early))[: len(early)] = early
            securing.buffer_updated(len(early))
        plain.resume_reading()

    def _shaken(self, shaken: asyncio.Future[None]) -> None:
        """A handshake that came to nothing is told here alone."""
        failed = shaken.cancelled() or shaken.exception() is not None
        if (failed or not self._open) and not self._over:
            self.connection_lost(None)
