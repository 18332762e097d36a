"""Make the test audio: `recogniser acceptance --out acceptance` (sentences and voices that training never had).

Writes one Ogg Opus file an utterance and manifest.jsonl {file, job, text, lang, voice, category, seen_voice}: 1,000
sentences and the ten digits of voices never heard, trained voices moved beyond what training did to them, and people
held out of training (`--human SPEECH/human`). `--share 0.05 --publishable` makes the small set kept with the code,
`--voice V --only amount,digits --count 200` so many more of these in one voice. What is there is not made again.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import multiprocessing
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
import soxr
from tqdm import tqdm

from recogniser.texts import english, english_numbers, japanese
from recogniser.voices import engines as voices
from recogniser.voices import people as human
from recogniser.voices.synthesise import sentence

HELD_OUT = {
    "mbrola:us-mbrola-1": ("en", 130), "mbrola:us-mbrola-3": ("en", 130), "mbrola:english-mb-en1": ("en", 130),
    "rhvoice:bdl": ("en", 160), "jtalk:nitech_jp_atr503_m001": ("ja", 220), "rhvoice:lyubov": ("en", 90),
    "rhvoice:evgeniy-eng": ("en", 90), "festival:ked_diphone": ("en", 50),
}  # fmt: skip
PUBLISHABLE = ("rhvoice:bdl", "festival:ked_diphone", "jtalk:nitech_jp_atr503_m001")
GRAMMARS = {"en": english.grammar, "ja": japanese.grammar}
MOVED_EACH = 10
DIGITS_FROM = 40
"""Voices with more sentences than this say the digits too."""
MOVES = (0.72, 1.38)
"""Pitch, formants and pace together; training moves pitch and formants together by 0.77 to 1.3 at most."""
LONGEST_S = 10.5


def speak(voice: str, text: str, settings: voices.VoiceSettings) -> np.ndarray:
    """As training's `speak`, with the mbrola voices that only tests may use."""
    if not voice.startswith("mbrola:"):
        return voices.speak(voice, text, settings)
    made = subprocess.run(
        ["espeak-ng", "-v", voice.split(":")[1], "-s", str(int(150 * settings.rate)), "--stdout", text],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    audio, rate = soundfile.read(io.BytesIO(made.stdout), dtype="float32")
    return voices.trim(soxr.resample(audio, rate, voices.RATE))


def unknown_categories(only: str, langs: set[str]) -> list[str]:
    """Those of the categories asked for that some language lacks."""
    named = set(filter(None, only.split(",")))
    return sorted({name for lang in langs for name in named - GRAMMARS[lang]().weights.keys()})


def jobs(share: float, *, publishable: bool) -> list[tuple[str, str, int, float | None]]:
    """(voice, language, count, factor by which the signal is moved or None)."""
    wanted = [
        (v, lang, max(1, round(n * share)), None)
        for v, (lang, n) in HELD_OUT.items()
        if not publishable or v in PUBLISHABLE
    ]
    if publishable:
        return wanted
    for lang, table in voices.TRAIN.items():
        own = [v for v in table if not v.startswith("kokoro:")]  # of which nobody is there to move
        wanted += [(v, lang, max(1, round(MOVED_EACH * share / 2)), move) for v in own for move in MOVES]
    return wanted


def digit(lang: str, number: int) -> tuple[str, str, str]:
    """(category, transcript, text for the engine) of a digit said alone."""
    if lang == "ja":
        return "digit", japanese.DIGITS[number], japanese.READINGS[number][0]
    word = english_numbers.ONES[number]
    return "digit", word, f"{word}."


def utterances(
    voice: str, lang: str, count: int, move: float | None, only: str = ""
) -> Iterator[tuple[dict[str, object], np.ndarray]]:
    """Sentences of the test share in one voice (of categories, if named), and each digit once in those never heard."""
    rng = random.Random(f"acceptance:{voice}:{move}{only}")
    wanted = [digit(lang, n) for n in range(10)] if move is None and count > DIGITS_FROM and not only else []
    while count or wanted:
        is_digit = not count
        category, text, spoken = wanted.pop() if is_digit else sentence(lang, rng, rng.random() < 0.75)
        if only and category not in only.split(","):
            continue
        try:
            audio = speak(voice, spoken, voices.draw(rng, 0.4))
        except (subprocess.SubprocessError, OSError, RuntimeError) as error:
            print(f"{voice}: {type(error).__name__}", file=sys.stderr)
            continue
        if not 2400 <= len(audio) <= LONGEST_S * voices.RATE:
            continue
        if move is not None:
            audio = soxr.resample(audio, voices.RATE, int(voices.RATE / move))
        label = voice if move is None else f"moved:{voice}"
        row = {"text": text, "lang": lang, "voice": label, "category": category, "seen_voice": move is not None}
        around = (rng.randint(1600, 6400), rng.randint(1600, 4800))
        yield row, np.pad(audio * (0.4 / float(np.abs(audio).max())), around)
        count -= not is_digit


def make(task: tuple[Path, str, str, int, float | None, str]) -> list[dict[str, object]]:
    """Write the utterances of one job; their lines of the manifest."""
    folder, voice, lang, count, move, only = task
    job = job_name(voice, move, only)
    return [written(folder, job, n, *u) for n, u in enumerate(utterances(voice, lang, count, move, only))]


def job_name(voice: str, move: float | None, only: str) -> str:
    """What the manifest calls a job."""
    return "-".join([voice, *([] if move is None else [str(move)]), *filter(None, [only.replace(",", "-")])])


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--publishable", action="store_true", help="only voices whose audio may be published")
    parser.add_argument("--voice", choices=HELD_OUT, help="this one alone")
    parser.add_argument("--only", default="", help="categories, comma-separated")
    parser.add_argument("--count", type=int, default=200, help="sentences of --voice")
    parser.add_argument("--human", type=Path, help="folder of people's recordings and metadata.jsonl")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--humans", type=int, default=10_000)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    manifest = args.out / "manifest.jsonl"
    done = (
        {json.loads(r)["job"] for r in manifest.read_text(encoding="utf-8").splitlines()}
        if manifest.exists()
        else set()
    )
    wanted = jobs(args.share, publishable=args.publishable)
    if args.voice:
        wanted = [(args.voice, HELD_OUT[args.voice][0], args.count, None)]
    if unknown := unknown_categories(args.only, {lang for _, lang, *_ in wanted}):
        parser.error(f"no such category: {', '.join(unknown)}")
    tasks = [(args.out, *job, args.only) for job in wanted if job_name(job[0], job[3], args.only) not in done]
    with manifest.open("a", encoding="utf-8") as out, multiprocessing.Pool(args.workers) as pool:
        people = [] if "human" in done else [real(args)]
        for rows in tqdm(itertools.chain(people, pool.imap(make, tasks)), total=len(people) + len(tasks), unit="voice"):
            out.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            out.flush()


def written(folder: Path, job: str, number: int, row: dict[str, object], audio: np.ndarray) -> dict[str, object]:
    """Write one utterance; its line of the manifest."""
    name = f"{'moved-' if row['seen_voice'] else ''}{job}-{number:03d}.ogg".replace(":", "_")
    soundfile.write(folder / name, audio, voices.RATE, format="OGG", subtype="OPUS")
    return {"file": name, "job": job, **row}


def real(args: argparse.Namespace) -> list[dict[str, object]]:
    """Held-out people."""
    if args.human is None:
        return []
    listed = [one for one in human.recordings(args.human) if one.held_out and one.text is not None]
    chosen = random.Random(5).sample(listed, min(args.humans, len(listed)))
    rows = []
    for number, one in enumerate(chosen):
        voice = f"human:{one.corpus}"
        row = {"text": one.text, "lang": one.lang, "voice": voice, "category": one.corpus, "seen_voice": False}
        rows.append(written(args.out, voice, number, row, human.load(one.file)) | {"job": "human"})
    return rows
