"""The rules as data: nothing in them is unused, unreadable or a way for an amount to be guessed."""

import re
from pathlib import Path

import pytest

from rules.load import ROOT, load
from schemas.intent import Intent
from services.understanding.fast.consent.consent_file import ConsentFile
from services.understanding.fast.ruleset.grammar import grammar, intent_files
from services.understanding.fast.ruleset.lexicon import TYPED
from services.understanding.fast.ruleset.rules import WordsFile

LANGUAGES = ["en", "ja"]
MONEY = {Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT}


def files(language: str) -> list[Path]:
    return sorted((ROOT / "intents" / language).glob("*.yaml"))


def text_of(language: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in files(language))


def words_of(language: str) -> WordsFile:
    return load(f"intents/{language}/words.yaml", WordsFile)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_and_rule_is_used(language: str) -> None:
    text, words = text_of(language), words_of(language)
    by_code = {"sends", "balance_cue", "bill_cue", "billed", "asks_else"} | {
        "card_lost",
        "card_found",
        "card_stop",
        "card_back",
        "beside_parts",
        "family",
        "card_opens",
        "introduces",
        "reach",
        "goodbye",
        "history_cue",
        "asks_else_listed",
        "help_cue",
        "drop_cue",
        "deed",
        "drops_else",
        "goodbye_cue",
    }
    unused = [n for n in words.lists if n not in by_code and not re.search(rf"\{{{n}(:[a-z_]+)?\}}", text)]
    unused += [name for name in words.rules if f"<{name}>" not in text]
    assert unused == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_amounts_come_from_typed_tokens_only(language: str) -> None:
    for kind, slot in re.findall(r"\{([a-z_]+):(amount|at_least|at_most)\}", text_of(language)):
        assert kind in {"money", "amount", "number"}, (kind, slot)
    assert {"amount", "money"} <= set(TYPED)


@pytest.mark.parametrize("language", LANGUAGES)
def test_money_is_guarded_by_vetoes(language: str) -> None:
    for body in intent_files(language):
        for template in body.templates:
            if (template.intent or body.intent) in MONEY:
                vetoes = set(body.vetoes if template.vetoes is None else template.vetoes)
                asks = {"question", "reported"} if template.rule_class != "weak" else set()  # weak: offered
                assert {"negation", "conditional", "recurring", *asks} <= vetoes, template.id


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_grammar_compiles_within_its_bounds(language: str) -> None:
    made = grammar(language)
    assert 500 < made.automaton.size < 19_000  # a place costs 3 KiB, and 0.05 ms of the start
    answers = {act.act for act in load(f"consent/{language}.yaml", ConsentFile).acts}
    assert {t.intent for t in made.templates} == set(Intent) - answers - {Intent.WAIT, Intent.FAREWELL}, (
        "an answer is made by the grammar of consent alone"
    )
    assert answers == {
        Intent.CONFIRM,
        Intent.DENY,
        Intent.CANCEL,
        Intent.REPEAT,
        Intent.HELP,
        Intent.WAIT,
        Intent.FAREWELL,
    }
    assert all(re.fullmatch(r"intents\.[a-z]{2}\.[a-z_]+\.[a-z_0-9]+@\d+", t.rule) for t in made.templates)


def test_languages_know_the_same_vetoes_and_templates_for_acts() -> None:
    english, japanese = grammar("en"), grammar("ja")
    assert {"question", "negation", "past", "conditional", "reported", "recurring"} <= set(english.guard_names)
    assert {"question", "negation", "past", "conditional", "reported", "recurring"} <= set(japanese.guard_names)
