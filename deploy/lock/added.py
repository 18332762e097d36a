"""Leaves in lock files what they add to another: `python deploy/lock/added.py LOCK FILE…`; they are installed with it.

Exit status 1 where a package has another version in LOCK: the two could not stand in one environment.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PINNED: Final = re.compile(r"([A-Za-z0-9_.-]+)==([^\s;\\]+)(?: ; (.*?))?(?: \\)?\n")


def pins(lock: str) -> Iterator[tuple[str, str, str | None, str]]:
    """Each package's name, version and marker, and all of its text: its hashes, and who asks for it."""
    for text in re.split(r"^(?=[^\s#])", lock, flags=re.MULTILINE)[1:]:
        found = _PINNED.match(text)
        if found is None:
            sys.exit(f"not pinned: {text}")
        yield found[1], found[2], found[3], text


def added(resolved: str, lock: str) -> str:
    """The packages of a resolution that the lock lacks, or has under another marker alone."""
    held = {(name, version, marker) for name, version, marker, _ in pins(lock)}
    versions = {name: {one for other, one, _ in held if other == name} for name, _, _ in held}
    kept = []
    for name, version, marker, text in pins(resolved):
        if version not in versions.get(name, {version}):
            sys.exit(f"{name} is {version} here, and {', '.join(sorted(versions[name]))} in the lock")
        if (name, version, marker) not in held:
            kept.append(text)
    return "".join(kept)


def main(lock: str, *files: str) -> None:
    """The command line; a file that has its additions alone is left as it is."""
    for file in map(Path, files):
        file.write_text(added(file.read_text(), Path(lock).read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
