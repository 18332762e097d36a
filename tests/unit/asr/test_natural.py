"""Checkpoints for natural length, from the coded folder to hypotheses; weights are random, so words are not."""

import json
import lzma
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import ctranslate2
import numpy as np
import pytest

from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from services.asr.load import decoders
from services.asr.natural import CONFIG, LONGEST_S, NaturalDecoder
from services.asr.packed import CODED, CODED_TOKENIZER
from tests.unit.asr._checkpoint import checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stock layout, coded, with a task of its own."""
    made = checkpoint(tmp_path_factory.mktemp("natural") / "model", multilingual=False)
    whole, tokenizer = made / "model.bin", made / "tokenizer.json"
    (made / CODED).write_bytes(zlib.compress(whole.read_bytes(), 1))
    (made / CODED_TOKENIZER).write_bytes(lzma.compress(tokenizer.read_bytes(), preset=0))
    (made / CONFIG).write_text(json.dumps({"feature_size": 80, "task": "<|startoflm|>"}), encoding="utf-8")
    whole.unlink()
    tokenizer.unlink()
    return made


@pytest.fixture(scope="module")
def decoder(folder: Path) -> NaturalDecoder:
    found = decoders(str(folder))["en"]
    assert isinstance(found, NaturalDecoder)
    return found


def speech(seconds: float) -> Samples:
    """Noise as loud as speech."""
    return np.random.default_rng(3).normal(0, 0.1, int(seconds * SAMPLE_RATE)).astype(np.float32)


def test_one_model_hears_both_languages(folder: Path) -> None:
    found = decoders(str(folder))
    assert set(found) == {"en", "ja"}
    english, japanese = (vars(found[lang])["_natural"] for lang in ("en", "ja"))
    assert english is japanese


def test_a_folder_for_a_language_is_for_it_alone(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "en").symlink_to(folder)
    assert set(decoders(str(tmp_path))) == {"en"}


@pytest.mark.parametrize(("seconds", "frames"), [(0.2, 200), (1.5, 200), (3.0, 350), (10.5, 1100)])
def test_windows_are_as_long_as_the_speech_and_half_a_second(
    decoder: NaturalDecoder, seconds: float, frames: int
) -> None:
    assert decoder._mel(speech(seconds)).shape == (1, 80, frames)


@pytest.mark.parametrize("seconds", [0.3, 3.0, LONGEST_S + 4])
def test_a_final_has_alternatives_and_a_partial_one(decoder: NaturalDecoder, seconds: float) -> None:
    final, partial = (decoder.decode(speech(seconds), final=final) for final in (True, False))
    assert 1 <= len(final.hypotheses) <= 4
    assert len(partial.hypotheses) == 1
    assert all(h.avg_logprob <= 0 for h in final.hypotheses)


def result(*found: tuple[str, float]) -> SimpleNamespace:
    """What CTranslate2 gives, with texts for ids."""
    return SimpleNamespace(sequences_ids=[list(text) for text, _ in found], scores=[score for _, score in found])


@pytest.mark.parametrize(
    ("found", "texts"),
    [
        ([("", -0.1), ("you", -3.0)], ["", "you"]),
        ([("", -0.7), ("five", -0.8), ("nine", -2.0)], ["five", "nine"]),
        ([("", -2.0)], [""]),
        ([("two", -0.2), ("two", -0.9), ("to", -1.1)], ["two", "to"]),
    ],
    ids=["surely empty", "a word as likely", "nothing but empty", "a text once"],
)
def test_nothing_is_said_only_where_the_end_is_likely(
    decoder: NaturalDecoder, found: list[tuple[str, float]], texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    natural = SimpleNamespace(tokenizer=SimpleNamespace(decode="".join))
    monkeypatch.setattr(decoder, "_natural", natural)
    assert [h.text for h in decoder._hypotheses(result(*found))] == texts


@pytest.mark.parametrize(
    "spoil",
    [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: zlib.compress(b"no model")],
    ids=["empty", "cut", "another"],
)
def test_weights_that_are_torn_are_said_at_start(folder: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    torn = tmp_path / "model"
    shutil.copytree(folder, torn)
    (torn / CODED).write_bytes(spoil((folder / CODED).read_bytes()))
    with pytest.raises(RecognizerUnavailable):
        decoders(str(torn))


def test_a_task_that_is_no_token_is_said_at_start(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "model"
    shutil.copytree(folder, other)
    (other / CONFIG).write_text(json.dumps({"feature_size": 80, "task": "<|none|>"}), encoding="utf-8")
    with pytest.raises(RecognizerUnavailable):
        decoders(str(other))


def test_what_is_asked_of_the_model(decoder: NaturalDecoder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    real = ctranslate2.models.Whisper.generate

    def generate(self: ctranslate2.models.Whisper, features: object, prompts: list[list[int]], **how: object) -> object:
        asked.append(how | {"prompt": prompts[0]})
        return real(self, features, prompts, **how)

    monkeypatch.setattr(ctranslate2.models.Whisper, "generate", generate)
    decoder.decode(speech(1.0), final=True)
    decoder.decode(speech(1.0), final=False)
    final, partial = asked
    assert (final["beam_size"], final["num_hypotheses"], final["length_penalty"]) == (4, 4, 0)
    assert (partial["beam_size"], partial["num_hypotheses"]) == (1, 1)
    assert len(set(final["prompt"])) == 4  # type: ignore[arg-type]
