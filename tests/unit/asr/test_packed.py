"""Compressed weights: services/asr/packed.py, and checkpoints that have them or lie open."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from schemas.errors import RecognizerUnavailable
from services.asr.load import MODEL_FOLDER, decoders
from services.asr.packed import PACKED, unpacked
from services.audio.files import read_file
from tests.unit.asr._checkpoint import bundled_without

ENGLISH: Final = MODEL_FOLDER / "en"
RECORDED: Final = Path(__file__).parents[2] / "data" / "asr"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bundled English checkpoint, but its weights."""
    return bundled_without(PACKED, tmp_path)


def test_weights_come_as_files_in_memory() -> None:
    files = unpacked(ENGLISH)
    assert files is not None
    assert set(files) == {"model.bin", "config.json", "vocabulary.json"}
    assert files["model.bin"] == lzma.decompress((ENGLISH / PACKED).read_bytes())


def test_a_checkpoint_that_lies_open_hears_the_same(folder: Path) -> None:
    (folder / "en" / "model.bin").write_bytes(lzma.decompress((ENGLISH / PACKED).read_bytes()))
    assert unpacked(folder / "en") is None
    sound = read_file(min(RECORDED.glob("rhvoice_bdl-*")).read_bytes())
    opened, packed = decoders(str(folder))["en"], decoders(str(MODEL_FOLDER))["en"]
    heard = opened.decode(sound, final=True)
    assert heard.hypotheses[0].text
    assert heard == packed.decode(sound, final=True)


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
    (folder / "en" / PACKED).write_bytes(spoil((ENGLISH / PACKED).read_bytes()))
    with pytest.raises(RecognizerUnavailable):
        decoders(str(folder))
