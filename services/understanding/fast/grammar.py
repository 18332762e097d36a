"""A language's grammar, compiled once: templates to one automaton, phrases to one trie."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rules.load import ROOT, load
from schemas.errors import RulesInvalid
from schemas.ids import RuleId
from schemas.intent import Intent, Route
from services.understanding.fast.accounts import Accounts, accounts
from services.understanding.fast.automaton import Automaton, key
from services.understanding.fast.endings import Endings, EndingsFile
from services.understanding.fast.lattice import FILLER, Trie
from services.understanding.fast.leads import Leads, LeadsFile
from services.understanding.fast.rules import (
    ConfidenceFile,
    IntentFile,
    NounsFile,
    RoutingFile,
    RuleClass,
    TemplateRule,
    VetoFile,
    When,
    WordsFile,
)
from services.understanding.fast.template import Alt, Atom, Node, Rep, Rules, Seq, condense, parse, phrases
from services.understanding.fast.typos import Typos
from services.understanding.fast.units import Units, by_character, by_word, splitter

TYPED: Final = (
    "money",
    "amount",
    "number",
    "digits",
    "date",
    "time",
    "percent",
    "payee",
    "account",
    "card",
    "bill",
    "biller",
    "offered",
)
"""Symbols that only typed tokens can be read as; `amount` is money or a plain number."""
OTHER: Final = "other"
"""The symbol of a word that may be part of a name nobody here has."""
RANK: Final[dict[RuleClass, int]] = {"exact": 0, "wide": 1, "weak": 2}


@dataclass(frozen=True, slots=True)
class Template:
    """A compiled template's record."""

    rule: RuleId
    intent: Intent
    rule_class: RuleClass
    when: When
    asked: frozenset[str]
    vetoes: frozenset[str]
    wants: tuple[str, ...]
    give: tuple[tuple[str, str | int], ...]
    rejects: tuple[str, ...]
    route: Route | None


@dataclass(frozen=True, eq=False)
class Grammar:
    """Everything `Understander` needs of a language."""

    spaced: bool
    leading_particles: frozenset[str]
    maybe_particles: frozenset[str]
    symbols: dict[str, int]
    trie: Trie
    endings: Endings | None
    automaton: Automaton
    templates: tuple[Template, ...]
    guards: Trie
    guard_names: tuple[str, ...]
    conjunctions: Trie
    leads: Leads | None
    asides: Trie
    asides_unasked: Trie
    closings: Trie
    holds: Trie
    counted: Trie
    one: tuple[str, ...]
    ones: frozenset[str]
    others: frozenset[str]
    onto: frozenset[str]
    outof: frozenset[str]
    after_verbs: frozenset[str]
    subjects: frozenset[str]
    finite: frozenset[str]
    owing: frozenset[str]
    passing: frozenset[str]
    omitted: frozenset[str]
    them: frozenset[str]
    light: frozenset[str]
    twists: Trie
    objecting: Trie
    relative: Trie
    joins: frozenset[tuple[str, ...]]
    noun_conjunctions: frozenset[tuple[str, ...]]
    routing: Trie
    guesses: tuple[tuple[Intent, tuple[int, ...]], ...]
    not_names: Trie
    weak_nouns: frozenset[str]
    typos: Typos
    nouns: NounsFile
    ending: Trie
    numbered: dict[str, Trie]
    confidence: ConfidenceFile
    accounts: Accounts

    def units(self, text: str) -> Units:
        """A text's units in this language."""
        return by_word(text) if self.spaced else by_character(text)


ALLOWED, BANKING, ASKING, TROUBLE = 0, 1, 2, 3
"""Symbols of the guards' trie (ALLOWED) and of routing's."""


