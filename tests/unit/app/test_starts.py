"""What only the start finds out ends it in one line that names the setting, or the file, before anybody can call."""

import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from app import cli
from app.composition import ears
from app.serve import serve
from app.settings import read_settings
from schemas.errors import ConfigInvalid, TellerlineError
from services.observability.metrics import Metrics
from tests.fakes.recognizer import FakeRecognizer

Prepare = Callable[[Path], dict[str, str]]


def _state_in_the_way(here: Path) -> dict[str, str]:
    return {"TELLERLINE_STATE_DIR": "/proc/nothing"}


def _folder_for_a_spool(here: Path) -> dict[str, str]:
    (here / "var/audit.0.spool").mkdir(parents=True)
    return {}


def _folder_for_a_key(here: Path) -> dict[str, str]:
    (here / "var/keys/confirmation_key").mkdir(parents=True)
    return {}


def _documents(text: bytes) -> Prepare:
    def prepare(here: Path) -> dict[str, str]:
        (here / "documents/en").mkdir(parents=True)
        (here / "documents/en/fees.yaml").write_bytes(text)
        return {"TELLERLINE_KNOWLEDGE_DIR": str(here / "documents")}

    return prepare


FAULTS: dict[str, tuple[Prepare, list[str]]] = {
    "a state folder that can't be made": (_state_in_the_way, ["TELLERLINE_STATE_DIR", "/proc/nothing"]),
    "a folder where a spool belongs": (_folder_for_a_spool, ["TELLERLINE_STATE_DIR", "audit.0.spool"]),
    "a folder where a key belongs": (_folder_for_a_key, ["TELLERLINE_STATE_DIR", "confirmation_key"]),
    "documents that are no YAML": (_documents(b"a: [1,\n b"), ["fees.yaml", "line 1"]),
    "documents of another form": (_documents(b"only text"), ["fees.yaml", "write an object"]),
    "documents that are no text": (_documents(b"\xff\xfe\x00"), ["fees.yaml"]),
    "a host that there is not": (lambda _: {"TELLERLINE_HOST": "none.invalid"}, ["TELLERLINE_HOST", "none.invalid"]),
}


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("app.serve.configure", lambda *_: None)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("TELLERLINE_PORT", str(free.getsockname()[1]))


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_one_line_that_names_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    prepare, says = FAULTS[name]
    for variable, value in prepare(tmp_path).items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(TellerlineError) as caught:
        await serve(FakeRecognizer(""))
    assert cli._told(caught.value).exit_code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert not [part for part in says if part not in line], line


@pytest.mark.parametrize("name", ["TELLERLINE_PORT", "TELLERLINE_AUDIOSOCKET"])
async def test_a_place_that_is_taken_is_told_before_anything_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        monkeypatch.setenv(name, str(port) if name == "TELLERLINE_PORT" else f"127.0.0.1:{port}")
        with pytest.raises(ConfigInvalid, match=f"{name}.*{port}.*in use"):
            await serve(FakeRecognizer(""))
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"TELLERLINE_PORT=8080\nNAME=\xff\xfe\n", "UTF-8"),
        (b"TELLERLINE_PORT=8080\nthis is = no 'setting\n", "line 2"),
    ],
)
def test_an_env_file_that_would_go_unheard_is_told(tmp_path: Path, text: bytes, said: str) -> None:
    (tmp_path / ".env").write_bytes(text)
    with pytest.raises(ConfigInvalid, match=rf"^\.env.*{said}"):
        read_settings()


def test_an_env_file_with_an_editors_mark_is_heard_from_its_first_name_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TELLERLINE_PORT")
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfTELLERLINE_PORT=8099\n")
    assert read_settings().port == 8099


async def test_a_recogniser_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    none = read_settings(ASR_MODEL="/none")
    async with AsyncExitStack() as stack:
        for loading in (None, ears.begun(none)):
            with pytest.raises(ConfigInvalid, match=r"ASR_MODEL=/none .*TELLERLINE_ASR_DEVICE=cpu"):
                await ears.recognizer(stack, none, Metrics(), loading)

        def refuses(*_: object, **__: object) -> None:
            raise ValueError("Invalid CPU ISA: NONE")

        monkeypatch.setattr(ears, "load", refuses)
        with pytest.raises(ConfigInvalid, match="Invalid CPU ISA"):
            await ears.recognizer(stack, read_settings(), Metrics())


async def test_a_recogniser_that_was_begun_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[FakeRecognizer] = []

    def load(*_: object, **__: object) -> FakeRecognizer:
        loaded.append(FakeRecognizer(""))
        return loaded[0]

    monkeypatch.setattr(ears, "load", load)
    async with AsyncExitStack() as stack:
        begun = ears.begun(read_settings())
        assert await ears.recognizer(stack, read_settings(), Metrics(), begun) is loaded[0]
    assert len(loaded) == 1


def test_the_databases_usual_spelling_of_encryption_is_its_drivers() -> None:
    assert read_settings(database_url="postgresql://u@h/d?sslmode=require").database.endswith("/d?ssl=require")
