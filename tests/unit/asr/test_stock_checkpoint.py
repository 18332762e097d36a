"""A stock faster-whisper folder in place of our own, from the file to the JSON line; its weights are random."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import orjson
import pytest
from faster_whisper import WhisperModel
from typer.testing import CliRunner

from app.cli import main
from schemas.audio import SAMPLE_RATE, Samples
from services.asr.decoder import Decoded
from services.asr.load import decoders
from services.asr.stock import LONGEST_S, StockDecoder
from tests.unit.asr._checkpoint import checkpoint

CLIP = Path(__file__).parents[2] / "audio" / "balance.opus"
KEYS = {"file", "text", "alternatives", "avg_logprob", "no_speech_prob", "decode_ms"}


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("stock") / "base.en", multilingual=False)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("stock") / "base", multilingual=True)


@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_a_recording_gives_its_line(both: Path, locale: str) -> None:
    result = CliRunner().invoke(main, ["transcribe", str(CLIP), "--locale", locale], env={"ASR_MODEL": str(both)})
    assert result.exit_code == 0, result.output
    line = orjson.loads(result.stdout)
    assert set(line) == KEYS
    assert line["decode_ms"] > 0
    assert line["avg_logprob"] <= 0


def test_an_english_checkpoint_refuses_other_languages(english: Path) -> None:
    result = CliRunner().invoke(main, ["transcribe", str(CLIP), "--locale", "ja-JP", "--model", str(english)])
    assert result.exit_code == 1
    assert orjson.loads(result.stdout)["error"] == "recognizer_unavailable"


def test_windows_are_the_shortest_that_are_safe(english: Path) -> None:
    frames: list[int] = []
    real = WhisperModel.encode

    def encode(self: WhisperModel, features: np.ndarray) -> object:
        frames.append(features.shape[-1])
        return real(self, features)

    decoder = decoders(str(english))["en"]
    assert isinstance(decoder, StockDecoder)
    speech = np.random.default_rng(3).normal(0, 0.1, 40 * SAMPLE_RATE).astype(np.float32)
    with patch.object(WhisperModel, "encode", encode):
        for seconds in (1, 7, 8, 14, 26):
            decoder.decode(speech[: seconds * SAMPLE_RATE], final=False)
    assert frames == [800, 800, 1000, 1500, 3000]


def test_longer_speech_is_cut_in_pieces(english: Path) -> None:
    pieces: list[int] = []
    real = StockDecoder._piece

    def piece(self: StockDecoder, samples: Samples, *, final: bool) -> Decoded:
        pieces.append(samples.size)
        return real(self, samples, final=final)

    speech = np.random.default_rng(3).normal(0, 0.1, 40 * SAMPLE_RATE).astype(np.float32)
    with patch.object(StockDecoder, "_piece", piece):
        decoders(str(english))["en"].decode(speech, final=False)
    assert len(pieces) == 2
    assert sum(pieces) == speech.size
    assert max(pieces) <= LONGEST_S * SAMPLE_RATE


def test_a_final_has_alternatives_with_scores(english: Path) -> None:
    speech = np.random.default_rng(3).normal(0, 0.1, 2 * SAMPLE_RATE).astype(np.float32)
    heard = decoders(str(english))["en"].decode(speech, final=True)
    scores = [h.avg_logprob for h in heard.hypotheses]
    assert 1 < len(scores) <= 4
    assert scores == sorted(scores, reverse=True)
