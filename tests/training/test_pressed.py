"""Spoken shards made small and opened again: recogniser/voices/pressed.py."""

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from recogniser.voices import pressed, shards

SOUNDS: Final = (np.arange(2_000, dtype=np.int16), np.arange(-500, 3_000, dtype=np.int16), np.full(1_700, 7, np.int16))
ROWS: Final = [(sound, f"number {n}", f"voice{n}|amount") for n, sound in enumerate(SOUNDS)]


@pytest.fixture
def carried(tmp_path: Path) -> tuple[Path, Path]:
    """A shard, and the folder where it is pressed."""
    shards.write(tmp_path / "001-00000.npz", ROWS, "en")
    (tmp_path / "pressed").mkdir()
    (tmp_path / "opened").mkdir()
    return tmp_path / "001-00000.npz", tmp_path / "pressed"


def opened(carried: tuple[Path, Path], decode: Any) -> dict[str, np.ndarray]:
    """The shard after its journey, coded without loss and decoded by `decode`."""
    shard, folder = carried
    assert pressed.press(shard, folder, lambda sound: bytes(sound.tobytes())) == len(ROWS)
    assert pressed.reopen(folder / shard.name, shard.parent / "opened", decode) == len(ROWS)
    with np.load(shard.parent / "opened" / shard.name) as again:
        return dict(again)


def exact(coded: bytes) -> np.ndarray:
    return np.frombuffer(coded, np.int16)


def test_every_utterance_comes_back_with_what_is_said_in_it(carried: tuple[Path, Path]) -> None:
    again = opened(carried, exact)
    with np.load(carried[0]) as shard:
        assert again.keys() == set(shard.files)
        for name in shard.files:
            np.testing.assert_array_equal(again[name], shard[name])


@pytest.mark.parametrize("change", [-40, 0, 312])
def test_a_codec_that_ends_elsewhere_moves_nothing(carried: tuple[Path, Path], change: int) -> None:
    again = opened(carried, lambda coded: np.resize(exact(coded), len(exact(coded)) + change))
    assert again["length"].tolist() == [len(sound) for sound in SOUNDS]
    starts = np.cumsum(again["length"]) - again["length"]
    for start, sound in zip(starts, SOUNDS, strict=True):
        kept = min(len(sound), len(sound) + change)
        np.testing.assert_array_equal(again["audio"][start : start + kept], sound[:kept])


def test_what_stands_in_for_lost_samples_is_silence() -> None:
    np.testing.assert_array_equal(pressed.fitted(np.array([5, 6], np.int16), 4), [5, 6, 0, 0])
