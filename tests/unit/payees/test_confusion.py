"""The confusion set, in small: what it promises, and what the search makes of it."""

import subprocess
import sys
from subprocess import PIPE

import pytest

from deploy.bench._payees.dice import Dice
from deploy.bench._payees.sample import setting
from deploy.bench._payees.stock import book, stock
from deploy.bench.payees import run, summary
from schemas.ids import EN_US, JA_JP
from services.payees import PayeeIndex


def test_the_halves_share_no_names():
    development, acceptance = stock("development").names, stock("acceptance").names
    for culture in development.keys() & acceptance.keys():
        for here, there in zip(development[culture], acceptance[culture], strict=True):
            assert not set(here) & set(there)


def test_a_seed_fixes_everything():
    made = [setting("development", "ja", payees=50, calls=20, strangers=0.2, parts=0.2, dice=Dice(3)) for _ in range(2)]
    assert made[0] == made[1]


def test_strangers_are_strangers():
    made = setting("acceptance", "ja", payees=50, calls=40, strangers=1.0, parts=0.0, dice=Dice(4))
    assert all(call.meant is None for call in made.calls)


def test_no_hash_seed_changes_what_a_seed_fixes():
    """A process with a seed of its own makes what this one does, whose seed is drawn."""
    asked = (
        "from deploy.bench._payees.sample import setting; from deploy.bench._payees.dice import Dice;"
        "print(setting('acceptance', 'en', payees=50, calls=20, strangers=0.5, parts=0.2, dice=Dice(3)))"
    )
    made = subprocess.run(
        [sys.executable, "-c", asked], env={"PYTHONHASHSEED": "1"}, check=True, stdout=PIPE, text=True
    )
    here = setting("acceptance", "en", payees=50, calls=20, strangers=0.5, parts=0.2, dice=Dice(3))
    assert made.stdout == f"{here}\n"


@pytest.mark.parametrize(("language", "locale"), [("en", EN_US), ("ja", JA_JP)])
def test_misheard_names_are_found_and_seldom_chosen_wrongly(language, locale):
    made = setting("acceptance", language, payees=400, calls=30, strangers=0.25, parts=0.0, dice=Dice(8))
    figures = summary([run(made, locale)])
    assert figures["recall_at_1"] >= 0.86
    assert figures["recall_at_3"] >= 0.90
    assert figures["coverage_auto"] >= 0.3
    assert figures["wrong_choices"] <= 1  # one call in eight is by the double of a payee


def test_every_exact_name_of_a_large_book_is_clear_or_a_twin():
    made = setting("development", "en", payees=800, calls=1, strangers=0.0, parts=0.0, dice=Dice(9))
    index = PayeeIndex.build(book(made.persons))
    outcomes = [index.lookup([person.said], EN_US) for person in made.persons[:150]]
    assert all(
        match.candidates[0].display_name.lower() == p.said for match, p in zip(outcomes, made.persons, strict=False)
    )
    assert sum(match.choice is None for match in outcomes) <= 3
