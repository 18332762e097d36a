"""Sentence templates in hassil's style, parsed to a small tree.

`word` a literal · `[x]` optional · `(a|b)` alternatives · `<rule>` an expansion rule · `{kind}` or `{kind:slot}` a
typed token or a phrase list · postfix `*` and `+` repetition.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from schemas.errors import RulesInvalid
from services.understanding.fast.patterns.condense import Condenser
from services.understanding.fast.patterns.tree import Alt, Atom, Node, Rep, Seq, expand, literal

MAX_PHRASES: Final = 4_000
"""An entry of a phrase list may stand for this many phrases."""

_MARKS: Final = re.compile(r"[\[\]()|*+<>{}]")
_LEX: Final = re.compile(r"\s*([\[\]()|*+]|<[a-z_]+>|\{[a-z_]+(?::[a-z_]+)?\}|[^\[\]()|*+<>{}\s]+)")


class Rules:
    """Expansion rules, each parsed and condensed when first used."""

    def __init__(self, texts: Mapping[str, str], split: Callable[[str], tuple[str, ...]]) -> None:
        self._texts = texts
        self._made: dict[str, Node | None] = {}
        self._words: dict[str, Node] = {}
        self._split = split
        self._condenser = Condenser()

    def expansion(self, name: str) -> Node:
        """The tree of a rule. Raises RulesInvalid when there is none, or when it needs itself."""
        if name not in self._texts:
            raise RulesInvalid(f"no expansion rule <{name}>")
        if name not in self._made:
            self._made[name] = None
            self._made[name] = self.condensed(self._texts[name])
        made = self._made[name]
        if made is None:
            raise RulesInvalid(f"expansion rule <{name}> needs itself")
        return made

    def condensed(self, text: str) -> Node:
        """The tree of a template with its expansion rules put in, with as few atoms as may be. Raises RulesInvalid."""
        return self._condenser.condense(parse(text, self))

    def words(self, text: str) -> tuple[str, ...]:
        """The units of a template that is words alone."""
        return tuple(word for literal in text.split() for word in self._split(literal))

    def literal(self, text: str) -> Node:
        """The atoms of a literal, folded into units."""
        made = self._words.get(text)
        if made is None:
            words = tuple(literal(((word,),)) for word in self._split(text))
            made = self._words[text] = words[0] if len(words) == 1 else Seq(words)
        return made


class _Parser:
    def __init__(self, text: str, rules: Rules) -> None:
        self._text = text
        self._rules = rules
        self._tokens = _lex(text)
        self._at = 0

    def parse(self) -> Node:
        node = self._alternatives()
        if self._at < len(self._tokens):
            raise RulesInvalid(f"unexpected {self._tokens[self._at]!r} in template {self._text!r:.80}")
        return node

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._peek()
        if not token or (wanted and token != wanted):
            raise RulesInvalid(f"expected {wanted or 'more'} in template {self._text!r:.80}")
        self._at += 1
        return token

    def _alternatives(self) -> Node:
        options = [self._sequence()]
        while self._peek() == "|":
            self._take()
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Alt(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() and self._peek() not in ")]|":
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Seq(tuple(parts))

    def _repeated(self) -> Node:
        node = self._primary()
        if self._peek() in {"*", "+"}:
            return Rep(node, optional=self._take() == "*", many=True)
        return node

    def _primary(self) -> Node:
        token = self._take()
        if token == "(":  # noqa: S105 - a bracket
            node = self._alternatives()
            self._take(")")
            return node
        if token == "[":  # noqa: S105 - a bracket
            node = self._alternatives()
            self._take("]")
            return Rep(node, optional=True, many=False)
        if token[0] == "<":
            return self._rules.expansion(token[1:-1])
        if token[0] == "{":
            symbol, _, slot = token[1:-1].partition(":")
            return Atom(symbol, slot or symbol)
        return self._rules.literal(token)


def _lex(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        found = _LEX.match(text, at)
        if found is None:
            raise RulesInvalid(f"cannot read template {text!r:.80} at {at}")
        tokens.append(found.group(1))
        at = found.end()
    return tokens


def parse(text: str, rules: Rules) -> Node:
    """The tree of a template with its expansion rules put in. Raises RulesInvalid."""
    return _Parser(text, rules).parse()


def phrases(text: str, rules: Rules) -> tuple[tuple[str, ...], ...]:
    """Every phrase that a list entry with options and alternatives stands for. Raises RulesInvalid."""
    if not _MARKS.search(text):
        return (rules.words(text),)
    found = expand(parse(text, rules), MAX_PHRASES)
    if found is None:
        raise RulesInvalid(f"a phrase list holds words only, at most {MAX_PHRASES} an entry: {text!r:.80}")
    return tuple(dict.fromkeys(found))
