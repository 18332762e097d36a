"""A whole small fine-tuning, from weights to the folder that ships and on from there; where torch is installed."""

import json
import shutil
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Final

import numpy as np
import pytest

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("torch", reason="training has an environment of its own (deploy/asr)")

from recogniser.export import binary  # noqa: E402
from recogniser.export.payload import POSITIONS  # noqa: E402
from recogniser.train.ears import NAMES  # noqa: E402
from tests.unit.asr._checkpoint import MODEL_FOLDER, WIDTH, checkpoint  # noqa: E402

ASR: Final = Path(__file__).parents[2] / "deploy" / "asr"
RATE: Final = 16_000
WORDS: Final = ("send", "fifty", "dollars", "to", "my", "sister", "balance", "what", "is", "lock", "card", "please")
QUICK: Final = ("device=cpu", "frames=1", "minutes=5")


def recogniser(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "recogniser", *map(str, arguments)]
    done = subprocess.run(command, cwd=ASR, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tones for words, by ten speakers; noise; a room."""
    folder, rng = tmp_path_factory.mktemp("speech"), np.random.default_rng(5)
    for name in ("human/an4", "noise", "rir"):
        (folder / name).mkdir(parents=True)
    at, rows = np.arange(RATE // 5) / RATE, []
    for n in range(30):
        said = rng.choice(len(WORDS), rng.integers(2, 5))
        sound = np.concatenate([np.sin(2 * np.pi * (200 + 150 * word) * at) for word in said])
        soundfile.write(folder / "human" / f"an4/{n}.wav", sound / 4, RATE)
        text = " ".join(WORDS[word] for word in said)
        rows.append({"file": f"an4/{n}.wav", "text": text, "lang": "en", "speaker": f"s{n % 10}", "dur": len(said) / 5})
    (folder / "human" / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    soundfile.write(folder / "noise" / "hum.wav", rng.normal(0, 0.1, RATE), RATE)
    soundfile.write(folder / "rir" / "hall.wav", rng.normal(0, 0.1, RATE) * np.exp(-np.arange(RATE) / 800), RATE)
    return folder


def begun(part: Path) -> dict[str, np.ndarray]:
    """The weights of a payload."""
    data = b"".join((part / str(n) / f"weights.{n}").read_bytes() for n in (1, 2))
    return binary.read(zlib.decompress(data)).floats()


def test_weights_are_fine_tuned_packed_and_gone_on_with(speech: Path, tmp_path: Path) -> None:
    import ctranslate2

    base, pay, folder, model = (tmp_path / name for name in ("base", "pay", "folder", "model"))
    checkpoint(base, multilingual=True, pieces=300)
    recogniser("payload", pay, "--base", base, "--speech", speech)
    for part in sorted(pay.iterdir()):
        shutil.copytree(part, folder, dirs_exist_ok=True)
    recogniser("fine-tune", "whisper", f"folder={folder}", "steps=3", *QUICK)
    assert "3 steps" in (folder / "out" / "a" / "log").read_text(encoding="utf-8")
    after = folder / "out" / "a" / "next"
    recogniser("blend", after, after, "--out", tmp_path / "next")
    recogniser("fine-tune", "heads", f"folder={tmp_path / 'next'}", "only=en", "steps=2", *QUICK)
    heads = tmp_path / "next" / "out" / "a" / "next"
    told = ("--base", base, "--pieces", MODEL_FOLDER, "--heard", pay, "--head", "en", heads, "--quieter", "en", "1")
    recogniser("pack", after, *told, "--out", model)
    vocabulary = (base / "vocabulary.json").read_bytes()
    whole = zlib.decompress((model / "model.bin.z").read_bytes())
    files = {"model.bin": whole, "config.json": (model / "config.json").read_bytes(), "vocabulary.json": vocabulary}
    heard = ctranslate2.models.Whisper("packed", files=files).encode(
        ctranslate2.StorageView.from_array(np.zeros((1, 80, 400), np.float32))
    )
    assert np.isfinite(np.array(heard)).all()
    recogniser("payload", tmp_path / "again", "--base", model, "--heads", model)
    again = begun(tmp_path / "again")
    assert again[POSITIONS].shape == (1500, WIDTH)
    with np.load(model / "en" / "ctc.npz") as head:
        assert np.allclose(again[NAMES.format("en", "bias")], head["bias"], atol=1e-3)
