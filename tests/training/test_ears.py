"""CTC heads on the encoder, and what is packed of them: recogniser/train/ears.py, export/pack.py."""

import shutil
from pathlib import Path
from typing import Final

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the training's own environment has it: make asr-test")

from recogniser.export import binary, pack  # noqa: E402
from recogniser.train.ears import LANGUAGES, NAMES, PIECES, Ears  # noqa: E402

WIDTH: Final = 16
MODEL: Final = Path(__file__).parents[2] / "services" / "asr" / "model"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for lang in LANGUAGES:
        shutil.copy(MODEL / lang / "tokenizer.json", tmp_path / PIECES.format(lang))
    return tmp_path


@pytest.fixture
def ears(folder: Path) -> Ears:
    return Ears(folder, {}, WIDTH)


def test_transcripts_that_pieces_cannot_spell_teach_nothing(ears: Ears) -> None:
    assert ears.ids("send 50 dollars", "en") is None
    ids = ears.ids("send fifty dollars", "en")
    assert ids is not None
    assert ears.text(ids, "en") == "send fifty dollars"
    assert ears.loss(torch.zeros(2, 30, WIDTH), [None, None], ["en", "ja"]) is None


def test_what_was_said_costs_less_the_more_it_is_learnt(ears: Ears) -> None:
    states = torch.randn(2, 60, WIDTH, generator=torch.Generator().manual_seed(1))
    said = [ears.ids("yes please", "en"), ears.ids("残高", "ja")]
    step = torch.optim.Adam(ears.parameters(), lr=0.05)
    costs = []
    for _ in range(40):
        loss = ears.loss(states, said, ["en", "ja"])
        assert loss is not None
        step.zero_grad()
        loss.backward()
        step.step()
        costs.append(loss.item())
    assert costs[-1] < costs[0] / 2


def test_trainings_that_are_mixed_begin_alike_and_one_goes_on_where_it_was(folder: Path) -> None:
    one, other = Ears(folder, {}, WIDTH), Ears(folder, {}, WIDTH)
    tensors = one.tensors()
    assert all((value == other.tensors()[name]).all() for name, value in tensors.items())
    grown = {name: value + 1 for name, value in tensors.items()}
    assert all((value == grown[name]).all() for name, value in Ears(folder, grown, WIDTH).tensors().items())


def test_a_head_that_the_other_weights_lack_stays_as_it_is(ears: Ears) -> None:
    weights = {"decoder/a": np.ones((2, 2), np.float32)}
    mine = binary.Binary("WhisperSpec", 3, weights | ears.tensors(), {})
    mixed = pack.mixed(mine, [(binary.Binary("WhisperSpec", 3, {"decoder/a": np.zeros((2, 2), np.float32)}, {}), 0.25)])
    assert (mixed["decoder/a"] == 0.75).all()
    name = NAMES.format("en", "table")
    assert np.allclose(mixed[name], ears.tensors()[name])


def test_a_head_is_packed_beside_its_pieces_and_their_language_model(ears: Ears, tmp_path: Path) -> None:
    tensors = ears.tensors()
    pack.head(tensors, "en", MODEL / "en", tmp_path / "out" / "en")
    assert {path.name for path in (tmp_path / "out" / "en").iterdir()} == {
        "ctc.npz", "tokenizer.json", "language.npz.xz",
    }  # fmt: skip
    assert not any("/en/" in name for name in tensors)
    with np.load(tmp_path / "out" / "en" / "ctc.npz") as packed:
        assert packed["blank"] == ears.blank("en") == len(packed["bias"]) - 1
