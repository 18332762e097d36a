"""deploy/newcomers.md, "Add an intent": what callers want and nobody understood, by templates alone."""

import shutil
from pathlib import Path

from tests.recipes.home import ROOT, play, rules_copied

WRITTEN = ROOT / "tests/data/recipes/intent"


def test_words_that_meant_nothing_reach_a_person(tmp_path: Path) -> None:
    home, calls = rules_copied(tmp_path), WRITTEN / "conversations"
    assert len(play(home, calls)) > 1, "they are understood already: the recipe shows nothing"
    shutil.copy(WRITTEN / "bereavement.yaml", home / "rules" / "intents" / "en")
    assert play(home, calls) == ["6 turns"]
