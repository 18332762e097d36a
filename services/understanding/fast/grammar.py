"""A language's grammar, compiled once: templates to one automaton, phrases to one trie."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from rules.load import ROOT, load
from schemas.errors import RulesInvalid
from schemas.ids import RuleId
from schemas.intent import Intent, Route
from services.understanding.fast.accounts import Accounts, accounts
from services.understanding.fast.automaton import Automaton
from services.understanding.fast.endings import Endings, EndingsFile
from services.understanding.fast.lattice import Trie
from services.understanding.fast.leads import Leads, LeadsFile
from services.understanding.fast.lexicon import lexicon, phrases_of, readings, symbols_of
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
from services.understanding.fast.template import Node, Rules, condense, parse
from services.understanding.fast.typos import Typos
from services.understanding.fast.units import Units, by_character, by_word, splitter

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
    symbols = symbols_of(trees, words, verbs)
    trie = readings(trees, symbols, words)
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
        guards=lexicon(guards, words),
        guard_names=names,
        conjunctions=lexicon([(1, words.conjunctions)], words),
        leads=_leads(folder),
        asides=lexicon([(1, asides)], words),
        asides_unasked=lexicon([(1, asides + words.answers)], words),
        closings=lexicon([(1, words.closings)], words),
        holds=lexicon([(1, words.holds)], words),
        counted=lexicon([(1, words.counted)], words),
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
        twists=lexicon([(1, words.twists)], words),
        objecting=lexicon([(1, words.objecting)], words),
        relative=lexicon([(1, words.relative)], words),
        joins=frozenset(p for text in words.conjunctions for p in phrases_of(text, words)),
        noun_conjunctions=frozenset(p for text in words.noun_conjunctions for p in phrases_of(text, words)),
        routing=lexicon(routes, words),
        guesses=guesses,
        not_names=lexicon([(1, words.not_names)], words),
        weak_nouns=frozenset(words.weak_nouns),
        typos=Typos(words.keywords, trie.units()),
        nouns=nouns,
        ending=lexicon([(1, nouns.ending)], words),
        numbered={kind: lexicon([(1, names)], words) for kind, names in nouns.numbered.items()},
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
