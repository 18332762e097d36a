"""Templates: syntax, condensing, and what the loader refuses."""

import pytest

from schemas.errors import RulesInvalid
from services.understanding.fast.automaton import Automaton, key
from services.understanding.fast.lattice import Edge, Lattice, Trie
from services.understanding.fast.template import Atom, Node, Rep, Rules, Seq, condense, parse, phrases
from services.understanding.fast.units import splitter


def rules(**texts: str) -> Rules:
    return Rules(texts, splitter(spaced=True))


def atoms(node: Node) -> list[Atom]:
    match node:
        case Atom():
            return [node]
        case Rep(part):
            return atoms(part)
        case Seq(parts):
            return [a for p in parts for a in atoms(p)]
        case _:
            return [a for p in node.options for a in atoms(p)]


def accepts(template: str, sentence: str, **texts: str) -> bool:
    tree = condense(parse(template, rules(**texts)))
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
        return trie.scan(words, at) + ([Edge(at, at + 1, 1)] if words[at] == "$" else [])

    automaton = Automaton([tree], symbols)
    lattice = Lattice(len(words), scan)
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
    tree = condense(parse("(a|b c) [d] {money}", rules()))
    assert len(atoms(tree)) == 2
