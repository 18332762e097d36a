"""Rules taken away one at a time, in place, and put back: normalizer words, grammar phrases, templates."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from deploy.bench.cases.player import ConversationPlayer
from services.normalization import Normalizer
from services.normalization.fold import fold
from services.normalization.tokens import Lexicon
from services.understanding.fast.patterns.lattice import Trie
from services.understanding.fast.understander import Understander


def mutants(player: ConversationPlayer, text: str) -> Iterator[str]:
    """Every rule that could have read some of `text`, named while it is away."""
    understander = Understander.for_locale(player.locale)
    yield from _surfaces(Normalizer.for_locale(player.locale)._engine, text)
    rules = understander._grammar
    cues = rules.cues
    tries = {"grammar": rules.trie, "vetoes": rules.guards, "conjunctions": rules.phrases.conjunctions}
    tries |= {"behind": cues.behind, "times": cues.times, "places": cues.places}
    tries |= {"repairs": cues.repairs, "links": cues.links, "tails": cues.tails}
    words = rules.units(text).words
    for name, trie in tries.items():
        yield from _phrases(name, trie, words)
    yield from _templates(understander)


def _surfaces(engine: object, text: str) -> Iterator[str]:
    language = engine._language  # type: ignore[attr-defined]
    whole, folded = language.lexicon, fold(text).text
    for surface in whole.words:
        if surface in folded:
            rest = {key: word for key, word in whole.words.items() if key != surface}
            language.lexicon = Lexicon(rest, spaced=whole._spaced, readings=whole._readings)
            try:
                yield f"word {surface}"
            finally:
                language.lexicon = whole


def _phrases(name: str, trie: Trie, words: tuple[str, ...]) -> Iterator[str]:
    for at in range(len(words)):
        node = trie._first
        for end in range(at, len(words)):
            found = node.get(words[end])
            if found is None:
                break
            node = found
            for symbol in node.get(None, ()):
                with _without(node, symbol):
                    yield f"{name} {' '.join(words[at : end + 1])}"


@contextmanager
def _without(node: dict[str | None, Any], symbol: int) -> Iterator[None]:
    whole = node[None]
    node[None] = tuple(one for one in whole if one != symbol)
    try:
        yield
    finally:
        node[None] = whole


def _templates(understander: Understander) -> Iterator[str]:
    """Each template that could apply anywhere; the sets of those that apply are made anew each time."""
    rules, matching = understander._grammar, understander._matching
    for number, template in enumerate(rules.templates):
        if template.intent.value not in {"transfer_money", "bill_payment", "inform", "correct"}:
            continue
        kept = matching.enabled

        def enabled(*args: object, without: int = number, **more: object) -> frozenset[int]:
            return kept(*args, **more) - {without}  # type: ignore[arg-type]  # noqa: B023 - put back before the next

        matching.enabled = enabled  # type: ignore[method-assign,assignment]
        try:
            yield f"template {template.rule}"
        finally:
            del matching.enabled
