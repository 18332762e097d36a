"""What a kept decode was made by: each part of it, changed, makes another recogniser; other files do not."""

import ast
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.qa.replay.cache import fingerprint as made
from app.qa.replay.cache.fingerprint import LIBRARIES, RULES, code, fingerprint
from app.settings import Settings
from rules import load as loading
from rules.locales import locale_rules
from schemas.ids import EN_US, JA_JP
from schemas.transcript import Decode
from services.asr.load import MODEL_FOLDER, load

ROOT = Path(made.__file__).parents[4]
CALLED = {"yaml": "pyyaml"}
"""Packages that are not called as what they are installed as."""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what a decode depends on, with a small checkpoint; other rules beside it."""
    for name in code():
        if not name.endswith(".py"):
            path = made._source(name)
            assert path is not None
            (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / path.relative_to(ROOT))
    for folder in RULES:
        shutil.copytree(ROOT / "rules" / folder, tmp_path / "rules" / folder)
    for other in ("rules/replies/en/order.yaml", "rules/intents.py", "services/pipeline.py", "model/en/ctc.npz"):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_bytes(b"1")
    monkeypatch.setattr(made, "_OURS", {name: tmp_path / name for name in made._OURS})
    monkeypatch.setattr(made, "_CPUINFO", tmp_path / "cpuinfo")
    (tmp_path / "cpuinfo").write_text("processor : 0\nmodel name : Zen\nflags : avx2\ncpu MHz : 1\n\nprocessor : 1\n")
    monkeypatch.setattr(made, "unchanged", lambda: True)
    return tmp_path


def now(tree: Path, **settings: str) -> str:
    return fingerprint(Settings.model_validate(settings), tree / "model")


def test_every_file_of_it_counts_and_no_other_does(tree: Path) -> None:
    before = now(tree)
    assert before
    assert now(tree) == before
    others = {tree / "rules/replies/en/order.yaml", tree / "rules/intents.py", tree / "services/pipeline.py"}
    files = [path for path in tree.rglob("*") if path.is_file() and path.name != "cpuinfo"]
    assert len(files) > 35
    for path in files:
        was = path.read_bytes()
        path.write_bytes(was + b"\n")
        assert (now(tree) == before) == (path in others), path
        path.write_bytes(was)
    (tree / "rules/asr/fr.yaml").touch()
    assert now(tree) != before


def test_a_module_that_is_imported_from_now_on_counts(tree: Path) -> None:
    guards = tree / "services/asr/guards.py"
    guards.write_text(guards.read_text() + "\ndef late():\n    from services.hushed import loud\n")
    hushed = tree / "services/hushed/loud.py"
    hushed.parent.mkdir()
    (hushed.parent / "__init__.py").touch()
    hushed.write_text("from . import louder\n")
    hushed.with_name("louder.py").write_text("1")
    before = now(tree)
    hushed.with_name("louder.py").write_text("2")
    assert now(tree) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda patch, _: patch.setattr(made, "_library", lambda name: f"{name} 9.9"),
        lambda patch, _: patch.setenv("CT2_FORCE_CPU_ISA", "GENERIC"),
        lambda patch, _: patch.setenv("OPENBLAS_CORETYPE", "Prescott"),
        lambda patch, _: patch.setattr(sys, "version", "3.99"),
        lambda patch, _: patch.setattr(made.platform, "libc_ver", lambda: ("musl", "1")),
        lambda patch, _: patch.setattr(os, "sched_getaffinity", lambda _: set(range(99))),
        lambda _, tree: (tree / "cpuinfo").write_text("model name : Zen\nflags : avx2 avx512f\n"),
        lambda _, tree: (tree / "cpuinfo").write_text("model name : Xeon\nflags : avx2\n"),
    ],
)
def test_libraries_processor_and_variables_count(
    change: Callable[[pytest.MonkeyPatch, Path], object], tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = now(tree)
    change(monkeypatch, tree)
    assert now(tree) != before


def test_settings_count_and_what_can_not_be_known_is_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert now(tree) != now(tree, asr_model="base")
    assert now(tree, asr_device="cuda") == "", "a card is not the same from one time to the next"
    assert fingerprint(Settings(), tree / "nowhere") == ""
    monkeypatch.setattr(made, "unchanged", lambda: False)
    assert now(tree) == "", "a file that changed since is not what runs"


def test_all_libraries_that_it_imports_are_named() -> None:
    found = set()
    for name, path in code().items():
        if name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    others = {name for name in found if name not in sys.stdlib_module_names and name not in made._OURS}
    assert {CALLED.get(name, name.replace("_", "-")) for name in others} == {*LIBRARIES}
    assert made._library("numpy").startswith(np.__version__)


@pytest.mark.skipif(not (MODEL_FOLDER / "en").is_dir(), reason="no bundled recogniser in this checkout")
async def test_a_decode_reads_no_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    read, names = loading.read, list[str]()

    def noted(path: str) -> bytes:
        names.append(path)
        return read(path)

    monkeypatch.setattr(loading, "read", noted)
    for cached in (loading._load, loading.load_table, locale_rules):
        cached.cache_clear()
    recognizer = load(workers=1)
    sound = np.random.default_rng(2).normal(0, 0.1, 32_000).astype(np.float32)
    for locale in (EN_US, JA_JP):
        for decode in Decode:
            heard = await recognizer.transcribe(sound, locale, decode, wordings=lambda _: ("a", "b"))
            await recognizer.onward(sound, heard)
    await recognizer.close()
    assert {name.partition("/")[0] for name in names} == {*RULES}
