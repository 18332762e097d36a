"""Real speakers: the sound of a folder of recordings with metadata.jsonl, split into train and test by speaker.

`recogniser people --source FOLDER --out corpus/human` writes train.npz and test.jsonl (held-out speakers).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import unicodedata
from pathlib import Path

import numpy as np
import soundfile
import soxr
from tqdm import tqdm

from recogniser.voices.engines import RATE

HELD_OUT_CORPORA = ("librispeech_bits", "librivox_bits")
TRAIN_ONLY = ("kathleen_arctic", "ljspeech_part1")


def held_out(corpus: str, speaker: str) -> bool:
    """One speaker in five of each many-speaker corpus, and whole small corpora, are never trained on."""
    if corpus in HELD_OUT_CORPORA:
        return True
    return corpus not in TRAIN_ONLY and int(hashlib.sha256(speaker.encode()).hexdigest(), 16) % 5 == 0


def transcript(text: str, lang: str) -> str | None:
    """The corpus's spelling in ours, or None where numerals leave the words unknown."""
    text = unicodedata.normalize("NFKC", text)
    if re.search(r"\d", text):
        return None
    if lang == "ja":
        return re.sub(r"[^぀-ヿ㐀-鿿々〇ー]", "", text) or None
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower().replace("’", "'")).replace(" '", " ").split()) or None


def load(path: Path) -> np.ndarray:
    """Mono float32 audio at 16 kHz."""
    audio, rate = soundfile.read(path, dtype="float32", always_2d=True)
    mono = audio.mean(axis=1)
    return mono if rate == RATE else soxr.resample(mono, rate, RATE)


def levelled(audio: np.ndarray) -> np.ndarray:
    """int16 with its peak at half of what fits."""
    level = 0.5 / max(float(np.abs(audio).max()), 1e-4)
    return (audio * level * 32767).astype(np.int16)


def tested(source: Path, row: dict[str, str], text: str) -> dict[str, str]:
    """A line of the test set."""
    file, corpus = str(source / row["file"]), row["file"].split("/")[0]
    voice, speaker = f"human:{corpus}", row["speaker"]
    return {"file": file, "text": text, "lang": row["lang"], "voice": voice, "speaker": speaker, "category": corpus}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--longest", type=float, default=11.0, help="seconds")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in (args.source / "metadata.jsonl").read_text(encoding="utf-8").splitlines()]
    sounds, texts, names, langs, speakers, test = [], [], [], [], [], []
    for row in tqdm(rows, unit="clip"):
        text = transcript(row["text"], row["lang"])
        corpus = row["file"].split("/")[0]
        if text is None or row["dur"] > args.longest:
            continue
        if held_out(corpus, row["speaker"]):
            test.append(tested(args.source, row, text))
            continue
        sounds.append(levelled(load(args.source / row["file"])))
        texts.append(text)
        langs.append(row["lang"])
        names.append(f"human:{corpus}|human")
        speakers.append(row["speaker"])
    partial = args.out / "train.tmp.npz"
    np.savez(
        partial,
        audio=np.concatenate(sounds),
        length=np.array([len(s) for s in sounds]),
        text=np.array(texts),
        voice=np.array(names),
        lang=np.array(langs),
        speaker=np.array(speakers),
    )
    partial.replace(args.out / "train.npz")
    (args.out / "test.jsonl").write_text(
        "".join(json.dumps(t, ensure_ascii=False) + "\n" for t in test), encoding="utf-8"
    )
    print(f"{len(texts)} to train on, {len(test)} held out")
