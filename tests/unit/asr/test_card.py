"""A recogniser on a card: what is missing is said, and what comes from there is read as if it were here."""

import ctypes
from pathlib import Path
from types import SimpleNamespace

import ctranslate2
import numpy as np
import pytest

from schemas.errors import RecognizerUnavailable
from services.asr import card
from services.asr.load import BUNDLED, decoders


def test_a_machine_without_a_card_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 0)
    with pytest.raises(RecognizerUnavailable, match="no card"):
        decoders(BUNDLED, device=card.CARD)


def test_a_card_without_its_library_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(card, "LIBRARIES", ("libnobody-has-this.so.12",))
    with pytest.raises(RecognizerUnavailable, match=r"libnobody-has-this\.so\.12 is missing.*make cuda"):
        card.require(card.CARD)


def test_the_library_of_the_package_is_taken_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    laid, loaded = tmp_path / "lib" / card.LIBRARIES[1], list[str]()
    laid.parent.mkdir()
    laid.touch()
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(card, "find_spec", lambda _: SimpleNamespace(submodule_search_locations=[str(tmp_path)]))
    monkeypatch.setattr(ctypes, "CDLL", lambda name, mode: loaded.append(name))
    card.require(card.CARD)
    assert loaded == [card.LIBRARIES[0], str(laid)]


def test_the_processor_needs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: pytest.fail("nobody asks"))
    card.require("cpu")


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_halves_become_whole(kind: type[np.generic]) -> None:
    view = ctranslate2.StorageView.from_array(np.array([[0.5, -2.0]], dtype=kind))
    near = card.on_host(view)
    assert near.dtype == np.float32
    assert near.tolist() == [[0.5, -2.0]]
