"""What was compiled of the rules is taken again only where it was made of the same."""

import pickle
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from rules import kept as keeping
from rules import load
from rules.kept import kept
from schemas.errors import RulesInvalid
from services.understanding.fast.consent import consent_file
from services.understanding.fast.consent.consent_file import ConsentFile
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.ruleset.grammar import compiled


class Maker:
    """Counts how often it had to make something."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> dict[str, int]:
        self.times += 1
        return {"made": 7}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rules of their own, as a process finds them that begins now."""
    (tmp_path / "w.yaml").write_text("id: w\nversion: 1\n")
    monkeypatch.setattr(load, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    begin_again(monkeypatch)
    return tmp_path


def begin_again(monkeypatch: pytest.MonkeyPatch) -> None:
    load.ruleset_hash.cache_clear()
    keeping._stamp.cache_clear()
    monkeypatch.setattr(keeping, "_AT_FIRST", keeping._state())


@pytest.fixture(autouse=True)
def _rules_of_the_house() -> Any:
    yield
    load.ruleset_hash.cache_clear()
    keeping._stamp.cache_clear()


def file_of(home: Path) -> Path:
    (found,) = (home / "__pycache__").iterdir()
    return found


@pytest.mark.usefixtures("home")
def test_it_is_made_once() -> None:
    make = Maker()
    assert [kept("x", make), kept("x", make)] == [{"made": 7}] * 2
    assert make.times == 1
    kept("y", make)
    assert make.times == 2


def _torn(file: bytes) -> bytes:
    return file[:-1]


def _turned(file: bytes) -> bytes:
    return file[:-1] + bytes([file[-1] ^ 1])


def _of_others(file: bytes) -> bytes:
    return bytes(32) + file[32:]


@pytest.mark.parametrize("change", [_torn, _turned, _of_others, lambda _: b"", lambda _: b"\x80\x05."])
def test_what_is_torn_or_strange_is_made_anew(home: Path, change: Callable[[bytes], bytes]) -> None:
    make = Maker()
    kept("x", make)
    whole = file_of(home).read_bytes()
    file_of(home).write_bytes(change(whole))
    assert kept("x", make) == {"made": 7}
    assert make.times == 2
    assert file_of(home).read_bytes() == whole


def test_other_rules_are_compiled_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    kept("x", make)
    (home / "w.yaml").write_text("id: w\nversion: 2\n")
    begin_again(monkeypatch)
    kept("x", make)
    kept("x", make)
    assert make.times == 2


def test_other_code_compiles_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    code = home.parent / "code.py"
    monkeypatch.setattr(keeping, "_code", lambda: [code])
    for text in ("1", "2", "2"):
        if not code.exists() or code.read_text() != text:
            code.write_text(text)
        begin_again(monkeypatch)
        kept("x", make)
    assert make.times == 2


def test_of_rules_that_changed_meanwhile_nothing_is_kept(home: Path) -> None:
    def make() -> dict[str, int]:
        (home / "w.yaml").write_text("id: w\nversion: 2\n")
        return {"made": 7}

    kept("x", make)
    assert not (home / "__pycache__").exists()


def test_where_nothing_may_be_written_it_is_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Maker()
    (home / "__pycache__").write_text("no folder")
    begin_again(monkeypatch)
    assert kept("x", make) == {"made": 7}
    (home / "__pycache__").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept("x", make)
    assert make.times == 2
    assert not (home / "__pycache__").exists()


@pytest.mark.usefixtures("home")
def test_a_name_leads_to_no_other_folder() -> None:
    with pytest.raises(RulesInvalid):
        kept("../x", Maker())


def same(one: Any, other: Any) -> bool:
    """Whether two things are alike in all that they hold."""
    if type(one) is not type(other):
        return False
    if is_dataclass(one):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if hasattr(one, "__dict__") and type(one).__eq__ is object.__eq__:
        mine, others = vars(one), vars(other)
        return same(*({name: value for name, value in each.items() if name != "_shared"} for each in (mine, others)))
    if isinstance(one, dict) and one != other:
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_grammar_that_was_kept_is_the_one_that_was_compiled(language: str) -> None:
    answers = consent_file.compiled(load.load(f"consent/{language}.yaml", ConsentFile))
    for made in (compiled(language), answers):
        again = pickle.loads(pickle.dumps(made))
        assert same(made, again)
    assert not same(answers.trie, Trie())


def test_a_link_to_a_rule_changes_none(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (tmp_path_factory.mktemp("elsewhere") / "w.yaml").hardlink_to(home / "w.yaml")
    assert keeping.unchanged()
    (home / "w.yaml").write_text("id: w\nversion: 2\n")
    assert not keeping.unchanged()
