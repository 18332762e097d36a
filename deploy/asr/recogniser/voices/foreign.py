"""Voices of other languages say English or Japanese, in the sounds that they have (foreign.yaml).

Their accents are strong, and they are many: what offline voices lack most is speakers.

`recogniser reader --festival /usr/share/festival/voices/russian/msu_ru_nsh_clunits --out corpus/units/phones` takes out
what the one person among them read, with the phones in it, for voices/unit_voices.py.
"""

from __future__ import annotations

import argparse
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from recogniser.texts import kana, phonemes
from recogniser.voices.segment import FRAME_S, PAUSE

TABLE = Path(__file__).parent / "foreign.yaml"
READER = "msu_ru_nsh"
VOWELS = frozenset("aa ae ah ao aw ax ay eh er ey ih iy ow oy uh uw".split())
QUALITY = 0.9
"""Opus at about 25 kbit/s."""


@cache
def table() -> dict[str, Any]:
    """The file as it is."""
    read: dict[str, Any] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return read


def speaks(voice: str) -> bool:
    """Whether what a voice says must be respelled."""
    return voice in table()["voices"]


def is_told(voice: str) -> bool:
    """Whether a voice is told each word in phones (`in_syllables`)."""
    return table()["voices"].get(voice) in table()["told"]


def respelled(voice: str, text: str, accent: str) -> str:
    """English, as an accent of eSpeak's has it, or kana, as the voice must be told it; a text always one way."""
    rng = random.Random(f"{voice}|{text}")
    language = table()["voices"][voice]
    ways = {phone: rng.choice(str(said).split("|")) for phone, said in table()["languages"][language].items()}
    spelling = in_xsampa if language in table()["marked"] else in_syllables if is_told(voice) else in_letters
    out = ""
    for word in kana.words(text) if kana.written_in(text) else phonemes.words_by_espeak(text, accent):
        phones = [phone for phone in word if phone != PAUSE and ways[phone]]
        if phones:
            out += " " + spelling(phones, ways)
        if PAUSE in word and out and not out.endswith(","):
            out += ","
    return out.strip()


def in_letters(phones: list[str], ways: dict[str, str]) -> str:
    """A word in letters of the voice's language."""
    return "".join(ways[phone] for phone in phones)


def in_xsampa(phones: list[str], ways: dict[str, str]) -> str:
    """A word marked as phones, as pico takes them."""
    return f'<phoneme alphabet="xsampa" ph="{in_letters(phones, ways)}"/>'


def in_syllables(phones: list[str], ways: dict[str, str]) -> str:
    """A word's phones, "_" between them, "-" where a syllable begins: with the consonant before a vowel, if any."""
    vowels = [at for at, phone in enumerate(phones) if phone in VOWELS]
    begin = {at - (phones[at - 1] not in VOWELS) for at in vowels[1:]}
    joined = ("-" if at in begin else "_" if at else "" for at in range(len(phones)))
    return "".join(mark + ways[phone].replace(" ", "_") for mark, phone in zip(joined, phones, strict=True))


def lacking(rng: random.Random) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What the reader says for phones that he lacks."""
    ways = table()["reader"]["lacking"]
    return {tuple(phone.split()): tuple(rng.choice(said.split("|")).split()) for phone, said in ways.items()}


def read_phones(catalogue: str) -> dict[str, list[tuple[str, int]]]:
    """By recording, in turn: phones in flite's names, and the frames in which they end, of festival's catalogue."""
    names = table()["reader"]["phones"]
    found: dict[str, list[tuple[str, int]]] = {}
    for line in catalogue.split("EST_Header_End\n")[1].splitlines():
        unit, recording, _, _, end = line.split()
        found.setdefault(recording, []).append((names[unit.split("_")[0]], round(float(end) / FRAME_S)))
    return found


def main() -> None:
    """Command line."""
    import soundfile
    from tqdm import tqdm

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--festival", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    (args.out / READER).mkdir(parents=True, exist_ok=True)
    catalogue = next((args.festival / "festival" / "clunits").glob("*.catalogue"))
    found = read_phones(catalogue.read_text(encoding="ascii"))
    for name in tqdm(sorted(found), unit="recording"):
        sound, rate = soundfile.read(args.festival / "wav" / f"{name}.wav", dtype="float32")
        target = args.out / READER / f"{name}.opus"
        soundfile.write(target, sound, rate, format="OGG", subtype="OPUS", compression_level=QUALITY)
    (args.out / f"{READER}.json").write_text(json.dumps([found[name] for name in sorted(found)]), encoding="utf-8")
