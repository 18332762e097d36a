"""Start-up and the end: compose, listen, drain."""

import asyncio
import gc
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from typing import Final

from fastapi import APIRouter

from app.bootstrap import Gateway, gateway
from app.composition.ears import Given
from app.composition.speech import Voice
from app.logs import configure
from app.main import create_app
from app.server import DrainingServer, make_server
from app.settings import Settings, read_settings
from app.transports.telephone import audiosocket_server
from rules.bank import DemoCustomer
from schemas.errors import ConfigInvalid
from services.guard.redact import redactor
from services.ports import Synthesizer
from services.speech.engine import SpeechEngine

SWITCH_S: Final = 0.001
"""How long a thread that understands a text may keep the event loop waiting; of Python's 5 ms every call felt some."""


async def serve(
    recognizer: Given | None = None,
    customers: tuple[DemoCustomer, ...] | None = None,
    further: Iterable[Callable[[Gateway], APIRouter]] = (),
    synthesizer: Synthesizer | None = None,
    engine: SpeechEngine | None = None,
    settings: Settings | None = None,
    stop: asyncio.Event | None = None,
    served: Callable[[], object] = lambda: None,
) -> None:
    """Serve until told to stop, with the settings, recogniser, voice and demo bank of the environment unless given.

    `further` are routes beside the gateway's own; `stop` is set where no signal reaches the process's main thread.
    `served` is called once no call is left and all is about to be taken down.
    """
    settings = settings or read_settings()
    free("TELLERLINE_HOST, TELLERLINE_PORT", settings.host, settings.port)
    if settings.audiosocket:
        free("TELLERLINE_AUDIOSOCKET", *audiosocket_server.place(settings.audiosocket))
    sys.setswitchinterval(SWITCH_S)
    configure(settings.log_level, redactor())
    async with AsyncExitStack() as stack:
        with kept_for_good():
            parts = gateway(settings, recognizer=recognizer, customers=customers, engine=engine)
            composed = await stack.enter_async_context(parts)
            if synthesizer is not None:
                composed = replace(composed, voice=Voice(synthesizer, None, "one that was given"))
            server = make_server(create_app(composed, further), settings, composed.admission)
        if stop is not None:
            told = asyncio.create_task(_told(stop, server))
            stack.callback(told.cancel)
        await server.serve()
        served()


async def _told(stop: asyncio.Event, server: DrainingServer) -> None:
    await stop.wait()
    server.should_exit = True


def free(name: str, host: str, port: int) -> None:
    """Before anything is warmed up: that we may listen there. Raises ConfigInvalid, which says whose place it is."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            with socket.socket(family, kind, protocol) as tried:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                tried.bind(address)
    except OSError as error:
        raise ConfigInvalid(f"{name}: {host}:{port} can't be listened on: {error.strerror}") from error


@contextmanager
def kept_for_good() -> Iterator[None]:
    """What is made inside stays: no collection walks it as it grows, which would only make the start longer.

    Nor does one later: some 300,000 objects, 0.2 s during which every call would stand still.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
        gc.collect()  # full ones wait for a quarter of what the last one left: that is little now
    finally:
        gc.enable()
