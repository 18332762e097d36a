"""The language model beside a checkpoint: what export/ngram_counts.py counts, services/asr/ngrams.py tells."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from services.asr.ear import Ear
from services.asr.load import FAULTS, LANGUAGES, MODEL_FOLDER
from services.asr.ngrams import END, Ngrams, _unpacked
from tests.unit.asr._checkpoint import ear
from tests.unit.asr._language import TOKENS, counted

sentences: Final = st.lists(st.lists(st.integers(0, TOKENS - 1), max_size=3), min_size=1, max_size=30)

SILENCE: Final = np.full((20, 1000), -6.9, dtype=np.float32)
"""Log-probabilities of a head that hears nothing in particular."""


@given(texts=sentences, least=st.sampled_from([[1], [1, 1], [1, 1, 2], [1, 2, 3, 2]]))
@settings(max_examples=40, deadline=None)
def test_all_sentences_together_are_no_likelier_than_certain(
    texts: list[list[int]], least: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = counted(tmp_path_factory.mktemp("model"), texts, least)
    every = [list(row) for n in range(6) for row in itertools.product(range(TOKENS), repeat=n)]
    shares = np.exp(model.score(every))
    assert shares.sum() < 1.15  # costs are whole twelfths of a nat
    assert (shares > 0).all()


def test_of_what_was_said_the_commoner_is_the_likelier(tmp_path: Path) -> None:
    model = counted(tmp_path, [[0, 1, 2]] * 6 + [[0, 1]] * 3 + [[2]], [1, 1, 1])
    often, seldom, never = model.score([[0, 1, 2], [0, 1], [1, 1, 0]])
    assert often > seldom > never


def test_rare_ngrams_leave_their_share_to_the_shorter_ones(tmp_path: Path) -> None:
    texts = [[0, 1]] * 5 + [[2, 1, 0]]
    whole, pruned = (counted(tmp_path, texts, least).score([[2, 1, 0]])[0] for least in ([1, 1, 1], [1, 2, 2]))
    assert whole > pruned > whole - 8


def test_a_token_that_no_text_had_is_possible_and_dear(tmp_path: Path) -> None:
    model = counted(tmp_path, [[0, 1]] * 4, [1, 1])
    known, unknown = model.score([[0, 1], [0, 2]])
    assert known - 40 < unknown < known - 10


@given(texts=sentences, least=st.sampled_from([[1], [1, 1], [1, 1, 2], [1, 2, 3, 2]]))
@settings(max_examples=40, deadline=None)
def test_token_by_token_it_says_what_it_says_of_the_whole(
    texts: list[list[int]], least: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = counted(tmp_path_factory.mktemp("model"), texts, least)
    for candidate in ([], [2], [0, 1, 1, 2, 0]):
        total, context = 0.0, np.zeros(1, dtype=np.int64)
        for token in (*candidate, END):
            total += model.follow(context, np.arange(-1, TOKENS))[0, token + 1]
            context = model.context(context, np.array([token]))
        assert total == pytest.approx(model.score([candidate])[0])


def test_candidates_are_judged_alike_alone_and_together(tmp_path: Path) -> None:
    model = counted(tmp_path, [[0, 1, 2], [2, 2], []], [1, 1, 1])
    candidates = [[0, 1, 1], [], [2], [0] * 30]
    assert model.score(candidates) == pytest.approx([float(model.score([c])[0]) for c in candidates])


def test_of_the_bundled_models_alone_a_quicker_form_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []

    def keep(_: str, make: Callable[[], bytes]) -> bytes:
        kept.append(make())
        return kept[-1]

    monkeypatch.setattr("services.asr.ngrams.kept", keep)
    ours = MODEL_FOLDER / LANGUAGES[0] / "language.npz.xz"
    elsewhere = tmp_path / ours.name
    elsewhere.write_bytes(ours.read_bytes())
    assert _unpacked(elsewhere) == _unpacked(ours)
    assert len(kept) == 1


def test_the_bundled_model_prefers_what_callers_say() -> None:
    tokenizer = Tokenizer.from_file(str(MODEL_FOLDER / "en" / "tokenizer.json"))
    said, muddled = (tokenizer.encode(t).ids for t in ("send forty dollars to maria", "to send maria dollars forty"))
    model = Ngrams(MODEL_FOLDER / "en" / "language.npz.xz", tokenizer.get_vocab_size())
    likely, unlikely = model.score([said, muddled])
    assert likely > unlikely + 5


@pytest.mark.parametrize("lang", LANGUAGES)
def test_it_has_a_say_in_both_languages(lang: str) -> None:
    ear = Ear(MODEL_FOLDER / lang)
    assert (ear.judge(SILENCE, ["a", "b"]).likely < 0).all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A head and its pieces, beside which a language model may be laid."""
    return ear(tmp_path / "en")


def test_a_head_does_without(folder: Path) -> None:
    assert not Ear(folder).judge(SILENCE, ["a", "b"]).likely.any()


@pytest.mark.parametrize("spoil", ["cut", "foreign"])
def test_a_language_model_that_does_not_fit_is_refused(spoil: str, folder: Path, tmp_path: Path) -> None:
    whole = (MODEL_FOLDER / "en" / "language.npz.xz").read_bytes()
    (folder / "language.npz.xz").write_bytes(whole[: len(whole) // 2])
    if spoil == "foreign":
        counted(tmp_path, [[0, 1]], [1, 1])
        (tmp_path / "language.npz.xz").replace(folder / "language.npz.xz")
    with pytest.raises(FAULTS):
        Ear(folder)
