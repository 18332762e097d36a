"""A turn is put on record in bounded time, however far it came."""

import logging

from schemas.errors import TellerlineError
from services.record import TurnRecorder, TurnTrace
from services.timing import finish, within

log = logging.getLogger(__name__)


async def put_on_record(recorder: TurnRecorder, trace: TurnTrace, seconds: float) -> None:
    """That a turn can't be put on record changes nothing of what was done and said, nor of why it ended."""
    try:
        with within(seconds):
            await finish(recorder.turn(trace))
    except TellerlineError as error:
        recorder.error(error)
        log.error("a turn is not on record: %s", error.code)  # noqa: TRY400 - its cause is known
