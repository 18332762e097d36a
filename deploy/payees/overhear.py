"""Build deploy/bench/_payees/heard_en{,_acceptance}.tsv.xz: what the bundled recogniser makes of names.

    python -m deploy.payees.overhear development 3000 NOISE    (2,000 of acceptance; a folder of noise)

Names of a half of the stock are said at the end of a command by offline voices, over clean lines, telephones and noise
(as deploy/corpus does), and heard by the recogniser in services/asr/model. A name of `respellings.tsv` is spoken as it
is respelled: an English engine reads it wrongly. Every second acceptance name has a voice never trained on.
"""

import lzma
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
from rich.progress import track

from deploy.bench._payees.dice import Dice
from deploy.bench._payees.stock import Person, people
from deploy.corpus.make import CONDITIONS, Samples, distort, speak
from rules.load import load_table
from services.asr.load import BUNDLED, decoders

FOLDER = Path(__file__).parents[2] / "deploy/bench/_payees"
TARGETS = {"development": FOLDER / "heard_en.tsv.xz", "acceptance": FOLDER / "heard_en_acceptance.tsv.xz"}
VOICES = {
    "development": (
        *("pico:en-US", "pico:en-GB", "flite:slt", "flite:awb", "flite:rms", "rhvoice:clb", "rhvoice:alan"),
        *("rhvoice:slt", "espeak:en-us", "espeak:en-gb", "rhvoice:lyubov", "rhvoice:evgeniy-eng", "flite:kal16"),
    ),
    "acceptance": ("rhvoice:bdl", "rhvoice:bdl", "festival:ked_diphone", "pico:en-US", "rhvoice:alan", "flite:rms"),
}
COMMANDS = ("send fifty dollars to", "pay twenty pounds to", "transfer two hundred dollars to", "give ten pounds to")
UNUSED = Path()
"""Where Japanese voices would be."""


@lru_cache(maxsize=1)
def respelled() -> dict[str, str]:
    """Name → how it is written for an English reader."""
    return {name: sayings[0].replace(" ", "") for name, *sayings in load_table("payees/respellings.tsv")[1]}


def said(half: str, count: int, noise: Path) -> Iterator[tuple[Person, Samples]]:
    """Everybody's name at the end of a command, through a line."""
    dice, draw = Dice(9, len(half)), np.random.default_rng([9, len(half)])
    for person in track(people(dice, half, "en", count), half):
        voice, condition = dice.one(VOICES[half]), dice.one(CONDITIONS)
        name = " ".join(respelled().get(part, part) for part in person.parts)
        try:
            sound = speak(voice, f"{dice.one(COMMANDS)} {name}.", UNUSED)
        except (CalledProcessError, IndexError):
            continue
        yield person, distort(sound, condition, noise, draw)


def main(half: str, count: int, noise: Path) -> None:
    """Speak, hear, and write a line for every name whose command was heard."""
    decoder = decoders(BUNDLED)["en"]
    rows = [
        f"#bench.payees.{TARGETS[half].name.partition('.')[0]}@9",
        "# A name spoken by an offline voice, and what the bundled recogniser heard, best first.",
    ]
    for person, sound in said(half, count, noise):
        heard = [each.text.partition(" to ")[2] for each in decoder.decode(sound, final=True).hypotheses]
        if heard and heard[0]:
            rows.append(f"{person.said}\t{'|'.join(dict.fromkeys(filter(None, heard)))}")
    TARGETS[half].write_bytes(lzma.compress(("\n".join(rows) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
