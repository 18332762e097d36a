"""The rules loader: what it accepts, and what it refuses at start."""

from pathlib import Path

import pytest

import rules.load as loader
from rules.load import RuleFile
from rules.locales import joiner, locale_rules, space
from schemas.errors import RulesInvalid, UnsupportedLocale
from schemas.ids import Locale, language


class Words(RuleFile):
    words: list[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(loader, "ROOT", tmp_path)
    loader._load.cache_clear()
    loader.load_table.cache_clear()
    return tmp_path


def test_yaml_words_stay_words(folder: Path) -> None:
    (folder / "w.yaml").write_text("id: w\nversion: 3\nwords: [yes, no, on, off]\n")
    loaded = loader.load("w.yaml", Words)
    assert loaded.words == ["yes", "no", "on", "off"]
    assert loaded.rule == "w@3"


@pytest.mark.parametrize(
    "text",
    [
        "id: w\nwords: []\n",  # no version
        "id: w\nversion: 1\nwords: []\nextra: 1\n",
        "id: w\nid: v\nversion: 1\nwords: []\n",  # the same key twice
        "id: w\nversion: 1\nwords: [",
        "- 1\n",
    ],
)
def test_what_does_not_validate_is_refused(folder: Path, text: str) -> None:
    (folder / "w.yaml").write_text(text)
    with pytest.raises(RulesInvalid):
        loader.load("w.yaml", Words)


@pytest.mark.parametrize("path", ["absent.yaml", "../outside.yaml", "/etc/passwd"])
def test_only_files_inside_the_folder_are_read(folder: Path, path: str) -> None:
    (folder.parent / "outside.yaml").write_text("id: w\nversion: 1\nwords: []\n")
    with pytest.raises(RulesInvalid):
        loader.load(path, Words)


def test_tables_have_an_identity_and_rows(folder: Path) -> None:
    (folder / "t.tsv").write_text("#t@2\n\n# a remark\na\tb\nc\td\n")
    assert loader.load_table("t.tsv") == ("t@2", (("a", "b"), ("c", "d")))
    (folder / "u.tsv").write_text("a\tb\n")
    with pytest.raises(RulesInvalid):
        loader.load_table("u.tsv")


def test_the_hash_changes_with_any_byte(folder: Path) -> None:
    (folder / "w.yaml").write_text("id: w\nversion: 1\nwords: [a]\n")
    loader.ruleset_hash.cache_clear()
    before = loader.ruleset_hash()
    (folder / "w.yaml").write_text("id: w\nversion: 1\nwords: [b]\n")
    loader.ruleset_hash.cache_clear()
    assert loader.ruleset_hash() != before
    loader.ruleset_hash.cache_clear()


def test_a_language_joins_words_as_each_of_its_locales_does() -> None:
    assert (joiner("en"), joiner("ja")) == (" ", "")
    for locale in loader.locales():
        assert joiner(language(locale)) == space(locale)
    with pytest.raises(UnsupportedLocale):
        joiner("xx")


def test_locales() -> None:
    assert {"en-US", "en-GB", "ja-JP"} <= set(loader.locales())
    assert locale_rules(Locale("ja-JP")).currency == "JPY"
    for strange in ("xx-XX", "../en-US", ""):
        with pytest.raises(UnsupportedLocale):
            locale_rules(Locale(strange))
