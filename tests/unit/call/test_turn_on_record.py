"""A turn that can't be put on record is counted, and holds nobody up."""

import pytest

from schemas.audit import AuditRecord
from schemas.errors import StoreUnavailable
from schemas.ids import CallId, CustomerId
from schemas.turn import ReplyId
from services.call.on_record import put_on_record
from services.observability import Metrics, Stamps
from services.record import TurnRecorder, TurnTrace
from services.timing import SystemClock, left

MOST_S = 60.0


class DeadLog:
    """An audit log whose database is gone; notes how long it was given."""

    def __init__(self) -> None:
        self.given_s: list[float] = []

    async def append(self, customer: CustomerId, record: AuditRecord) -> None:
        self.given_s.append(left(MOST_S))
        raise StoreUnavailable("gone")


async def test_a_record_has_its_time_and_its_failure_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    audit, metrics, clock = DeadLog(), Metrics(), SystemClock()
    recorder = TurnRecorder(audit, metrics, clock, CustomerId("c"), CallId("call"))
    await put_on_record(recorder, TurnTrace(ReplyId("r"), Stamps(clock.monotonic)), 0.5)
    assert 0 < audit.given_s[0] <= 0.5
    assert "a turn is not on record: store_unavailable" in caplog.text
    assert b'tellerline_errors_total{code="store_unavailable"} 1.0' in metrics.exposition()
