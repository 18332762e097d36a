"""Checkpoints for natural length, from the coded folder to hypotheses; weights are random, so words are not."""

import json
import lzma
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import ctranslate2
import numpy as np
import pytest

from recogniser.export.tokens import folded
from schemas.audio import SAMPLE_RATE, Samples
from schemas.errors import RecognizerUnavailable
from services.asr.ctc import Floats
from services.asr.decoder import CONFIG, TRAINED_S
from services.asr.ear import Ear, Judged
from services.asr.load import BUNDLED, LANGUAGES, decoders
from services.asr.natural import NaturalDecoder
from services.asr.packed import CODED, CODED_TOKENIZER
from services.audio.files import read_file
from tests.unit.asr._checkpoint import checkpoint, ear

DATA: Final = Path(__file__).parents[2] / "data" / "asr"
AUDIO: Final = Path(__file__).parents[2] / "audio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stock layout, coded, with a task of its own."""
    made = checkpoint(tmp_path_factory.mktemp("natural") / "model", multilingual=False)
    whole, tokenizer = made / "model.bin", made / "tokenizer.json"
    (made / CODED).write_bytes(zlib.compress(whole.read_bytes(), 1))
    short = folded(tokenizer.read_text(encoding="utf-8"))
    (made / CODED_TOKENIZER).write_bytes(lzma.compress(short.encode(), preset=0))
    (made / CONFIG).write_text(json.dumps({"feature_size": 80, "task": "<|startoflm|>"}), encoding="utf-8")
    whole.unlink()
    tokenizer.unlink()
    for lang in LANGUAGES:
        ear(made / lang)
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


@pytest.mark.parametrize(("seconds", "frames"), [(0.2, 200), (1.5, 200), (3.0, 350), (10.5, 1100)])
def test_windows_are_as_long_as_the_speech_and_half_a_second(
    decoder: NaturalDecoder, seconds: float, frames: int
) -> None:
    assert decoder._mel(speech(seconds)).shape == (1, 80, frames)


@pytest.mark.parametrize("seconds", [0.3, 3.0, TRAINED_S + 4])
def test_a_final_has_alternatives_and_a_partial_one(decoder: NaturalDecoder, seconds: float) -> None:
    final, partial = (decoder.decode(speech(seconds), final=final) for final in (True, False))
    assert 1 <= len(final.hypotheses) <= 4
    assert len(partial.hypotheses) == 1
    assert all(h.avg_logprob <= 0 for h in final.hypotheses)


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


def test_a_head_that_is_torn_is_said_at_start(folder: Path, tmp_path: Path) -> None:
    torn = tmp_path / "model"
    shutil.copytree(folder, torn)
    (torn / "ja" / "language.npz.xz").write_bytes(b"")
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
    final = asked[0]
    assert (final["beam_size"], final["num_hypotheses"], final["length_penalty"]) == (4, 4, 0)
    assert len(set(final["prompt"])) == 4  # type: ignore[arg-type]
    asked.clear()
    decoder.decode(speech(1.0), final=False)
    assert not asked, "a partial is what the head hears: the decoder is too dear"


@pytest.fixture(scope="module")
def bundled() -> NaturalDecoder:
    """The one that ships, for English."""
    found = decoders(BUNDLED)["en"]
    assert isinstance(found, NaturalDecoder)
    return found


@pytest.fixture
def recorded() -> Samples:
    return read_file((DATA / "rhvoice_bdl-000.ogg").read_bytes())


def test_the_decoder_judges_what_others_propose_as_what_it_proposes_itself(
    bundled: NaturalDecoder, recorded: Samples
) -> None:
    encoded = bundled._natural.model.encode(ctranslate2.StorageView.from_array(bundled._mel(recorded)), to_cpu=True)
    proposed, _ = bundled._proposed(encoded, 40)
    told = bundled._writer.told([ids for text in proposed if (ids := bundled._ids(text)) is not None], encoded)
    assert told[0] == pytest.approx(next(iter(proposed.values())), abs=0.3)
    best = bundled._ids(next(iter(proposed))) or []
    assert bundled._writer.told([best[:-2]], encoded)[0] < told[0] - 1


def test_what_follows_is_less_likely_where_all_was_said(bundled: NaturalDecoder) -> None:
    balance = read_file((AUDIO / "balance.opus").read_bytes())
    whole, part = (bundled.onward(balance, text) for text in ("what's my balance", "what's my"))
    assert whole is not None
    assert part is not None
    assert whole.word < -2 < -0.1 < part.word <= 0
    assert bundled.onward(np.tile(balance, 12), "what's my balance") is None, "it is heard in pieces"


def test_a_final_is_asked_about_again_without_being_encoded_again(
    bundled: NaturalDecoder, recorded: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart = recorded.copy()
    told = bundled.odds(apart, ["send it", "lend it"]), bundled.onward(apart, "send it")
    text = bundled.decode(recorded, final=True).hypotheses[0].text
    monkeypatch.delattr(ctranslate2.models.Whisper, "encode")
    assert (bundled.odds(recorded, ["send it", "lend it"]), bundled.onward(recorded, "send it")) == told
    assert bundled.decode(recorded, final=True).hypotheses[0].text == text


def test_the_language_model_ranks_what_decoder_and_head_propose(
    bundled: NaturalDecoder, recorded: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = bundled.decode(recorded, final=True)
    real = Ear.judge

    def judge(self: Ear, log_probs: Floats, texts: list[str]) -> Judged:
        return replace(real(self, log_probs, texts), likely=np.arange(len(texts)) * 1e4)

    monkeypatch.setattr(Ear, "judge", judge)
    ranked = bundled.decode(recorded, final=True)
    assert ranked.hypotheses[0] != plain.hypotheses[0]


def test_a_partial_is_heard_too(bundled: NaturalDecoder, recorded: Samples) -> None:
    heard = bundled.decode(recorded, final=False)
    assert len(heard.hypotheses) == 1
    assert heard.witness is not None
    assert heard.hypotheses[0].text


def test_words_that_the_pieces_lack_are_left_to_the_decoder(bundled: NaturalDecoder) -> None:
    assert bundled._ear.spells("send fifty dollars")
    assert not bundled._ear.spells("send 50 dollars")


@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("loud", [0.0, 1e-3, 0.05])
def test_where_nobody_speaks_the_bundled_one_gives_what_guards_can_judge(
    final: bool, loud: float, bundled: NaturalDecoder
) -> None:
    noise = np.random.default_rng(5).normal(0, loud, 2 * SAMPLE_RATE).astype(np.float32)
    assert bundled.decode(noise, final=final).hypotheses


def test_silence_that_both_heads_like_best_is_no_word_that_the_language_likes(
    bundled: NaturalDecoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    likely = Judged(np.array([-20.0, -9.0]), np.array([0.0, -30.0]), np.array([1.0, 0.0]), -9.0)
    monkeypatch.setattr(Ear, "judge", lambda *_: likely)
    log_probs = np.full((10, 307), -5.7, dtype=np.float32)
    heard = bundled._judged({"yes": -4.0, "": -0.4}, log_probs, 0.9)
    assert [h.text for h in heard.hypotheses] == [""]
