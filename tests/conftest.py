"""Fixtures every room may use."""

import gc
import lzma
from collections.abc import Iterator
from functools import lru_cache
from unittest.mock import patch

import pytest
from hypothesis import settings

from tests.harness.stores import database_url, postgres_server, quick_folder, sqlite_store, sqlite_template, store

__all__ = ["database_url", "postgres_server", "quick_folder", "sqlite_store", "sqlite_template", "store"]

# A busy machine is no failure: how long an example takes is measured by the benchmarks.
# What is drawn is the same in every run: a change is judged by itself, and long searches are runs of their own.
settings.register_profile("tellerline", deadline=None, derandomize=True, database=None)
settings.load_profile("tellerline")


def pytest_collection_finish() -> None:
    """What is imported and collected stays: a collection that went through it would stop each clock for a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _unpacked_once() -> Iterator[None]:
    """The recogniser's weights are unpacked once a process, not by each test that loads them."""
    with patch("lzma.decompress", lru_cache(maxsize=8)(lzma.decompress)):
        yield


@pytest.fixture(autouse=True)
def _text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gateways of tests are without a voice, also where the extra is installed: tests of speech make their own."""
    monkeypatch.setenv("TELLERLINE_SPEECH", "none")
