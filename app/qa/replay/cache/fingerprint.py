"""What a decode depends on beside what it is given: weights, code, rules, libraries, processor, settings."""

import ast
import hashlib
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import resolve_name
from pathlib import Path
from typing import Final

import rules
import schemas
import services
from app.qa.replay.provenance import file_hash, weights
from app.settings import Settings
from rules.kept import unchanged

ROOT_MODULE: Final = "services.asr.load"
LIBRARIES: Final = (
    "ctranslate2",
    "faster-whisper",
    "numpy",
    "orjson",
    "pydantic",
    "pydantic-core",
    "pyyaml",
    "tokenizers",
)
"""All that the recogniser's code imports of others; a test holds this whole."""
RULES: Final = ("asr", "locales")
"""Folders of rules that a decode reads; a test holds this whole."""
TUNING: Final = (
    "BLIS_",
    "CT2_",
    "GLIBC_",
    "GOTO_",
    "KMP_",
    "MKL_",
    "NPY_",
    "NUMPY_",
    "OMP_",
    "OPENBLAS_",
    "TOKENIZERS_",
)
"""Beginnings of variables by which libraries choose their kernels and threads."""
_OURS: Final = {module.__name__: Path(module.__path__[0]) for module in (rules, schemas, services)}
_CPUINFO: Final = Path("/proc/cpuinfo")
_PROCESSOR: Final = ("vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags", "Features")


def fingerprint(settings: Settings, folder: Path) -> str:
    """Of a recogniser whose weights lie in `folder`; empty where what this process runs by can't be told for sure.

    A card's results are not the same from one time to the next, and files that changed since this process began are not
    what it has read.
    """
    if settings.asr_device != "cpu" or not folder.is_dir() or not unchanged():
        return ""
    lines = "".join(f"{name}\0{value}\n" for name, value in sorted(parts(settings, folder).items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def parts(settings: Settings, folder: Path) -> dict[str, str]:
    """Everything that it is made of, by name."""
    return {
        "model": f"{settings.asr_model} on {settings.asr_device}",
        **weights(folder),
        **{f"code/{name}": file_hash(path) for name, path in code().items()},
        **{f"rules/{path.relative_to(_OURS['rules'])}": file_hash(path) for path in _rules()},
        **{f"library/{name}": _library(name) for name in LIBRARIES},
        "python": f"{sys.version} {platform.libc_ver()}",
        "processor": processor(),
        **{f"variable/{name}": value for name, value in _variables() if name.startswith(TUNING)},
    }


def code() -> dict[str, Path]:
    """Our modules that the recogniser imports, itself and all packages among them; and this one's."""
    found = {path.name: path for path in Path(__file__).parent.glob("*.py")}
    todo = [ROOT_MODULE]
    while todo:
        name = todo.pop()
        path = _source(name)
        if path is not None and name not in found:
            found[name] = path
            todo += [name.rpartition(".")[0], *_ours_in(path, name)]
    return found


def _source(module: str) -> Path | None:
    """The file of a module of ours; None of any other name."""
    top, *rest = module.split(".")
    if top not in _OURS:
        return None
    place = _OURS[top].joinpath(*rest)
    return next((p for p in (place / "__init__.py", place.with_suffix(".py")) if p.is_file()), None)


def _ours_in(path: Path, module: str) -> list[str]:
    """What a file imports, wherever in it; of `from a import b` both, for b may be a module."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            of = resolve_name("." * node.level + (node.module or ""), package) if node.level else str(node.module)
            found += [of, *(f"{of}.{alias.name}" for alias in node.names)]
    return found


def _rules() -> list[Path]:
    folders = [_OURS["rules"] / name for name in RULES]
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def _variables() -> list[tuple[str, str]]:
    return list(os.environ.items())  # noqa: TID251 - settings of others' libraries


def _library(name: str) -> str:
    """Its version, and what hashes its files had when they were installed: wheels of one version differ."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return "absent"
    record = found.read_text("RECORD") or ""
    return f"{found.version} {hashlib.sha256(record.encode()).hexdigest()}"


def processor() -> str:
    """Its instructions, by which kernels are chosen, and how many cores this process may use."""
    import ctranslate2  # a process that forks others has not loaded it

    text = _CPUINFO.read_text(encoding="utf-8") if _CPUINFO.is_file() else platform.processor()
    told = [line for line in text.partition("\n\n")[0].splitlines() if line.partition(":")[0].strip() in _PROCESSOR]
    kinds = sorted(ctranslate2.get_supported_compute_types("cpu"))
    return " ".join([platform.machine(), *told, *kinds, str(len(os.sched_getaffinity(0)))])
