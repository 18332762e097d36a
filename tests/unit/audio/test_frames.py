"""Numbered frames in any order, some lost or doubled; any chunks into frames of the VAD; the buffer that keeps them."""

import itertools
from collections.abc import Iterable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from schemas.audio import SAMPLE_RATE, Samples
from services.audio.buffer import BUFFER_SECONDS, AudioBuffer
from services.audio.frames import MAX_GAP_FRAMES, REORDER_FRAMES, VAD_FRAME, Cutter, Reorder


def frame(number: int) -> Samples:
    """Four samples that say which frame they are; silence is 0."""
    return np.full(4, number + 1, dtype=np.float32)


def heard(reorder: Reorder, numbers: Iterable[int]) -> list[int]:
    """Which frames came out, in order; -1 for silence."""
    return [int(out[0]) - 1 for number in numbers for out in reorder.push(number, frame(number))]


@given(st.permutations(range(REORDER_FRAMES)))
def test_frames_come_out_in_order(shuffled: list[int]) -> None:
    reorder = Reorder()
    assert heard(reorder, [0, *(1 + number for number in shuffled)]) == list(range(REORDER_FRAMES + 1))
    assert (reorder.lost, reorder.late) == (0, 0)


def test_a_lost_frame_becomes_as_much_silence_once_too_many_wait_for_it() -> None:
    reorder = Reorder()
    assert heard(reorder, [0, *range(2, 2 + REORDER_FRAMES)]) == [0]
    assert heard(reorder, [2 + REORDER_FRAMES]) == [-1, *range(2, 3 + REORDER_FRAMES)]
    assert reorder.lost == 1


def test_double_and_late_frames_are_dropped() -> None:
    reorder = Reorder()
    assert heard(reorder, [0, 1, 1, 0, 3, 3, 2, 2, 4]) == [0, 1, 2, 3, 4]
    assert reorder.late == 4


def test_a_jump_in_the_numbers_is_a_new_count() -> None:
    reorder = Reorder()
    far = 100 + MAX_GAP_FRAMES
    assert heard(reorder, [0, 1, far, far + 1, 0, 1]) == [0, 1, far, far + 1, 0, 1]
    assert reorder.lost == 0


@given(st.lists(st.integers(0, 3 * VAD_FRAME), max_size=12))
def test_chunks_of_any_size_are_cut_into_frames_and_nothing_is_lost(sizes: list[int]) -> None:
    cutter, stream = Cutter(), np.arange(sum(sizes), dtype=np.float32)
    ends = np.cumsum([0, *sizes])
    out = [cutter.push(stream[a:b]) for a, b in itertools.pairwise(ends)]
    assert all(piece.size % VAD_FRAME == 0 for piece in out)
    whole = np.concatenate([np.zeros(0, dtype=np.float32), *out])
    assert np.array_equal(whole, stream[: whole.size])
    assert cutter.pending == stream.size - whole.size < VAD_FRAME


def test_the_tape_keeps_the_last_half_minute_by_absolute_sample() -> None:
    buffer, frames = AudioBuffer(), 2 * BUFFER_SECONDS * SAMPLE_RATE // VAD_FRAME
    for number in range(frames):
        buffer.push(np.full(VAD_FRAME, number, dtype=np.float32))
    kept = buffer.cut(0, buffer.end)
    assert (BUFFER_SECONDS - 1) * SAMPLE_RATE < kept.size <= BUFFER_SECONDS * SAMPLE_RATE
    assert kept[-1] == frames - 1
    inside = buffer.cut(buffer.end - 2 * VAD_FRAME - 3, buffer.end - VAD_FRAME)
    assert inside.tolist() == [frames - 3] * 3 + [frames - 2] * VAD_FRAME
    buffer.forget(buffer.end - VAD_FRAME)
    assert buffer.cut(0, buffer.end).tolist() == [frames - 1] * VAD_FRAME
