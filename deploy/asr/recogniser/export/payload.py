"""What training on a lent machine needs, in parts that one call carries: `recogniser payload FOLDER --base BASE …`.

Each part is a folder FOLDER/N of at most `--most` MB: 1 and 2 the weights to begin with, Whisper's or those that ship,
then speech. Speech is Opus with transcripts; weights are whole steps of a row's deviation, Huffman-coded.
"""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import soundfile

from recogniser.export import binary
from recogniser.train.ears import LANGUAGES, NAMES, PIECES
from recogniser.voices import people as human
from recogniser.voices.shards import to_opus

RATE = 16_000
SHIPPED = Path(__file__).parents[4] / "services" / "asr" / "model"
STEPS = {"embedding": 0.1, "linear": 0.06}
"""Of the weights that a round begins with: a thirtieth of a row's deviation off at most."""
POSITIONS = "encoder/position_encodings/encodings"
SPOKEN_LEVEL = 0.945
NOISE_LEVEL = 0.8


def weights(base: Path, ears: Path | None = None) -> bytes:
    """A folder's model on `STEPS`, coded; with the CTC heads of a folder that ships, if given, to begin with.

    Of the encoder's positions what ships has those of its own windows; the teacher's are longer.
    """
    model = binary.load(base)
    tensors = model.floats() | (heads(ears) if ears else {})
    tensors[POSITIONS] = positions(tensors[POSITIONS].shape[1])
    return binary.coded(binary.written(binary.quantized(tensors, model.aliases, STEPS)))


def positions(width: int, count: int = 1500) -> np.ndarray:
    """(count, width): sines and cosines, as every Whisper has them."""
    waves = np.exp(np.log(10_000) / (1 - width // 2) * np.arange(width // 2))
    angles = np.arange(count)[:, None] * waves
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


def heads(model: Path) -> dict[str, np.ndarray]:
    """The CTC heads of a folder that ships, by `NAMES`: trainings that begin with them keep their labels' places."""
    found = {}
    for lang in LANGUAGES:
        with np.load(model / lang / "ctc.npz") as head:
            for part, of in (("table", "weight"), ("bias", "bias")):
                found[NAMES.format(lang, part)] = head[of].astype(np.float32)
    return found


class SpeechPayload:
    """Utterances to be written as one file."""

    def __init__(self) -> None:
        self.coded: list[bytes] = []
        self.told: list[tuple[str, str, str]] = []

    def add(self, sound: bytes, text: str, lang: str, kind: str) -> None:
        """One utterance: Ogg, transcript, language and kind (`human`, `test`, `noise` or `room`, or a voice)."""
        self.coded.append(sound)
        self.told.append((text, lang, kind))

    def size(self) -> int:
        """Bytes so far."""
        return sum(map(len, self.coded))

    def save(self, path: Path) -> None:
        """Write and begin anew."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text, lang, kind = zip(*self.told, strict=True)
        np.savez(path, coded=np.frombuffer(b"".join(self.coded), np.uint8), size=np.array([len(c) for c in self.coded]),
                 text=np.array(text), lang=np.array(lang), kind=np.array(kind))  # fmt: skip
        print(f"{path}: {len(text)} utterances, {path.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
        self.coded, self.told = [], []


def people(source: Path) -> Iterator[tuple[bytes, str, str, str]]:
    """Every recording of people, those held out as tests."""
    for one in human.recordings(source):
        if one.text is not None or not one.held_out:
            kind = "test" if one.held_out else "human"
            yield one.file.read_bytes(), one.text or "", one.lang, f"{kind}:{one.corpus}"


def strangers(folder: Path) -> Iterator[tuple[bytes, str, str, str]]:
    """Voices never trained on, of a folder of evaluate/acceptance.py's."""
    for line in (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["voice"].startswith("human:"):
            kind = f"test:strangers-{row['lang']}"
            yield (folder / row["file"]).read_bytes(), row["text"], row["lang"], kind


def surroundings(folder: Path, kind: str) -> Iterator[tuple[bytes, str, str, str]]:
    """Noises, or rooms, of a folder."""
    for path in sorted(p for p in folder.iterdir() if p.suffix in {".wav", ".flac"}):
        sound, rate = soundfile.read(path, dtype="float32", always_2d=True)
        mono = sound.mean(axis=1)
        if rate != RATE:
            continue
        if kind == "noise":
            yield to_opus(np.pad(mono, (0, max(0, RATE - len(mono)))), NOISE_LEVEL), "", "en", f"noise:{path.stem}"
        else:
            data = io.BytesIO()
            soundfile.write(data, mono, RATE, format="FLAC")
            yield data.getvalue(), "", "en", f"room:{path.stem}"


def shards(folders: Sequence[Path]) -> Iterator[tuple[bytes, str, str, str]]:
    """What voices/synthesise.py made."""
    for path in sorted(p for folder in folders for p in folder.glob("*.npz") if ".tmp" not in p.name):
        with np.load(path) as shard:
            sounds = np.split(shard["audio"], np.cumsum(shard["length"])[:-1])
            for sound, text, voice in zip(sounds, shard["text"], shard["voice"], strict=True):
                yield to_opus(sound, SPOKEN_LEVEL), str(text), str(shard["lang"]), str(voice)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--base", type=Path, help="folder of train/vocabulary.py's, or one that ships")
    parser.add_argument("--heads", type=Path, help="folder that ships, whose CTC heads the round begins with")
    parser.add_argument("--speech", type=Path, help="folder with human/, noise/ and rir/")
    parser.add_argument("--tests", type=Path, help="folder of evaluate/acceptance.py's, for scores while training")
    parser.add_argument("--spoken", type=Path, nargs="*", default=[], help="folders of shards")
    parser.add_argument("--first", type=int, default=4, help="number of the first part of spoken shards")
    parser.add_argument("--most", type=float, default=26, help="MB of a part")
    args = parser.parse_args()
    if args.base:
        data = weights(args.base, args.heads)
        for n, part in enumerate((data[: len(data) // 2], data[len(data) // 2 :]), 1):
            (args.out / str(n)).mkdir(parents=True, exist_ok=True)
            (args.out / str(n) / f"weights.{n}").write_bytes(part)
        (args.out / "1" / "tokenizer.json").write_text(binary.tokenizer(args.base), encoding="utf-8")
        for lang in LANGUAGES:
            shutil.copy(SHIPPED / lang / "tokenizer.json", args.out / "1" / PIECES.format(lang))
        print(f"weights: {len(data) / 1e6:.1f} MB", file=sys.stderr)
    if args.speech:
        around = [*surroundings(args.speech / "noise", "noise"), *surroundings(args.speech / "rir", "room")]
        tests = strangers(args.tests) if args.tests else ()
        _save([*around, *tests, *people(args.speech / "human")], args.out / "3" / "people", args.most * 1e6)
    if args.spoken:
        _save(shards(args.spoken), args.out / str(args.first) / "spoken", args.most * 1e6)


def _save(rows: Iterable[tuple[bytes, str, str, str]], path: Path, most: float) -> None:
    """Files of `path` and a number, each in a folder of its own, counted on from the path's."""
    speech, first = SpeechPayload(), int(path.parent.name)
    for number, full in enumerate(_filled(speech, rows, most)):
        full.save(path.parent.parent / str(first + number) / f"{path.name}-{first + number}.npz")


def _filled(speech: SpeechPayload, rows: Iterable[tuple[bytes, str, str, str]], most: float) -> Iterator[SpeechPayload]:
    for row in rows:
        speech.add(*row)
        if speech.size() > most:
            yield speech
    if speech.coded:
        yield speech
