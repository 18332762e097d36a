"""The bundled tokenizer lies in short, and is whole when it is read."""

import json
import lzma
from pathlib import Path

import pytest

from recogniser.export.tokens import folded, unfolded
from services.asr.load import MODEL_FOLDER
from services.asr.packed import CODED_TOKENIZER, tokenizer_of


def test_what_is_read_is_what_was_folded() -> None:
    short = lzma.decompress((Path(MODEL_FOLDER) / CODED_TOKENIZER).read_bytes()).decode()
    whole = json.loads(unfolded(short))
    read = json.loads(tokenizer_of(Path(MODEL_FOLDER)).to_str())
    assert read["model"]["vocab"] == whole["model"]["vocab"]
    assert read["model"]["merges"] == whole["model"]["merges"]
    assert len(short) < 0.6 * len(unfolded(short))
    assert json.loads(folded(unfolded(short))) == json.loads(short)


def test_a_vocabulary_that_does_not_follow_from_its_merges_is_refused() -> None:
    vocabulary = {token: at for at, token in enumerate(["a", "b", "ab", "c", "abc"])}
    whole = {"model": {"vocab": vocabulary, "merges": [["a", "b"], ["ab", "c"]]}}
    with pytest.raises(ValueError, match="merges"):
        folded(json.dumps(whole))