@lru_cache(maxsize=8)
def grammar(language: str) -> Grammar:
    """The grammar of a language, compiled once a process. Raises RulesInvalid."""
    folder = f"intents/{language}"
    words = load(f"{folder}/words.yaml", WordsFile)
    files = [load(f"{folder}/{path.name}", IntentFile) for path in _intent_files(ROOT / folder)]
    rules = Rules(words.rules, splitter(words.spaced))
    trees, templates = _templates(files, rules)
    endings = _endings(folder)
    verbs = [group.symbol or name for name, group in endings.verbs.items()] if endings else []
    symbols = _symbols(trees, words, verbs)
    trie = _readings(trees, symbols, words)
    vetoes = load(f"{folder}/vetoes.yaml", VetoFile)
    routing, nouns = load(f"{folder}/routing.yaml", RoutingFile), load(f"{folder}/nouns.yaml", NounsFile)
    names = ("allowed", *vetoes.vetoes)
    guards = [(ALLOWED, vetoes.allowed + words.fillers), *enumerate(vetoes.vetoes.values(), 1)]
    routes, guesses = _routes(routing)
    asides = words.asides and words.asides + words.fillers + words.conjunctions
    return Grammar(
        spaced=words.spaced,
        leading_particles=frozenset(words.leading_particles),
        maybe_particles=frozenset(words.maybe_particles),
        symbols=symbols,
        trie=trie,
        endings=Endings(endings, symbols) if endings else None,
        automaton=Automaton(trees, symbols),
        templates=tuple(templates),
        guards=_lexicon(guards, words),
        guard_names=names,
        conjunctions=_lexicon([(1, words.conjunctions)], words),
        leads=_leads(folder),
        asides=_lexicon([(1, asides)], words),
        asides_unasked=_lexicon([(1, asides + words.answers)], words),
        closings=_lexicon([(1, words.closings)], words),
        holds=_lexicon([(1, words.holds)], words),
        counted=_lexicon([(1, words.counted)], words),
        one=tuple(words.one),
        ones=frozenset(words.ones) | _last_words(nouns),
        others=frozenset(words.others),
        onto=frozenset(words.onto),
        outof=frozenset(words.outof),
        after_verbs=frozenset(words.after_verbs),
        subjects=frozenset(words.subjects),
        finite=frozenset(words.finite),
        owing=frozenset(words.owing),
        passing=frozenset(words.passing),
        omitted=frozenset(words.omitted),
        them=frozenset(words.them),
        light=frozenset(words.light),
        twists=_lexicon([(1, words.twists)], words),
        objecting=_lexicon([(1, words.objecting)], words),
        relative=_lexicon([(1, words.relative)], words),
        joins=frozenset(p for text in words.conjunctions for p in _phrases(text, words)),
        noun_conjunctions=frozenset(p for text in words.noun_conjunctions for p in _phrases(text, words)),
        routing=_lexicon(routes, words),
        guesses=guesses,
        not_names=_lexicon([(1, words.not_names)], words),
        weak_nouns=frozenset(words.weak_nouns),
        typos=Typos(words.keywords, trie.units()),
        nouns=nouns,
        ending=_lexicon([(1, nouns.ending)], words),
        numbered={kind: _lexicon([(1, names)], words) for kind, names in nouns.numbered.items()},
        confidence=load("intents/confidence.yaml", ConfidenceFile),
        accounts=accounts(language, words.spaced),
    )


def _last_words(nouns: NounsFile) -> frozenset[str]:
    """The words that the kinds of bills, accounts and cards end with: "the electric one"."""
    kinds = (*nouns.bills.values(), *nouns.accounts.values(), *nouns.cards.values())
    return frozenset(words[-1] for phrases in kinds for phrase in phrases if (words := by_word(phrase).words))


def _endings(folder: str) -> EndingsFile | None:
    """How verbs end, in a language whose rules say so."""
    return load(f"{folder}/endings.yaml", EndingsFile) if (ROOT / folder / "endings.yaml").exists() else None


def _leads(folder: str) -> Leads | None:
    """How clauses end that lead up to a command, in a language whose rules say so."""
    return Leads(load(f"{folder}/leads.yaml", LeadsFile)) if (ROOT / folder / "leads.yaml").exists() else None


def _intent_files(folder: Path) -> list[Path]:
    special = {"words.yaml", "vetoes.yaml", "nouns.yaml", "routing.yaml", "accounts.yaml", "endings.yaml", "leads.yaml"}
    return sorted(path for path in folder.glob("*.yaml") if path.name not in special)


