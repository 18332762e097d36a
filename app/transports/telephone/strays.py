"""Messages of a telephone that can't be read: the call goes on without them, unless nothing else comes."""

import logging
from collections.abc import Sequence

from app.transports.live.line import MAX_REFUSED
from app.transports.telephone.line import LineEvent, Stray
from services.observability import Metrics

log = logging.getLogger(__name__)


class Strays:
    """One call's."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._row = 0
        self._told = False

    def without(self, events: Sequence[LineEvent]) -> list[LineEvent]:
        """What could be read. Raises BadInput past MAX_REFUSED in a row that could not."""
        for event in events:
            if isinstance(event, Stray):
                self._refuse(event)
        read: list[LineEvent] = [event for event in events if not isinstance(event, Stray)]
        if read or not events:
            self._row = 0
        return read

    def _refuse(self, stray: Stray) -> None:
        self._row += 1
        if stray.error.fatal or self._row > MAX_REFUSED:
            raise stray.error
        self._metrics.error(stray.error.code)
        if not self._told:
            log.warning("a telephone's message was passed over: %s", stray.error.message)
        self._told = True
