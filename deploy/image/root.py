"""A root file system for an environment: `python deploy/image/root.py ROOT`, run by the environment that it is for.

It holds the interpreter with its library, what the loader finds for it and for the environment, certificates, time
zones and names of users, and no more: no shell and no package manager, neither for us nor for whoever breaks in. The
environment itself is copied beside it. Of each Debian package that a file came from, its status and licence come along,
for those who look for what is vulnerable. Exit status 1 where a library is nowhere to be found.
"""

import compileall
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

STDLIB: Final = Path(sysconfig.get_path("stdlib"))
UNREAD: Final = (
    "test", "idlelib", "tkinter", "turtledemo", "turtle.py", "ensurepip", "venv", "lib2to3", "pydoc_data",
    "site-packages", "dist-packages", "config-*", "__pycache__",
    "nis.*", "_dbm.*", "_gdbm.*", "readline.*", "_curses*", "_tkinter.*",
)  # fmt: skip
"""Of the interpreter's library: what is for those who write programs, and modules that bring libraries of terminals,
files and a directory of old, or of windows, which the slim base lacks."""
TAKEN: Final = (
    "/etc/ssl", "/usr/lib/ssl", "/usr/share/ca-certificates", "/usr/share/zoneinfo",
    "/etc/debian_version", "/etc/os-release", "/etc/ld.so.cache",
)  # fmt: skip
ELSEWHERE: Final = ("right", "posix", "private")
"""Zones with leap seconds, zones a second time, and keys."""
WRITTEN: Final = {
    "etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n{name}:x:{uid}:{uid}::/nonexistent:/sbin/nologin\n",
    "etc/group": "root:x:0:\n{name}:x:{uid}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
NAME, UID = "tellerline", 10001
_MAGIC: Final = b"\x7fELF"


class Missing(Exception):
    """What a program asks for is not there."""


def build(root: Path, environment: Path) -> None:
    """Lay all of it in `root`. Raises Missing."""
    for name in ("dev", "proc", "sys", "tmp", "etc"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name in ("bin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            (root / name).symlink_to(Path("/", name).readlink())
    _library(root)
    programs = [Path(sys.executable).resolve(), *_programs(_inside(STDLIB, root)), *_programs(environment)]
    files = {
        *_hops(environment / "bin/python"),
        *_libraries(programs),
        *(hop for one in TAKEN for hop in _hops(Path(one))),
    }
    taken = {_copied(path, root) for path in files if environment not in path.parents}
    for name, text in WRITTEN.items():
        (root / name).write_text(text.format(name=NAME, uid=UID), encoding="utf-8")
    _packages({*taken, *STDLIB.glob("*.py")}, root)


def _library(root: Path) -> None:
    """The interpreter's library, compiled: it runs where nothing can be written, and would be at each start."""
    made = _inside(STDLIB, root)
    shutil.copytree(STDLIB, made, ignore=shutil.ignore_patterns(*UNREAD), ignore_dangling_symlinks=True)
    if not compileall.compile_dir(made, quiet=1, legacy=True, stripdir=str(root), prependdir="/"):
        raise Missing(f"{STDLIB}: not all of it compiles")
    for source in made.rglob("*.py"):
        source.unlink()


def _programs(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*.so*"):
        if path.is_file() and path.open("rb").read(len(_MAGIC)) == _MAGIC:
            yield path


def _libraries(programs: Iterable[Path]) -> set[Path]:
    """What the loader finds for them. Raises Missing."""
    said = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False).stdout
    if lost := set(re.findall(r"(\S+) => not found", said)):
        raise Missing(f"the loader does not find {', '.join(sorted(lost))}")
    return {
        hop for path in set(re.findall(r"(?:=> |^\s+)(/\S+) \(0x", said, re.MULTILINE)) for hop in _hops(Path(path))
    }


def _hops(path: Path) -> Iterator[Path]:
    """A path, and each that it is a link to."""
    yield path
    while path.is_symlink():
        path = path.parent / path.readlink()
        yield path


def _inside(path: Path, root: Path) -> Path:
    """Where a path of this machine is in `root`, folders that are links followed."""
    return root / str(path.parent.resolve() / path.name).lstrip("/")


def _copied(path: Path, root: Path) -> Path:
    """Copy a file, a link or a folder; where it really is."""
    made = _inside(path, root)
    made.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.copytree(path, made, symlinks=True, ignore=shutil.ignore_patterns(*ELSEWHERE), dirs_exist_ok=True)
    elif not made.is_symlink():
        shutil.copy2(path, made, follow_symlinks=False)
    return path.parent.resolve() / path.name


def _packages(taken: Iterable[Path], root: Path) -> None:
    """Status and licence of the packages that files came from."""
    status = root / "var/lib/dpkg/status.d"
    status.mkdir(parents=True)
    for name in packages(_told("--search", *(known for path in taken for known in _known(path)))):
        (status / name).write_text(_told("--status", name), encoding="utf-8")
        licence = Path("/usr/share/doc", name, "copyright")
        if licence.exists():
            _copied(licence, root)


def packages(said: str) -> set[str]:
    """The packages that dpkg names files of: `a:amd64, b: /a/file`."""
    named = [line.partition(": /")[0] for line in said.splitlines() if not line.startswith("diversion ")]
    return {one.partition(":")[0] for names in named for one in names.split(", ")}


def _known(path: Path) -> tuple[str, str]:
    """A path as a package may know it: some are from before /lib became /usr/lib."""
    return str(path), str(path).removeprefix("/usr")


def _told(*asked: str) -> str:
    """What dpkg says; of files that no package brought it says nothing."""
    return subprocess.run(["dpkg-query", *asked], capture_output=True, text=True, check=False).stdout


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    try:
        build(Path(arguments[0]), Path(sys.prefix))
    except Missing as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
