"""A language's grammar, compiled once: templates to one automaton, phrases to one trie."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from rules.kept import kept
from rules.load import ROOT, M, exists, load
from schemas.errors import RulesInvalid
from schemas.ids import RuleId
from schemas.intent import Intent, Route
from services.understanding.fast.patterns.automaton import Automaton
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.patterns.template import Rules
from services.understanding.fast.patterns.tree import Node
from services.understanding.fast.patterns.typos import Typos
from services.understanding.fast.patterns.uncollected import uncollected
from services.understanding.fast.patterns.units import Units, by_character, by_word, splitter
from services.understanding.fast.ruleset.cue_phrases import CuePhrases, cue_phrases
from services.understanding.fast.ruleset.endings import Endings, EndingsFile
from services.understanding.fast.ruleset.leads import Leads, LeadsFile
from services.understanding.fast.ruleset.lexicon import lexicon, readings, symbols_of
from services.understanding.fast.ruleset.rules import (
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
from services.understanding.fast.ruleset.sentence_patterns import SentencePatterns, sentence_patterns
from services.understanding.fast.ruleset.word_classes import Phrases, WordClasses, phrases, word_classes

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
    words: WordClasses
    phrases: Phrases
    symbols: dict[str, int]
    trie: Trie
    endings: Endings | None
    automaton: Automaton
    templates: tuple[Template, ...]
    guards: Trie
    guard_names: tuple[str, ...]
    leads: Leads | None
    patterns: SentencePatterns
    routing: Trie
    guesses: tuple[tuple[Intent, tuple[int, ...]], ...]
    typos: Typos
    nouns: NounsFile
    ending: Trie
    numbered: dict[str, Trie]
    confidence: ConfidenceFile
    cues: CuePhrases

    def named(self, names: Iterable[str]) -> frozenset[int]:
        """The symbols of those names that this language has."""
        return frozenset(self.symbols[name] for name in names if name in self.symbols)

    def units(self, text: str) -> Units:
        """A text's units in this language."""
        return by_word(text) if self.spaced else by_character(text)


ALLOWED, BANKING, ASKING, TROUBLE, INQUIRING = range(5)
"""Symbols of the guards' trie (ALLOWED) and of routing's."""


@lru_cache(maxsize=8)
@uncollected()
def grammar(language: str) -> Grammar:
    """The grammar of a language, compiled once and kept. Raises RulesInvalid."""
    return kept(f"grammar-{language}", partial(compiled, language))


def compiled(language: str) -> Grammar:
    """The grammar of a language, compiled anew. Raises RulesInvalid."""
    folder = f"intents/{language}"
    words = load(f"{folder}/words.yaml", WordsFile)
    files = intent_files(language)
    rules = Rules(words.rules, splitter(words.spaced))
    trees, templates = _templates(files, rules)
    endings = _there(f"{folder}/endings.yaml", EndingsFile)
    leads = _there(f"{folder}/leads.yaml", LeadsFile)
    patterns = sentence_patterns(language)
    verbs = [group.symbol or name for name, group in endings.verbs.items()] if endings else []
    symbols = symbols_of(trees, words, verbs)
    trie = readings(trees, symbols, words)
    vetoes = load(f"{folder}/vetoes.yaml", VetoFile)
    routing, nouns = load(f"{folder}/routing.yaml", RoutingFile), load(f"{folder}/nouns.yaml", NounsFile)
    names = ("allowed", *vetoes.vetoes)
    guards = [(ALLOWED, vetoes.allowed + words.fillers), *enumerate(vetoes.vetoes.values(), 1)]
    routes, guesses = _routes(routing)
    return Grammar(
        spaced=words.spaced,
        words=word_classes(words, nouns),
        phrases=phrases(words),
        symbols=symbols,
        trie=trie,
        endings=Endings(endings, symbols) if endings else None,
        automaton=Automaton(trees, symbols),
        templates=tuple(templates),
        guards=lexicon(guards, words),
        guard_names=names,
        leads=Leads(leads, patterns) if leads else None,
        patterns=patterns,
        routing=lexicon(routes, words),
        guesses=guesses,
        typos=Typos(words.keywords, trie.units()),
        nouns=nouns,
        ending=lexicon([(1, nouns.ending)], words),
        numbered={kind: lexicon([(1, names)], words) for kind, names in nouns.numbered.items()},
        confidence=load("intents/confidence.yaml", ConfidenceFile),
        cues=cue_phrases(language, words.spaced),
    )


def _there(path: str, model: type[M]) -> M | None:
    """A file that not every language has. Raises RulesInvalid."""
    return load(path, model) if exists(path) else None


def intent_files(language: str) -> list[IntentFile]:
    """What a language's callers may want, a file an intent, by name. Raises RulesInvalid."""
    folder = f"intents/{language}"
    special = {
        "words.yaml",
        "vetoes.yaml",
        "nouns.yaml",
        "routing.yaml",
        "cue_phrases.yaml",
        "endings.yaml",
        "leads.yaml",
        "balances.yaml",
        "worded.yaml",
    }
    names = sorted(path.name for path in (ROOT / folder).glob("*.yaml") if path.name not in special)
    return [load(f"{folder}/{name}", IntentFile) for name in names]


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
            trees.append(rules.condensed("|".join(template.say)))
            made.append(_record(file, template))
    return trees, made


def _routes(
    routing: RoutingFile,
) -> tuple[list[tuple[int, tuple[str, ...]]], tuple[tuple[Intent, tuple[int, ...]], ...]]:
    """Routing's words by symbol; and for each guess its intent and the symbols that must all be said."""
    routes = [
        (BANKING, routing.banking),
        (ASKING, routing.asking),
        (TROUBLE, routing.trouble),
        (INQUIRING, routing.inquiring),
    ]
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
