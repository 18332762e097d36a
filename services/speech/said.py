"""What repeats, as it was said once and for all: the sound of clauses in a file that comes with the voice.

It lies beside the voices, and is trusted as they are: whoever may write there may choose another voice as well.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from schemas.ids import Locale
from services.disk import write_whole
from services.speech.engine import Sound

SAID: Final = "said.npz"
"""The file's name among the voices."""
_TORN: Final = (OSError, EOFError, ValueError, LookupError, TypeError, zipfile.BadZipFile)

SaidClauses = Mapping[tuple[Locale, str], tuple[Sound, ...]]
"""The sound of clauses in their locale's own voice."""


def write_said(file: Path, version: str, said: SaidClauses) -> None:
    """Keep what this version of an engine said; the file is there whole or not at all."""
    rows = [
        [locale, words, sounds[0].rate, *(len(each.pcm) for each in sounds)] for (locale, words), sounds in said.items()
    ]
    told = json.dumps({"version": version, "clauses": rows}).encode()
    pcm = b"".join(each.pcm for sounds in said.values() for each in sounds)
    np.savez(into := io.BytesIO(), told=np.frombuffer(told, np.uint8), pcm=np.frombuffer(pcm, np.uint8))
    write_whole(file, into.getvalue())


def read_said(file: Path, version: str) -> SaidClauses:
    """What this very version said; nothing where there is no such file, or it is torn or another's."""
    said: dict[tuple[Locale, str], tuple[Sound, ...]] = {}
    with suppress(*_TORN), file.open("rb") as opened, np.load(opened, allow_pickle=False) as held:
        told, pcm, at = json.loads(held["told"].tobytes()), held["pcm"].tobytes(), 0
        for locale, words, rate, *sizes in told["clauses"] if told["version"] == version else ():
            ends = np.cumsum([at, *sizes]).tolist()
            said[Locale(locale), words] = tuple(Sound(pcm[a:b], rate) for a, b in pairwise(ends))
            at = ends[-1]
        if at != (len(pcm) if said else 0):
            raise ValueError("torn")
        return said
    return {}
