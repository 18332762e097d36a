"""The shape of rules/consent: what is an answer, to what, in which words; and its phrases, compiled."""

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from rules.load import RuleFile
from schemas.consent import Awaited
from schemas.errors import RulesInvalid
from schemas.intent import Intent
from services.understanding.fast.patterns.automaton import Automaton, key, literals
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.template import Rules, phrases
from services.understanding.fast.patterns.tree import Node, atoms
from services.understanding.fast.patterns.units import splitter

_TYPED: Final = ("amount", "payee", "source", "target", "card", "bill", "day")
_VALUE: Final = "value"
"""An amount, a day, an own account or card, whether or not it is what waits: of no answer that agrees."""


class ActRule(BaseModel):
    """One kind of answer: what it is, to what, and in which words.

    `agrees`: it is a yes. `questions`: a written question mark behind it takes nothing away. `typed`: nobody says it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    act: Intent
    say: tuple[str, ...]
    to: tuple[Awaited, ...] = tuple(Awaited)
    agrees: bool = False
    questions: bool = False
    typed: bool = False


class DoubtMargins(BaseModel):
    """How far behind the best a hypothesis may be to be heard, in natural-log odds.

    Any, one that holds a no, and one that is no clear yes.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    other: float
    contrary: float
    vague: float


class ConsentFile(RuleFile):
    """Lists of words, rules made of them, and the answers.

    `leads` may come before something else that is meant, `objections` begin a refusal, `open` ends no answer, the lists
    that are `contrary` hold a no.
    """

    spaced: bool
    lists: dict[str, tuple[str, ...]]
    rules: dict[str, str]
    acts: tuple[ActRule, ...]
    leads: str
    objections: str
    open: frozenset[str]
    contrary: tuple[str, ...]
    doubt: DoubtMargins
    alike: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class ConsentAutomaton:
    """The answers in the order of the file's acts, then what leads up to something else, then objections."""

    symbols: dict[str, int]
    trie: Trie
    automaton: Automaton


def compiled(file: ConsentFile) -> ConsentAutomaton:
    """All of a language's answers. Raises RulesInvalid."""
    wording = Rules(file.rules, splitter(file.spaced))
    says = ["|".join(act.say) for act in file.acts]
    trees = [wording.condensed(text) for text in (*says, file.leads, file.objections)]
    symbols = _symbols_of(trees, file)
    return ConsentAutomaton(symbols, _phrases_of(trees, symbols, file), Automaton(trees, symbols))


def _symbols_of(trees: list[Node], file: ConsentFile) -> dict[str, int]:
    """The number of every symbol of the templates and the lists. Raises RulesInvalid."""
    for act, tree in zip(file.acts, trees, strict=False):
        if act.agrees and any(not atom.literal and key(atom) == _VALUE for atom in atoms(tree)):
            raise RulesInvalid(f"{file.id}.{act.id} agrees to what may differ from what waits")
    names = ("", *_TYPED, _VALUE, *file.lists)
    symbols = {name: number for number, name in enumerate(names)}
    for atom in (atom for tree in trees for atom in atoms(tree)):
        if not atom.literal and key(atom) not in symbols:
            raise RulesInvalid(f"no list or typed token {{{key(atom)}}} in {file.id}")
        symbols.setdefault(key(atom), len(symbols))
    return symbols


def _phrases_of(trees: list[Node], symbols: dict[str, int], file: ConsentFile) -> Trie:
    """What the units of an answer may be read as. Raises RulesInvalid."""
    trie, plain = Trie(), Rules({}, splitter(file.spaced))
    for name, said in literals(trees).items():
        for phrase in said:
            trie.add(phrase if file.spaced else tuple("".join(phrase)), symbols[name])
    for name, entries in file.lists.items():
        for phrase in (phrase for text in entries for phrase in phrases(text, plain)):
            if not phrase:
                raise RulesInvalid(f"an empty phrase in {file.id}: {name}")
            trie.add(phrase if file.spaced else tuple("".join(phrase)), symbols[name])
    return trie
