"""Fixtures every room may use."""

import gc
import lzma
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from unittest.mock import patch

import pytest
from httpx._config import create_ssl_context
from hypothesis import settings
from pydantic import TypeAdapter

import app  # noqa: F401 - first of all that loads numeric libraries: it tells them how many threads they have
from app.compiled import compile_rules
from services.answering import quote
from services.asr.decoder import Decoder
from services.asr.load import MODEL_FOLDER, ours
from tests.harness.stores import database_url, postgres_server, quick_folder, sqlite_store, sqlite_template, store

__all__ = ["database_url", "postgres_server", "quick_folder", "sqlite_store", "sqlite_template", "store"]

# A busy machine is no failure: how long an example takes is measured by the benchmarks.
# What is drawn is the same in every run: a change is judged by itself, and long searches are runs of their own.
settings.register_profile("tellerline", max_examples=50, deadline=None, derandomize=True, database=None)
settings.load_profile("tellerline")


WAITING = ("wire", "load", "contract", "ui", "deploy", "vllm", "embedded")
"""Folders of tests that wait, for clocks and sockets, more than they work."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Before there are workers: what they all read and compile first is made once, and lies there for them."""
    for module in ("app.main", "schemathesis.pytest.plugin", "hypothesis.stateful"):
        import_module(module)
    compile_rules()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several workers take a file each: by turns one that waits and one that works, first those that may be long.

    Where all waited, or all worked, at a time, cores would be idle now and overrun then; a long one that came last
    would have the others stand idle.
    """
    if not hasattr(config, "workerinput"):
        return
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    ordered = sorted(files.values(), key=lambda file: (any(map(_may_be_long, file)), len(file)), reverse=True)
    waiting, working = [file for file in ordered if _waits(file[0])], [file for file in ordered if not _waits(file[0])]
    turns: Iterable[list[pytest.Item] | None] = chain.from_iterable(zip_longest(working, waiting))
    items[:] = chain.from_iterable(filter(None, turns))


def _may_be_long(item: pytest.Item) -> bool:
    """Whether a test was given more time than others have."""
    return item.get_closest_marker("timeout") is not None


def _waits(item: pytest.Item) -> bool:
    return item.path.relative_to(Path(__file__).parent).parts[0] in WAITING


gc.disable()  # what is imported and collected stays: to go through it as it grows takes a fifth of the time


def pytest_collection_finish() -> None:
    """A collection that went through all of that would stop each clock for a second."""
    gc.freeze()
    gc.enable()
    gc.collect()
    gc.set_threshold(20_000, 20, 20)  # of what tests make little goes round in circles


@pytest.fixture(scope="session", autouse=True)
def _made_once() -> Iterator[None]:
    """What each application makes of the same files is made once a process, not by each test that composes one:
    the bundled recogniser, and weights unpacked; the documents' index; the certificates that clients trust; and how
    values of routes are read, which takes half of the time in which an application is composed.
    """
    retriever = lru_cache(maxsize=4)(quote.Retriever)
    with (
        patch("lzma.decompress", lru_cache(maxsize=8)(lzma.decompress)),
        patch("services.asr.load.ours", _bundled_once(ours)),
        patch("services.answering.quote.Retriever", lambda passages: retriever(tuple(passages))),
        patch("httpx._transports.default.create_ssl_context", lru_cache(maxsize=8)(create_ssl_context)),
        patch("fastapi._compat.v2.TypeAdapter", _adapters_once()),
    ):
        yield


def _bundled_once(opened: Callable[..., dict[str, Decoder]]) -> Callable[..., dict[str, Decoder]]:
    """Opens decoders anew of any folder but the bundled one: tests tear and change theirs."""
    kept = lru_cache(maxsize=4)(opened)

    def decoders(folder: Path, workers: int, device: str) -> dict[str, Decoder]:
        return dict((kept if folder == MODEL_FOLDER else opened)(folder, workers, device))

    return decoders


def _adapters_once() -> Callable[..., TypeAdapter[object]]:
    """Makes a type's adapter once, by all that the type says of itself: there are two for each value of a route."""
    kept: dict[str, TypeAdapter[object]] = {}

    def adapter(read: object, *, config: object) -> TypeAdapter[object]:
        said = f"{read!r} {config!r}"
        if "<locals>" in said or " at 0x" in said:  # of another test another, by the same name
            return TypeAdapter(read, config=config)
        return kept.get(said) or kept.setdefault(said, TypeAdapter(read, config=config))

    return adapter


@pytest.fixture(autouse=True)
def _text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gateways of tests are without a voice, also where the extra is installed: tests of speech make their own."""
    monkeypatch.setenv("TELLERLINE_SPEECH", "none")
