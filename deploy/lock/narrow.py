"""Keeps of a lock's hashes those of files that Linux installs.

`python deploy/lock/narrow.py PYTHONS FILE…`, PYTHONS as in `>=3.11`. Resolvers write down every file of a release,
wheels of all systems and years among them: seven of eight hashes would never be looked at, and everybody clones them.
uv tells which remain; sources always do. Of npm's locks (`package-lock.json`) stays what `npm ci` installs by.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_PINNED: Final = re.compile(r"^[A-Za-z0-9_.-]+==[^\n\\]+", re.MULTILINE)
_HASH: Final = re.compile(r" \\\n    --hash=sha256:([0-9a-f]{64})")
_SHOWN: Final = {"license", "funding", "engines", "deprecated"}
_PROJECT: Final = """[project]
name = "lock"
version = "0"
requires-python = "{pythons}"
dependencies = {pins}
[tool.uv]
environments = ["sys_platform == 'linux'"]
"""


def installed(lock: str, pythons: str) -> set[str]:
    """The hashes that uv keeps of a lock's packages, for Linux and these Pythons."""
    pins = [pin.strip() for pin in _PINNED.findall(lock)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pyproject.toml").write_text(_PROJECT.format(pythons=pythons, pins=pins))
        subprocess.run(["uv", "lock", "--quiet"], cwd=folder, check=True)
        export = ["uv", "export", "--quiet", "--frozen", "--no-emit-project"]
        said = subprocess.run(export, cwd=folder, check=True, capture_output=True, text=True).stdout
    return set(_HASH.findall(said))


def narrow(lock: str, kept: set[str]) -> str:
    """The lock without the other hashes; a package that has none of these, as Windows' own, keeps all."""

    def package(text: str) -> str:
        if kept.isdisjoint(_HASH.findall(text)):
            return text
        return _HASH.sub(lambda found: found[0] if found[1] in kept else "", text)

    return "".join(map(package, re.split(r"^(?=[^\s#])", lock, flags=re.MULTILINE)))


def bare(lock: str) -> str:
    """A lock of npm without what is only shown of its packages."""
    whole = json.loads(lock)
    for package in whole["packages"].values():
        for name in _SHOWN & package.keys():
            del package[name]
    return json.dumps(whole, indent=0) + "\n"


def main(pythons: str, *files: str) -> None:
    """The command line; each file is written anew, in its place."""
    for file in map(Path, files):
        lock = file.read_text()
        file.write_text(bare(lock) if file.suffix == ".json" else narrow(lock, installed(lock, pythons)))


if __name__ == "__main__":
    main(*sys.argv[1:])
