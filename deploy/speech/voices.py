"""Lay the English voices where they are looked for: `python deploy/speech/voices.py FOLDER`, as `make speech` does.

They come in the source archive of the package `kokoro` (Apache-2.0), which FOLDER holds; none of its code is used.
"""

import sys
import tarfile
from pathlib import Path

from services.speech.kokoro import VOICE_DIR

_ENGLISH = ("af_", "am_", "bf_", "bm_")
_SIZE = 510 * 256 * 4


def lay(archive: Path, into: Path) -> int:
    """Copy every English voice; how many there are. Raises ValueError where one is not of a voice's size."""
    into.mkdir(parents=True, exist_ok=True)
    count = 0
    with tarfile.open(archive) as held:
        for member in held:
            name = Path(member.name).name
            if not (member.isfile() and name.startswith(_ENGLISH) and name.endswith(".bin")):
                continue
            if member.size != _SIZE:
                raise ValueError(f"{name} is no voice")
            found = held.extractfile(member)
            assert found is not None
            (into / name).write_bytes(found.read())
            count += 1
    return count


if __name__ == "__main__":
    [source] = Path(sys.argv[1]).glob("kokoro-*.tar.gz")
    print(f"{lay(source, VOICE_DIR)} voices in {VOICE_DIR}")