def _units(phrase: tuple[str, ...], spaced: bool) -> tuple[str, ...]:
    return phrase if spaced else tuple("".join(phrase))


@lru_cache(maxsize=2)
def _plain(spaced: bool) -> Rules:
    return Rules({}, splitter(spaced))


def _phrases(text: str, words: WordsFile) -> list[tuple[str, ...]]:
    return [_units(phrase, words.spaced) for phrase in phrases(text, _plain(words.spaced))]


def _add(trie: Trie, text: str, symbol: int, words: WordsFile) -> None:
    for phrase in _phrases(text, words):
        if not phrase:
            raise RulesInvalid(f"an empty phrase in {words.id}: {text!r:.40}")
        trie.add(phrase, symbol)


def _lexicon(entries: list[tuple[int, tuple[str, ...]]], words: WordsFile) -> Trie:
    trie = Trie()
    for symbol, texts in entries:
        for text in texts:
            _add(trie, text, symbol, words)
    return trie


def _templates(files: list[IntentFile], rules: Rules) -> tuple[list[Node], list[Template]]:
    trees: list[Node] = []
    made: list[Template] = []
    seen: set[str] = set()
    for file in files:
        for template in file.templates:
            name = f"{file.id}.{template.id}"
            if name in seen:
                raise RulesInvalid(f"template {name} occurs twice")
            seen.add(name)
            trees.append(condense(parse("|".join(template.say), rules)))
            made.append(_record(file, template))
    return trees, made


def _readings(trees: list[Node], symbols: dict[str, int], words: WordsFile) -> Trie:
    """What the units of a text may be read as: words of the templates, fillers, entries of the lists."""
    trie = Trie()
    for atom in (atom for tree in trees for atom in _atoms(tree) if atom.literal):
        for phrase in atom.phrases:
            trie.add(_units(phrase, words.spaced), symbols[key(atom)])
    for text in words.fillers:
        _add(trie, text, FILLER, words)
    for name, entries in words.lists.items():
        for text in entries:
            _add(trie, text, symbols[name], words)
    return trie


def _routes(
    routing: RoutingFile,
) -> tuple[list[tuple[int, tuple[str, ...]]], tuple[tuple[Intent, tuple[int, ...]], ...]]:
    """Routing's words by symbol; and for each guess its intent and the symbols that must all be said."""
    routes = [(BANKING, routing.banking), (ASKING, routing.asking), (TROUBLE, routing.trouble)]
    guesses: list[tuple[Intent, tuple[int, ...]]] = []
    for guess in routing.guesses:
        numbers = tuple(range(len(routes) + 1, len(routes) + 1 + len(guess.all_of)))
        routes.extend(zip(numbers, guess.all_of, strict=True))
        guesses.append((guess.intent, numbers))
    return routes, tuple(guesses)


def _record(file: IntentFile, template: TemplateRule) -> Template:
    return Template(
        rule=RuleId(f"{file.id}.{template.id}@{file.version}"),
        intent=template.intent or file.intent,
        rule_class=template.rule_class,
        when=template.when,
        asked=frozenset(template.asked),
        vetoes=frozenset(file.vetoes if template.vetoes is None else template.vetoes),
        wants=file.wants,
        give=tuple(template.give.items()),
        rejects=template.rejects,
        route=template.route,
    )


def _symbols(trees: list[Node], words: WordsFile, verbs: Sequence[str]) -> dict[str, int]:
    symbols = {"": FILLER}
    for name in dict.fromkeys((*TYPED, OTHER, *words.lists, *verbs)):
        symbols[name] = len(symbols)
    for tree in trees:
        for atom in _atoms(tree):
            name = key(atom)
            if name not in symbols:
                if not atom.literal:
                    raise RulesInvalid(f"no list or typed token {{{name}}} in {words.id}")
                symbols[name] = len(symbols)
    return symbols


def _atoms(node: Node) -> list[Atom]:
    match node:
        case Atom():
            return [node]
        case Seq(parts) | Alt(parts):
            return [atom for part in parts for atom in _atoms(part)]
        case Rep(part):
            return _atoms(part)
