"""The tree's own Python files, for tests of the house itself."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def python_files(*folders: str) -> Iterator[Path]:
    """Those of folders, or of a module, in order; what environments and packages of others hold is none of ours."""
    for folder in folders:
        target = ROOT / folder
        found = target.rglob("*.py") if target.is_dir() else target.parent.glob(target.name + ".py")
        yield from sorted(path for path in found if not {".venv", "node_modules", "build"} & set(path.parts))
