"""Our own voice in the caller's microphone is taken out, and the caller's stays: synthetic voices in a simple room."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from deploy.bench._calls.room import BEGAN, echo, heard, loudness, mixed
from schemas.audio import SAMPLE_RATE, Samples
from services.audio.echo import Echo
from services.audio.files import read_file
from services.audio.frames import VAD_FRAME
from services.audio.vad import VadState
from tests.harness.gateway import hiss, vad

RECORDINGS = sorted((Path(__file__).parents[3] / "deploy/bench/corpus/latency").glob("*.opus"))
CALLERS = [path for path in RECORDINGS if path.name.startswith(("rhvoice", "pico"))]
OURS = [path for path in RECORDINGS if path not in CALLERS]
LEVEL_DB = -22.0
PAUSE = np.zeros(SAMPLE_RATE // 5, dtype=np.float32)


def said(paths: Sequence[Path], seed: int, count: int) -> Samples:
    draw = np.random.default_rng(seed)
    chosen = [loudness(recording(paths[at]), LEVEL_DB) for at in draw.choice(len(paths), count)]
    return np.concatenate([part for one in chosen for part in (one, PAUSE)])


@lru_cache(maxsize=64)
def recording(path: Path) -> Samples:
    return read_file(path.read_bytes())


def speech(samples: Samples) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array(vad().probabilities(VadState(), samples)) > 0.5


@pytest.mark.parametrize("db", [-6.0, -12.0, -20.0])
def test_our_own_voice_is_taken_out(db: float) -> None:
    there = left = 0
    for seed, late_s in enumerate((0.06, 0.2, 0.5)):
        ours = said(OURS, seed, 3)
        microphone = mixed(echo(ours, late_s, db, seed))
        there += int(speech(microphone).sum())
        left += int(speech(heard(ours, microphone)).sum())
    assert there > 250
    assert left < 0.25 * there


@pytest.mark.parametrize("db", [-6.0, -12.0, -20.0])
def test_a_caller_over_our_echo_is_heard(db: float) -> None:
    there = kept = 0
    for seed, late_s in enumerate((0.06, 0.2, 0.5)):
        ours, caller = said(OURS, seed, 3), np.concatenate((np.zeros(35_200, np.float32), said(CALLERS, seed, 1)))
        microphone = mixed(caller, echo(ours, late_s, db, seed))
        wanted = speech(mixed(caller, 0 * microphone))
        found = speech(heard(ours, microphone))
        there += int(wanted.sum())
        kept += int(found[wanted].sum())
    assert there > 60
    assert kept > 0.7 * there


def test_a_caller_on_a_line_without_echo_loses_nothing() -> None:
    for seed in range(3):
        ours, caller = said(OURS, seed, 3), np.concatenate((np.zeros(16_000, np.float32), said(CALLERS, seed, 2)))
        microphone = mixed(caller)
        assert np.array_equal(heard(ours, microphone), microphone)


def test_while_nothing_is_said_by_us_all_goes_through_at_once() -> None:
    gate, microphone = Echo(), mixed(said(CALLERS, 1, 1))
    for start in range(0, microphone.size, VAD_FRAME):
        frame = microphone[start : start + VAD_FRAME]
        assert np.array_equal(gate.without(frame, BEGAN + start / SAMPLE_RATE), frame)


def test_what_is_held_is_bounded_and_can_be_had() -> None:
    ours = said(OURS, 3, 2)
    gate, microphone = Echo(), mixed(echo(ours, 0.1, -6.0, 3))
    gate.sent(ours, BEGAN)
    starts = range(0, 12_800, VAD_FRAME)
    out = [gate.without(microphone[at : at + VAD_FRAME], BEGAN + (at + VAD_FRAME) / SAMPLE_RATE) for at in starts]
    held = gate.release()
    assert 0 < held.size <= SAMPLE_RATE * 1.1
    assert np.array_equal(np.concatenate((*out, held)), microphone[:12_800])


def test_hours_of_speech_are_not_remembered() -> None:
    gate = Echo()
    for second in range(120):
        gate.sent(hiss(1.0, 0.1), BEGAN + second)
    assert len(gate._sent) <= 512
