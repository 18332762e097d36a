"""A call that was begun is closed, also where its handshake is never answered."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from app.transports.live.lease import Admitted
from app.transports.live.line import _Line
from schemas.ids import CustomerId
from services.timing import SystemClock
from tests.fakes.turn_handler import FakeTurnHandler


@pytest.mark.parametrize("accepted", [asyncio.CancelledError, OSError, ValueError])
async def test_a_call_whose_handshake_is_not_answered_is_closed(accepted: type[BaseException]) -> None:
    async def accept(_: str | None) -> None:
        raise accepted

    deps: Any = SimpleNamespace(clock=SystemClock(), verify=None, admission=None)
    socket: Any = SimpleNamespace(accept=accept)
    opens: Any = lambda _: SimpleNamespace(config=None)  # noqa: E731 - one dialect
    line = _Line(socket, deps, Admitted(CustomerId("ann")), opens)
    handler = FakeTurnHandler()
    ended = (await asyncio.gather(line.serve(handler, None), return_exceptions=True))[0]
    assert handler.closed
    assert type(ended) is (type(None) if accepted is OSError else accepted)
