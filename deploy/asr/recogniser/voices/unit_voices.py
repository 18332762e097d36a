"""Voices of people: `recogniser units --source SPEECH/human --out corpus/units --count 40000`.

Whoever was recorded for half an hour and more can say every sentence of the grammar: in pieces of what they said,
joined in the middle of phones. Synthesisers that have read as much are cut up likewise, since voices made of joined
pieces are heard worse than smooth ones. The phones of a text are flite's, whose own speech begins the model that finds
them in recordings, or eSpeak's; OUT keeps where they are (`--count 0` finds them and stops). Half of the speakers have
an accent: they say some phones as others; all of them say Japanese, too, as foreigners do. Writes shards as
voices/synthesise.py does; finished ones are skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import soundfile
import torch

from recogniser.distort.frontend import MELS, RATE, log_mel
from recogniser.texts import accents, kana, phonemes
from recogniser.voices import engines as voices
from recogniser.voices import foreign, pressed, shards
from recogniser.voices import people as human
from recogniser.voices.segment import FRAME_S, Model, Phone
from recogniser.voices.synthesise import LONGEST_S, SHARD, in_kana, sentence
from recogniser.voices.units import LONGEST, PhonedRecording, UnitVoice
from recogniser.voices.workers import shared

PEOPLE = human.TRAIN_ONLY
SYNTHESISERS = (
    "pico:en-US", "pico:en-GB", "rhvoice:alan", "rhvoice:clb", "flite:rms", "flite:awb", "flite:slt",
    "flite:kal16", "espeak:en",
)  # fmt: skip
SPEAKERS = (*PEOPLE * 5, *(foreign.READER,) * 4, *SYNTHESISERS)
"""Drawn from evenly: more than half of it people, one of whom read Russian."""
MOST_PHONES = (2, 3, LONGEST)
"""Of a piece, drawn for each utterance: pairs of phones take no word as it was said."""
READERS = ("", "", "", "en-us", "en-gb", "en-029")
"""Who tells the phones: flite, or an accent of eSpeak's."""
ACCENTED = 0.55
"""Share of utterances."""
DEAR = "kokoro:"
"""Whose speech is kept beside the phones in it."""
MOST = 1000
"""Recordings of a speaker: an hour."""
CEPSTRA = 13
ROUNDS = 4
RANGE = 6.0
"""Powers of ten below the loudest band that count."""

_COSINES = np.cos(np.pi * np.arange(CEPSTRA)[:, None] * (np.arange(MELS) + 0.5) / MELS).astype(np.float32)


def features(sound: np.ndarray) -> np.ndarray:
    """(frames, 26) cepstra and their slopes, with the recording's own mean and spread taken out."""
    mel = log_mel(torch.from_numpy(np.ascontiguousarray(sound, np.float32))[None])[0].numpy()
    cepstra = np.maximum(mel, mel.max() - RANGE) @ _COSINES.T / 20
    cepstra = (cepstra - cepstra.mean(0)) / (cepstra.std(0) + 1e-3)
    slopes = np.zeros_like(cepstra)
    slopes[2:-2] = (cepstra[4:] - cepstra[:-4]) / 2
    return np.concatenate([cepstra, slopes], 1)


