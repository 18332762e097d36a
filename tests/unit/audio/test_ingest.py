"""Bytes of a stream in pieces of any size: what is heard does not depend on where they were cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.audio import AudioFormat, Encoding
from schemas.errors import MalformedAudio
from services.audio.frames import VAD_FRAME
from services.audio.ingest import Ingest

SOUND = np.random.default_rng(3).integers(0, 256, 6 * VAD_FRAME, dtype=np.uint8).tobytes()


@given(st.lists(st.integers(0, len(SOUND)), max_size=9), st.sampled_from([Encoding.PCM16, Encoding.MULAW]))
def test_sound_is_the_same_wherever_it_is_cut(cuts: list[int], encoding: Encoding) -> None:
    form = AudioFormat(encoding, 16_000 if encoding is Encoding.PCM16 else 8_000)
    places = [0, *sorted(cuts), len(SOUND)]
    ingest = Ingest(form)
    pieces = [ingest.push(SOUND[a:b], None) for a, b in itertools.pairwise(places)]
    assert np.allclose(np.concatenate(pieces), Ingest(form).push(SOUND, None), atol=1e-6)


def test_what_was_dropped_leaves_no_half_sample_behind() -> None:
    ingest, whole = Ingest(AudioFormat()), Ingest(AudioFormat()).push(SOUND, None)
    ingest.push(b"\x7f", None)
    ingest.cleared()
    assert np.array_equal(ingest.push(SOUND, None), whole)


def test_a_numbered_frame_has_whole_samples() -> None:
    with pytest.raises(MalformedAudio):
        Ingest(AudioFormat()).push(b"\x00" * 321, 1)
