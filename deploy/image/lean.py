"""Takes out of an environment what a service never reads: `python deploy/image/lean.py SITE_PACKAGES`.

Exit status 1 where something of it is not there: then a package has changed, and what is said of it here has to be
looked at again.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

NEEDLESS: Final = {
    "onnxruntime/capi/libonnxruntime.so.*": "for programs in C; Python's module has all of it a second time",
    "onnxruntime/transformers": "rewrites models",
    "onnxruntime/quantization": "rewrites models",
    "onnxruntime/tools": "rewrites models",
    "hf_xet*": "downloads for huggingface_hub, which does without it; the image is offline",
    "**/tests": "of packages",
    "**/*.pyi": "for type checkers",
    "**/*.py[xd]": "for compilers",
    "**/*.h": "for compilers",
}
"""Files and folders by pattern, and what they are for."""
OURS: Final = ("app", "rules", "schemas", "services")
"""Keep their sources: compiled rules are held against them, migrations are read as such, faults are told by line."""


class Changed(Exception):
    """A package has not what it had."""


def thin(packages: Path) -> None:
    """Take out what is needless, and of every other's module the source. Raises Changed."""
    for pattern, purpose in NEEDLESS.items():
        found = list(packages.glob(pattern))
        if not found:
            raise Changed(f"{pattern} ({purpose}): nothing of it is there")
        for path in found:
            _remove(path)
    folders = [path for path in packages.iterdir() if path.is_dir() and path.name not in (*OURS, "__pycache__")]
    if not sum(compiled_alone(folder) for folder in (*folders, packages)):
        raise Changed("no module was compiled as it was installed")


def compiled_alone(folder: Path) -> int:
    """Put what was compiled in a module's place, which Python loads as well; how many. One not compiled is left."""
    count = 0
    for source in _modules(folder):
        made = source.with_name("__pycache__") / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
        if made.exists():
            made.replace(source.with_suffix(".pyc"))
            source.unlink()
            count += 1
    for left in list(folder.rglob("__pycache__")):
        if not any(left.iterdir()):
            left.rmdir()
    return count


def _modules(folder: Path) -> Iterator[Path]:
    """Those of a package; of the folder that packages lie in its own alone."""
    yield from list(folder.rglob("*.py") if folder.name != "site-packages" else folder.glob("*.py"))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)  # gone with a folder that matched as well


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 1:
        sys.exit(__doc__)
    try:
        thin(Path(arguments[0]))
    except Changed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
