"""The first audible sample of a reply, from pieces as they come."""

import base64

import numpy as np
import pytest

from app.client import SOUND, Event
from deploy.bench._calls.first_sound import FirstSound

QUIET, LOUD = 0.001, 0.2


def piece(*parts: tuple[float, float], realtime: bool = False) -> Event:
    """Parts of so many seconds, so loud."""
    rate = 24_000 if realtime else 16_000
    samples = np.concatenate([np.full(round(seconds * rate), level) for seconds, level in parts])
    data = (samples * 32_767).astype("<i2").tobytes()
    if realtime:
        return {"type": "response.output_audio.delta", "delta": base64.b64encode(data).decode()}
    return {"type": SOUND, "data": data}


@pytest.mark.parametrize("realtime", [False, True])
@pytest.mark.parametrize(
    ("pieces", "at"),
    [
        ([(10.0, [(0.1, LOUD)])], 10.0),
        ([(10.0, [(0.08, QUIET), (0.1, LOUD)])], 10.08),
        ([(10.0, [(0.2, QUIET)]), (10.01, [(0.05, QUIET), (0.1, LOUD)])], 10.25),
        ([(10.0, [(0.2, QUIET)]), (11.0, [(0.05, QUIET), (0.1, LOUD)])], 11.05),
        ([(10.0, [(0.2, LOUD)]), (11.0, [(0.1, LOUD)])], 10.0),
        ([(10.0, [(0.2, QUIET)])], None),
    ],
    ids=["at once", "behind quiet", "in the second piece", "in a late piece", "once", "never"],
)
def test_it_is_heard_where_playing_comes_to_it(
    pieces: list[tuple[float, list[tuple[float, float]]]], at: float | None, realtime: bool
) -> None:
    sound = FirstSound()
    sound.take({"type": "response.created"}, 9.0)
    for came, parts in pieces:
        sound.take(piece(*parts, realtime=realtime), came)
    assert sound.at == (at if at is None else pytest.approx(at, abs=1e-4))
