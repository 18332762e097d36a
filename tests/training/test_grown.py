"""Weights and vocabulary of the recogniser grown from Whisper's: recogniser/export/binary.py, vocabulary.py."""

import zlib
from pathlib import Path
from typing import Any, Final

import ctranslate2
import numpy as np
import pytest

from recogniser.export import binary
from recogniser.train import vocabulary
from tests.unit.asr._checkpoint import checkpoint

STEPS: Final = {"embedding": 0.35, "linear": 0.2}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("stock") / "base.en", multilingual=False) / "model.bin"


def test_a_model_is_written_as_it_was_read(model: Path) -> None:
    whole = model.read_bytes()
    assert binary.written(binary.read(whole)) == whole


def test_another_version_is_refused(model: Path) -> None:
    with pytest.raises(ValueError, match="version 6"):
        binary.read(b"\x05" + model.read_bytes()[1:])


def test_ctranslate2_takes_what_lies_on_steps(model: Path) -> None:
    read = binary.load(model.parent)
    aliases = {name: of for name, of in read.aliases.items() if not name.endswith("_scale")}
    coarse = binary.quantized(read.floats(), aliases, STEPS)
    beside = {name: (model.parent / name).read_bytes() for name in ("config.json", "vocabulary.json")}
    loaded = ctranslate2.models.Whisper(
        "coarse", device="cpu", compute_type="int8", files={"model.bin": binary.written(coarse), **beside}
    )
    features = np.random.default_rng(2).normal(size=(1, 80, 300)).astype(np.float32)
    encoded = np.array(loaded.encode(ctranslate2.StorageView.from_array(features)))
    assert encoded.shape[1] == 150
    assert np.isfinite(encoded).all()


def test_weights_are_off_by_half_a_step_at_most() -> None:
    rows = np.random.default_rng(1).normal(size=(20, 300)).astype(np.float32)
    rows[3] = 0
    whole, scale = binary.whole(rows, 0.2)
    assert whole.dtype == np.int8
    assert np.abs(whole / scale[:, None] - rows).max() <= 0.1 * rows.std(axis=1).max() + 1e-6
    assert not whole[3].any()


def test_a_row_with_one_great_weight_keeps_it() -> None:
    rows = np.full((1, 1000), 0.01, np.float32)
    rows[0, 0] = 5.0
    whole, scale = binary.whole(rows, 0.01)
    assert whole[0, 0] / scale[0] == pytest.approx(5.0, rel=0.01)


def test_coding_is_for_few_levels_and_loses_nothing() -> None:
    levels = np.random.default_rng(1).normal(scale=3, size=50_000).round().astype(np.int8).tobytes()
    coded = binary.coded(levels)
    assert zlib.decompress(coded) == levels
    assert len(coded) < 0.5 * len(levels)


@pytest.mark.parametrize(
    ("raw", "stays"),
    [
        (b" the", True), (b"42", True), (b"\xe3", True),
        ("残".encode(), True), ("ト".encode(), True), (" は".encode(), True),
        ("残".encode()[:2], True), (b"\xd0\xbf\xd1\x80", False), ("é".encode(), False), ("안녕".encode(), False),
    ],
)  # fmt: skip
def test_only_english_and_japanese_stay(raw: bytes, stays: bool) -> None:
    assert vocabulary.wanted(raw) is stays


def tokenizer() -> dict[str, Any]:
    """As the package has it: without its first merge, and with a script that goes."""
    spelling = {byte: char for char, byte in vocabulary.alphabet().items()}
    other = "".join(spelling[byte] for byte in "пр".encode())
    pairs = [other[:2], other[2:]]
    tokens = ["Ġ", "t", "h", "e", "Ġt", "he", "Ġthe", *other, *pairs, other]
    vocab = {token: place for place, token in enumerate(dict.fromkeys(tokens))}
    merges = ["h e", "Ġt he", *(" ".join(pair) for pair in pairs), " ".join(pairs)]
    added = [{"id": vocabulary.FIRST_SPECIAL + k, "content": name} for k, name in enumerate(vocabulary.SPECIAL)]
    return {"model": {"vocab": vocab, "merges": merges}, "added_tokens": added}


def test_the_first_merge_is_mended_and_ids_are_counted_anew() -> None:
    names = [""] * vocabulary.FIRST_SPECIAL + [*vocabulary.SPECIAL, "<|0.00|>"]
    made, order = vocabulary.pruned(tokenizer(), names)
    assert made["model"]["merges"] == [["Ġ", "t"], ["h", "e"], ["Ġt", "he"]]
    assert sorted(made["model"]["vocab"].values()) == list(range(len(made["model"]["vocab"])))
    assert len(order) == len(made["model"]["vocab"]) + len(vocabulary.SPECIAL)
    assert [t["id"] for t in made["added_tokens"]] == list(range(len(made["model"]["vocab"]), len(order)))
