"""A voice for what callers say: a program of this machine that speaks a text into a file."""

import re
import shlex
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from deploy.bench._calls.corpus import PlayedUtterance, together
from schemas.audio import Samples
from services.audio.files import read_file

_DOLLARS: Final = re.compile(r"\$([\d,]+(?:\.\d\d)?)")
_LOUDEST: Final = 0.5


def spoken(voice: str, text: str, customer: str) -> PlayedUtterance:
    """`text` in a voice: a command whose `{}` is the file to write, given the text on its standard input.

    Raises CalledProcessError, FileNotFoundError where the program fails or is not there.
    """
    words = _DOLLARS.sub(lambda sum_: f"{sum_[1].replace(',', '')} dollars", text)
    return together(words.replace("|", " "), ("en-US", customer, voice), [_said(voice, words)], 0.0)


@lru_cache(maxsize=512)
def _said(voice: str, words: str) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "said.wav"
        command = [part.replace("{}", str(file)) for part in shlex.split(voice)]
        subprocess.run(command, input=words, text=True, check=True, capture_output=True)
        samples = read_file(file.read_bytes())
    return (samples / max(1e-6, float(np.abs(samples).max())) * _LOUDEST).astype(np.float32)
