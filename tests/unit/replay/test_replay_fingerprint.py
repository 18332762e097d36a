"""What a kept decode was made by: each part of it, changed, makes another recogniser; other files do not."""

import ast
import os
import shutil
import sys
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

OURS = [path for name in code() if (path := made._source(name))]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what a decode depends on, with a small checkpoint; other files beside it."""
    root = Path(made.__file__).parents[4]
    for path in (*OURS, *made._rules()):
        (tmp_path / path.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(root))
    for other in ("rules/replies/order.yaml", "services/pipeline.py", "model/en/ctc.npz"):
        (tmp_path / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / other).write_bytes(b"1")
    (tmp_path / "cpuinfo").write_text("model name : Zen\nflags : avx2\n\nmodel name : Zen\n")
    monkeypatch.setattr(made, "_OURS", {name: tmp_path / name for name in made._OURS})
    monkeypatch.setattr(made, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(made, "unchanged", lambda: True)
    return tmp_path


def now(tree: Path, **settings: str) -> str:
    return fingerprint(Settings.model_validate(settings), tree / "model")


def test_every_file_of_it_counts_and_no_other_does(tree: Path) -> None:
    before = now(tree)
    others = {tree / "rules/replies/order.yaml", tree / "services/pipeline.py"}
    files = [path for path in tree.rglob("*") if path.is_file()]
    assert len(files) > 35
    for path in files:
        was = path.read_bytes()
        path.write_bytes(b"flags : avx512f\n" if path.name == "cpuinfo" else was + b"\n")
        assert (now(tree) == before) == (path in others), path
        path.write_bytes(was)
    guards = tree / "services/asr/guards.py"
    guards.write_text(guards.read_text() + "\ndef late():\n    from services import pipeline\n")
    imported = now(tree)
    (tree / "services/pipeline.py").write_text("from . import louder\n")
    assert len({before, imported, now(tree)}) == 3


def test_libraries_processor_settings_and_variables_count(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [now(tree), now(tree, asr_model="base")]
    monkeypatch.setattr(made, "_library", lambda name: f"{name} 9.9")
    found.append(now(tree))
    for variable in ("CT2_FORCE_CPU_ISA", "OPENBLAS_CORETYPE"):
        monkeypatch.setenv(variable, "another")
        found.append(now(tree))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(99)))
    found.append(now(tree))
    monkeypatch.setattr(made.platform, "libc_ver", lambda: ("musl", "1"))
    found.append(now(tree))
    monkeypatch.setattr(sys, "version", "3.99")
    found.append(now(tree))
    assert len({*found}) == len(found) == 8


def test_what_can_not_be_known_is_nothing(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert now(tree, asr_device="cuda") == "", "a card is not the same from one time to the next"
    assert fingerprint(Settings(), tree / "nowhere") == ""
    monkeypatch.setattr(made, "unchanged", lambda: False)
    assert now(tree) == "", "a file that changed since is not what runs"


def test_all_libraries_that_it_imports_are_named() -> None:
    found = set()
    for node in (node for path in OURS for node in ast.walk(ast.parse(path.read_bytes()))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    others = found - {*sys.stdlib_module_names, *made._OURS, "yaml"}
    assert {name.replace("_", "-") for name in others} | {"pyyaml"} == {*LIBRARIES}
    assert made._library("numpy").startswith(np.__version__)


@pytest.mark.skipif(not (MODEL_FOLDER / "en").is_dir(), reason="no bundled recogniser in this checkout")
async def test_a_decode_reads_no_other_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    read, names = loading.read, list[str]()
    monkeypatch.setattr(loading, "read", lambda path: names.append(path) or read(path))  # type: ignore[func-returns-value]
    for cached in (loading._load, loading.load_table, locale_rules):
        cached.cache_clear()
    recognizer = load(workers=1)
    sound = np.random.default_rng(2).normal(0, 0.1, 32_000).astype(np.float32)
    for locale in (EN_US, JA_JP):
        for decode in Decode:
            heard = await recognizer.transcribe(sound, locale, decode, wordings=lambda _: ("a", "b"))
            await recognizer.onward(sound, heard)
    await recognizer.close()
    assert "asr" in {name.partition("/")[0] for name in names} <= {*RULES}
