"""Calls that are recorded: a real gateway's callers, whose words are given and whose turns are kept."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from app.bootstrap import Gateway
from app.composition.keys import audit_keys
from app.recordings.live import Recordings
from schemas.audio import SAMPLE_RATE
from schemas.errors import TellerlineError
from schemas.ids import EN_US, CallId, CustomerId, Locale
from schemas.transcript import Decode
from schemas.turn import ReplyId
from services.timing.clock import ManualClock
from tests.fakes.recognizer import FakeRecognizer


async def recorded_call(
    gateway: Gateway,
    said: Sequence[str],
    call: str = "call",
    customer: str = "alex-morgan",
    locale: Locale = EN_US,
    withdrawn: Sequence[int] = (),
) -> Path:
    """The folder of a call in which the customer says all of `said`, and hears every reply to its end.

    They went on right after those `withdrawn`, counted from 0.
    """
    words = list(said)
    clock = ManualClock(gateway.clock.now())
    recordings = Recordings(gateway.settings.recordings, clock, audit_keys(gateway.settings))
    recognizer = recordings.recognizer(FakeRecognizer(lambda _seconds: words[0]))
    handler = await recordings.opener(gateway.callers.open)(CustomerId(customer), CallId(call), locale)
    await recordings.consent(CallId(call), True)
    for number in range(len(said)):
        clock.advance(3)
        samples = np.full(SAMPLE_RATE // 10, 0.1, dtype=np.float32)
        transcript = handler.interpret(
            await recognizer.transcribe(samples, locale, Decode.FINAL, wordings=handler.wordings)
        ).transcript
        words.pop(0)
        reply = ReplyId(f"r{number}")
        try:
            async for _ in handler.take(transcript, reply):
                pass
            if number in withdrawn:
                assert await handler.withdraw(reply)
            else:
                await handler.delivered(reply)
        except TellerlineError:
            pass
    await handler.close()
    return gateway.settings.recordings / call
