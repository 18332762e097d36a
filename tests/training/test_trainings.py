"""A whole small training, from shards of sound to a folder that CTranslate2 loads; where torch is installed."""

import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recogniser.voices import shards

soundfile = pytest.importorskip("soundfile")
pytest.importorskip("torch", reason="training has an environment of its own (deploy/asr)")

ASR = Path(__file__).parents[2] / "deploy" / "asr"
RATE = 16_000
WORDS = ("send", "fifty", "dollars", "to", "my", "sister", "balance", "what", "is", "lock", "card", "please")
SMALL = ("stack=2", "width=64", "encoder=1", "decoder=1", "pieces=40", "frames=1500", "save_every=0", "say_every=1")


def recogniser(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "recogniser", *map(str, arguments)]
    done = subprocess.run(command, cwd=ASR, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tones for words, one each; noise; rooms."""
    folder, rng = tmp_path_factory.mktemp("speech"), np.random.default_rng(5)
    at = np.arange(RATE // 5) / RATE
    rows = []
    for _ in range(60):
        said = rng.choice(len(WORDS), rng.integers(2, 5))
        sound = np.concatenate([np.sin(2 * np.pi * (200 + 150 * word) * at) for word in said])
        rows.append((shards.written(sound), " ".join(WORDS[word] for word in said), "tone:a"))
    (folder / "corpus" / "en").mkdir(parents=True)
    shards.write(folder / "corpus" / "en" / "001-00000.npz", rows, "en")
    (folder / "noise").mkdir()
    soundfile.write(folder / "noise" / "hum.wav", rng.normal(0, 0.1, RATE).astype(np.float32), RATE)
    rooms = rng.normal(size=(3, 8_000)) * np.exp(-np.arange(8_000) / 800)
    np.save(folder / "rooms.npy", (rooms / np.linalg.norm(rooms, axis=1, keepdims=True)).astype(np.float32))
    return folder


def training(speech: Path, run: Path, *told: str) -> tuple[str, ...]:
    where = (f"data={speech / 'corpus'}", f"noise={speech / 'noise'}", f"rooms={speech / 'rooms.npy'}", f"run={run}")
    return ("train", "cpu-en", *where, *SMALL, *told)


def trained(speech: Path, run: Path, *told: str) -> str:
    return recogniser(*training(speech, run, *told))


def test_a_model_is_trained_goes_on_and_is_exported(speech: Path, tmp_path: Path) -> None:
    import ctranslate2
    import torch

    run = tmp_path / "runs" / "en"
    first = trained(speech, run, "stop_after=3")
    assert "60 utterances" in first
    trained(speech, run, "stop_after=5")
    state = torch.load(run / "last.pt", weights_only=True)
    assert state["step"] == 5
    assert state["average"].keys() == state["model"].keys()
    assert any((state["average"][name] != weight).any() for name, weight in state["model"].items())
    recogniser("export", "--run", run, "--langs", "en", "--out", tmp_path / "model")
    packed = tmp_path / "model" / "model.bin.xz"
    packed.with_suffix("").write_bytes(lzma.decompress(packed.read_bytes()))
    assert ctranslate2.models.Whisper(str(tmp_path / "model")).n_mels == 80 * 2
    shipped, further = tmp_path / "shipped", tmp_path / "runs" / "further"
    recogniser("revive", "--model", tmp_path / "model", "--run", shipped)
    further.mkdir()
    shutil.copy(shipped / "tokenizer.json", further)
    trained(speech, further, "stop_after=1", f"start_from={shipped / 'last.pt'}")


def test_two_trainers_of_one_model_end_together(speech: Path, tmp_path: Path) -> None:
    import torch

    run, both = tmp_path / "en", ("peers=2", "stop_after=4")
    trained(speech, run, "stop_after=1")  # the vocabulary
    command = [sys.executable, "-m", "recogniser", *training(speech, run, *both, "rank=1")]
    second = subprocess.Popen(command, cwd=ASR, stdout=subprocess.DEVNULL)
    trained(speech, run, *both, "rank=0")
    assert second.wait(60) == 0
    assert torch.load(run / "last.pt", weights_only=True)["step"] == 4


def test_rooms_are_made_of_unit_energy(tmp_path: Path) -> None:
    pytest.importorskip("pyroomacoustics")
    recogniser("rooms", "--count", "2", "--out", tmp_path / "rooms.npy")
    rooms = np.load(tmp_path / "rooms.npy")
    assert rooms.shape == (2, 8_000)
    assert np.linalg.norm(rooms, axis=1) == pytest.approx([1, 1], abs=1e-3)
