"""deploy/newcomers.md, "Add a language": Indonesian as data alone, up to a transfer that its caller confirmed."""

import shutil
from pathlib import Path

import pytest

from tests.recipes.home import ROOT, play, rules_copied

WRITTEN = ROOT / "tests/data/recipes/language"
COPIED = (
    "intents/en/cue_phrases.yaml",
    "consent/en.yaml",
    "dialogue/aftermath_en.yaml",
    "endpointing/en.yaml",
    "replies/en",
)
"""What a language may begin with as a copy of another's, to be translated line by line."""
TRANSLATED = {
    "consent/id.yaml": {"  agree:\n": "  agree:\n    - (ya|iya|betul|benar|setuju)\n"},
    "replies/id/forms.yaml": {"currencies:\n": 'currencies:\n  IDR: [rupiah, rupiah, "", ""]\n'},
    "intents/confidence.yaml": {
        "\ncontested:\n": "\ncontested:\n  id: {odds: 3.0, tokens_a_character: 0.33, figures: 0.8}\n"
    },
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose rules know Indonesian."""
    home = rules_copied(tmp_path_factory.mktemp("home"))
    for path in COPIED:
        copied(home / "rules", path)
    shutil.copytree(WRITTEN, home / "rules", dirs_exist_ok=True, ignore=shutil.ignore_patterns("conversations"))
    for path, words in TRANSLATED.items():
        file = home / "rules" / path
        text = file.read_text(encoding="utf-8")
        for before, after in words.items():
            assert before in text
            text = text.replace(before, after, 1)
        file.write_text(text, encoding="utf-8")
    return home


def copied(rules: Path, path: str) -> None:
    source, target = rules / path, rules / path.replace("/en", "/id").replace("_en", "_id")
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copy(source, target)


def test_a_call_in_a_new_language_goes_through(home: Path) -> None:
    assert play(home, WRITTEN / "conversations") == ["4 turns"]
