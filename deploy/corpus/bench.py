"""Makes the recordings of deploy/bench/corpus/latency.yaml and answers.yaml with offline voices.

Needs Debian's flite, festival with its voices, rhvoice-english, libttspico-utils and open-jtalk with hts-voice-nitech;
`python -m deploy.corpus.bench --voices FOLDER` names further .htsvoice files (mei: MMDAgent, CC BY 3.0).
"""

import argparse
import subprocess
import tempfile
from pathlib import Path

import av
import numpy as np
import yaml

from deploy.bench._answers import said
from deploy.bench._calls import corpus
from services.audio.files import read_file

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "deploy/bench/corpus"
DICTIONARY = "/var/lib/mecab/dic/open-jtalk/naist-jdic"
BLOCK, MARGIN, FLOOR_DB = 160, 640, -40.0


def command(voice: str, text: str, out: str, folders: list[Path]) -> tuple[list[str], str | None]:
    """The program that speaks `text` into `out`, and what it is given on standard input."""
    engine, _, name = voice.partition(":")
    match engine:
        case "flite":
            return ["flite", "-voice", name, "-t", text, "-o", out], None
        case "festival":
            return ["text2wave", "-eval", f"(voice_{name})", "-o", out], text
        case "rhvoice":
            return ["RHVoice-test", "-p", name, "-R", "16000", "-o", out], text
        case "pico":
            return ["pico2wave", "-l", name, "-w", out, text], None
        case "jtalk":
            model = next(path for folder in folders for path in folder.rglob(f"{name}.htsvoice"))
            return ["open_jtalk", "-x", DICTIONARY, "-m", str(model), "-ow", out], text
        case _:
            raise SystemExit(f"no engine {engine}")


def speak(voice: str, text: str, folders: list[Path]) -> np.ndarray:
    """One recording, cut to its voice with 40 ms at either side, at half scale."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as wav:
        words, given = command(voice, text, wav.name, folders)
        subprocess.run(words, input=given, text=True, check=True, capture_output=True)
        samples = read_file(Path(wav.name).read_bytes())
    power = np.square(samples[: samples.size // BLOCK * BLOCK]).reshape(-1, BLOCK).mean(axis=1)
    loud = np.flatnonzero(10 * np.log10(power + 1e-12) > 10 * np.log10(power.max()) + FLOOR_DB)
    cut = samples[max(0, loud[0] * BLOCK - MARGIN) : (loud[-1] + 1) * BLOCK + MARGIN]
    levelled: np.ndarray = cut / np.abs(cut).max() * 0.5
    return levelled


def write(path: Path, samples: np.ndarray) -> None:
    """As Ogg Opus, 24 kbit/s."""
    with av.open(str(path), "w", format="ogg") as out:
        stream = out.add_stream("libopus", rate=16_000, layout="mono")
        stream.bit_rate = 24_000
        frame = av.AudioFrame.from_ndarray((samples * 32767).astype("<i2")[None, :], format="s16", layout="mono")
        frame.rate = 16_000
        for packet in (*stream.encode(frame), *stream.encode(None)):
            out.mux(packet)


def main() -> None:
    """Make what is not there yet."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--voices", type=Path, action="append", default=[Path("/usr/share/hts-voice")])
    folders = arguments.parse_args().voices
    sets = yaml.load((CORPUS / "latency.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)["sets"]
    make("latency", {part for one in sets for part in corpus.spoken_parts(one)}, folders)
    answers = yaml.load((CORPUS / "answers.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    make("answers", set(said.spoken_parts(answers)), folders)


def make(name: str, parts: set[tuple[str, str]], folders: list[Path]) -> None:
    """The recordings of one corpus that are not there yet."""
    for voice, text in sorted(parts):
        path = CORPUS / name / corpus.audio_name(voice, text)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            write(path, speak(voice, text, folders))


if __name__ == "__main__":
    main()
