"""Templates: syntax, condensing, and what the loader refuses."""

from functools import partial

import pytest

from schemas.errors import RulesInvalid
from services.understanding.fast.patterns.automaton import Automaton, key
from services.understanding.fast.patterns.lattice import Edge, Lattice, Trie
from services.understanding.fast.patterns.template import Rules, parse, phrases
from services.understanding.fast.patterns.tree import atoms
from services.understanding.fast.patterns.units import splitter


def rules(**texts: str) -> Rules:
    return Rules(texts, splitter(spaced=True))


def accepts(template: str, sentence: str, **texts: str) -> bool:
    tree = rules(**texts).condensed(template)
    symbols = {"": 0, "money": 1}
    for atom in atoms(tree):
        symbols.setdefault(key(atom), len(symbols))
    trie = Trie()
    for atom in atoms(tree):
        for phrase in atom.phrases:
            trie.add(phrase, symbols[key(atom)])
    trie.add(("um",), 0)
    words = tuple(sentence.split())

    def scan(at: int) -> list[Edge]:
        return [Edge(at, at + 1, 1)] if words[at] == "$" else []

    automaton = Automaton([tree], symbols)
    lattice = Lattice(len(words), partial(trie.steps, words), scan)
    sets = automaton.run(lattice, 0, len(words), automaton.first_of([0]))
    return automaton.accepted(sets[-1]) == [0]


@pytest.mark.parametrize(
    ("sentence", "taken"),
    [
        ("send $", True),
        ("please send $", True),
        ("please um send um $ um", True),
        ("please please send $", True),
        ("send me $", False),
        ("send", False),
        ("send $ now", True),
        ("send $ right now", True),
        ("send $ right", False),
        ("um", False),
        ("", False),
    ],
)
def test_sentences(sentence: str, taken: bool) -> None:
    assert accepts("(please|kindly)* send {money} [<soon>]", sentence, soon="now|right now") is taken


@pytest.mark.parametrize("template", ["(a", "a)", "[a", "<none>", "a | (b", "{UPPER}", "<self>"])
def test_malformed_templates_are_refused(template: str) -> None:
    with pytest.raises(RulesInvalid):
        parse(template, rules(self="a <self>"))


def test_phrase_lists_hold_words_only() -> None:
    assert phrases("(a|b) [c]", rules()) == (("a",), ("a", "c"), ("b",), ("b", "c"))
    for bad in ("a {money}", "a*"):
        with pytest.raises(RulesInvalid):
            phrases(bad, rules())


def test_words_condense_to_one_atom() -> None:
    tree = rules().condensed("(a|b c) [d] {money}")
    assert len(atoms(tree)) == 2