def labelled(text: str) -> tuple[np.ndarray, list[Phone]]:
    """Sound of a text, by flite, and the phones in it."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        ends = [part.partition(":") for part in phonemes.told(text, "-psdur", file.name)]
        sound = soundfile.read(file.name, dtype="float32")[0]
    phones: list[Phone] = []
    for name, _, end in ends:
        phones.append(Phone(name, phones[-1].end if phones else 0.0, float(end)))
    return sound, phones


def phones_of(text: str, lang: str, rng: random.Random) -> list[str]:
    """The phones of a text, Japanese in kana, as somebody says them, with a pause before and behind."""
    if lang == "ja":
        return kana.phones(text)
    reader = rng.choice(READERS)
    phones = phonemes.by_espeak(text, reader) if reader else phonemes.by_flite(text)
    return accents.drawn(rng)(phones) if rng.random() < ACCENTED else phones


def rows_of(source: Path, name: str, most: int) -> list[dict[str, str]]:
    """What a speaker read; a synthesiser reads what the first of the people read."""
    listed = [json.loads(line) for line in (source / "metadata.jsonl").read_text(encoding="utf-8").splitlines()]
    read = name if name in PEOPLE else PEOPLE[0]
    return [row for row in listed if row["file"].startswith(f"{read}/")][:most]


def sounds_of(source: Path, kept: Path, name: str, most: int) -> list[np.ndarray]:
    """A person's recordings, or a synthesiser's speech, which is kept where it is dear."""
    folder = kept / name.replace(":", "_")
    if name.startswith(DEAR) and not folder.is_dir():
        keep(folder, [spoken_by(name, row["text"]) for row in rows_of(source, name, most)])
    if folder.is_dir():
        return [human.load(path) for path in sorted(folder.iterdir())[:most]]
    rows = rows_of(source, name, most)
    if name in PEOPLE:
        return [human.load(source / row["file"]) for row in rows]
    return [spoken_by(name, row["text"]) for row in rows]


def spoken_by(name: str, text: str) -> np.ndarray:
    """A text by a synthesiser; "kokoro:en:7" is the seventh of many speakers."""
    engine, speaker, *number = name.split(":")
    settings = voices.VoiceSettings(tract=float(number[0])) if number else voices.VoiceSettings()
    return voices.speak(f"{engine}:{speaker}", text, settings)


def keep(folder: Path, sounds: list[np.ndarray]) -> None:
    """Recordings as Ogg Opus, in one move."""
    partial = folder.with_name(f"{folder.name}.tmp")
    partial.mkdir(parents=True, exist_ok=True)
    for number, sound in enumerate(sounds):
        (partial / f"{number:04d}.opus").write_bytes(pressed.to_opus(shards.written(sound)))
    partial.rename(folder)


def recordings(source: Path, kept: Path, name: str, most: int = MOST) -> list[PhonedRecording]:
    """A speaker's recordings, `most` at most, with the phones in them, which `kept` may have already."""
    torch.set_num_threads(1)
    sounds = sounds_of(source, kept, name, most)
    path = kept / f"{name.replace(':', '_')}.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    if len(known) < len(sounds):  # nobody looked, or for fewer recordings
        found = segmented(sounds, [row["text"] for row in rows_of(source, name, most)])
        known = [[(phone.name, round(phone.end / FRAME_S)) for phone in phones] for phones in found]
        path.write_text(json.dumps(known), encoding="utf-8")
    return [
        PhonedRecording(sound / (np.sqrt(np.square(sound).mean()) + 1e-6), restored(told), features(sound)[:, :CEPSTRA])
        for sound, told in zip(sounds, known[: len(sounds)], strict=True)
    ]


def segmented(sounds: list[np.ndarray], texts: list[str]) -> list[list[Phone]]:
    """The phones in a speaker's recordings of texts."""
    said = [labelled(text) for text in texts]
    heard = [
        (features(sound), [phone.name for phone in phones]) for sound, (_, phones) in zip(sounds, said, strict=True)
    ]
    model = Model.begun([(features(sound), phones) for sound, phones in said])
    for _ in range(ROUNDS):
        model = model.refitted(heard)
    return [model.segment(*known) for known in heard]


def restored(told: list[tuple[str, int]]) -> list[Phone]:
    """Phones of their names and the frames in which they end; they follow one another without gaps."""
    begins = [0, *(end for _, end in told)]
    return [Phone(name, begin * FRAME_S, end * FRAME_S) for begin, (name, end) in zip(begins, told, strict=False)]


def said(made: dict[str, UnitVoice], lang: str, seed: int, index: int) -> shards.Spoken | None:
    """One utterance; None where a voice lacks a phone of it, flite fails, or it is too long."""
    rng = random.Random(f"units:{seed}:{index}")
    category, text, spoken = sentence(lang, rng, practice=True)
    if lang == "ja":
        category, text, spoken = in_kana(category, text, spoken, rng)
    name = rng.choice([speaker for speaker in SPEAKERS if speaker in made])
    try:
        phones = phones_of(spoken, lang, rng)
        if name == foreign.READER:
            phones = accents.said(phones, foreign.lacking(rng))
        sound = made[name].say(phones, rng, rng.choice(MOST_PHONES))
    except (KeyError, OSError, subprocess.SubprocessError) as error:
        # One sentence that can't be said must not stop the run.
        print(f"{name}: {text!r}: {type(error).__name__} {error}", file=sys.stderr)
        return None
    if not 1600 <= len(sound) <= LONGEST_S * RATE:
        return None
    return shards.written(sound), text, f"units:{name}|{category}"


_MADE: dict[str, UnitVoice] = {}
"""Set before the workers are forked, which then share it."""


def shard(job: tuple[str, int, range, Path]) -> None:
    """One file of utterances, if it is not there yet."""
    lang, seed, items, target = job
    if not target.exists() and (rows := [row for index in items if (row := said(_MADE, lang, seed, index))]):
        shards.write(target, rows, lang)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--japanese", type=int, default=0, help="one shard in so many is Japanese")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    args = parser.parse_args()
    torch.set_num_threads(1)
    kept = args.out / "phones"
    kept.mkdir(parents=True, exist_ok=True)
    names = sorted(name for name in set(SPEAKERS) if name != foreign.READER or (kept / name).is_dir())
    found = shared(partial(recordings, args.source, kept), names, args.workers, "voice")
    _MADE.update((name, UnitVoice(heard)) for name, heard in zip(names, found, strict=True))
    plan = shards.planned(args.out, args.seed, range(args.count), SHARD)
    langs = ["ja" if args.japanese and (n + 1) % args.japanese == 0 else "en" for n in range(len(plan))]
    jobs = [(lang, args.seed, items, file) for lang, (items, file) in zip(langs, plan, strict=True)]
    shared(shard, jobs, args.workers)
