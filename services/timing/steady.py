"""Whether the wall clock went on as time does. What can't be undone waits until a jump of it is believed."""

import logging
from datetime import datetime
from typing import Final, NamedTuple, Protocol

log = logging.getLogger(__name__)

TOLERATED_S: Final = 60.0
"""That a clock may be put right by without a word; within seconds, since it is asked every few."""
BELIEVED_S: Final = 3600.0
"""After so long a clock that jumped is taken for right: time for whoever looks after it to put it right."""


class _Clock(Protocol):
    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...


class _Jump(NamedTuple):
    """Since when it has been seen, and where the clock has stood since."""

    since: float
    stands: float


class Steadiness:
    """Compares the wall clock with the monotonic one. `now` is what another clock said when this began."""

    def __init__(self, clock: _Clock, now: datetime | None = None) -> None:
        self._clock = clock
        self._anchor = (now or clock.now()).timestamp() - clock.monotonic()
        self._jump: _Jump | None = None

    def doubted(self) -> bool:
        """Whether the wall clock jumped less than an hour ago, and was not put right."""
        at = self._clock.monotonic()
        stands = self._clock.now().timestamp() - at
        if abs(stands - self._anchor) <= TOLERATED_S:
            if self._jump is not None:
                log.warning("the clock is right again")
            self._anchor, self._jump = stands, None
            return False
        if self._jump is None or abs(stands - self._jump.stands) > TOLERATED_S:
            self._jump = _Jump(at, stands)
            log.error(
                "the clock jumped by %+.0f min: payments of a later day, and what is to be forgotten, wait for %.0f"
                " min, or until it is put right", (stands - self._anchor) / 60, BELIEVED_S / 60,
            )  # fmt: skip
        if at - self._jump.since < BELIEVED_S:
            return True
        log.warning("the clock is believed now")
        self._anchor, self._jump = stands, None
        return False
