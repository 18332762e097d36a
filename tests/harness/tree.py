"""The tree's own Python files, for tests of the house itself."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def python_files(*folders: str) -> Iterator[Path]:
    """Those of folders, or of a module, in order; what environments and packages of others hold is none of ours."""
    for folder in folders:
        target = ROOT / folder
        found = target.rglob("*.py") if target.is_dir() else target.parent.glob(target.name + ".py")
        yield from sorted(path for path in found if not {".venv", "node_modules", "build"} & set(path.parts))


@dataclass(frozen=True)
class Named:
    """What a module imports, by module; the classes in it; and its functions with their lines."""

    imports: dict[str, frozenset[str]]
    classes: tuple[str, ...]
    functions: tuple[tuple[str, int], ...]


@cache
def named(path: Path) -> Named:
    """What a file names, read once for all tests of a process."""
    imports: dict[str, frozenset[str]] = {}
    classes, functions = [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                imports |= {alias.name: imports.get(alias.name, frozenset()) for alias in names}
            case ast.ImportFrom(str(module), names):
                imports[module] = imports.get(module, frozenset()) | {alias.name for alias in names}
            case ast.ClassDef():
                classes.append(node.name)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                functions.append((node.name, (node.end_lineno or 0) - node.lineno))
    return Named(imports, tuple(classes), tuple(functions))
