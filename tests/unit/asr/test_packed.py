"""Compressed weights: services/asr/packed.py, and checkpoints that have them or lie open."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from schemas.errors import RecognizerUnavailable
from services.asr.load import decoders
from services.asr.packed import PACKED, unpacked
from services.audio.files import read_file
from tests.unit.asr._checkpoint import small_without

RECORDED: Final = Path(__file__).parents[2] / "data" / "asr"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small English checkpoint."""
    return small_without("nothing", tmp_path)


def test_weights_come_as_files_in_memory(folder: Path) -> None:
    files = unpacked(folder / "en")
    assert files is not None
    assert set(files) == {"model.bin", "config.json", "vocabulary.json"}
    assert files["model.bin"] == lzma.decompress((folder / "en" / PACKED).read_bytes())


def test_a_checkpoint_that_lies_open_hears_the_same(folder: Path) -> None:
    packed = decoders(str(folder))["en"]
    (folder / "en" / "model.bin").write_bytes(lzma.decompress((folder / "en" / PACKED).read_bytes()))
    (folder / "en" / PACKED).unlink()
    assert unpacked(folder / "en") is None
    sound = read_file(min(RECORDED.glob("rhvoice_bdl-*")).read_bytes())
    assert decoders(str(folder))["en"].decode(sound, final=True) == packed.decode(sound, final=True)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda whole: b"",
        lambda whole: whole[: len(whole) // 2],
        lambda whole: whole[:1000] + bytes(1000) + whole[2000:],
        lambda whole: lzma.compress(b"no model"),
    ],
    ids=["empty", "cut", "flipped", "another"],
)
def test_weights_that_are_torn_are_said_at_start(spoil: Callable[[bytes], bytes], folder: Path) -> None:
    path = folder / "en" / PACKED
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(RecognizerUnavailable):
        decoders(str(folder))
