"""Sentence templates in hassil's style, parsed to a small tree.

`word` a literal · `[x]` optional · `(a|b)` alternatives · `<rule>` an expansion rule · `{kind}` or `{kind:slot}` a
typed token or a phrase list · postfix `*` and `+` repetition.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from schemas.errors import RulesInvalid

MAX_PHRASES: Final = 4_000
"""An entry of a phrase list may stand for this many phrases."""
MAX_CONDENSED: Final = 64
"""So many phrases may be made one atom."""
MIN_SHARED: Final = 2
"""Atoms of a part that alternatives share, at least: the order of smaller ones decides which of two readings is had."""

_MARKS: Final = re.compile(r"[\[\]()|*+<>{}]")
_LEX: Final = re.compile(r"\s*([\[\]()|*+]|<[a-z_]+>|\{[a-z_]+(?::[a-z_]+)?\}|[^\[\]()|*+<>{}\s]+)")


@dataclass(frozen=True, slots=True)
class Atom:
    """A literal (`literal` set; any of `phrases`) or a typed symbol; `slot` names where its value goes."""

    symbol: str
    slot: str = ""
    literal: bool = False
    phrases: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Seq:
    """All of `parts`, in order."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of `options`."""

    options: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Rep:
    """`part`, perhaps not at all (`optional`), perhaps again (`many`)."""

    part: "Node"
    optional: bool
    many: bool


Node = Atom | Seq | Alt | Rep


class Rules:
    """Expansion rules, each parsed and condensed when first used."""

    def __init__(self, texts: Mapping[str, str], split: Callable[[str], tuple[str, ...]]) -> None:
        self._texts = texts
        self._made: dict[str, Node | None] = {}
        self._words: dict[str, Node] = {}
        self._split = split

    def expansion(self, name: str) -> Node:
        """The tree of a rule. Raises RulesInvalid when there is none, or when it needs itself."""
        if name not in self._texts:
            raise RulesInvalid(f"no expansion rule <{name}>")
        if name not in self._made:
            self._made[name] = None
            self._made[name] = condense(_Parser(self._texts[name], self).parse())
        made = self._made[name]
        if made is None:
            raise RulesInvalid(f"expansion rule <{name}> needs itself")
        return made

    def words(self, text: str) -> tuple[str, ...]:
        """The units of a template that is words alone."""
        return tuple(word for literal in text.split() for word in self._split(literal))

    def literal(self, text: str) -> Node:
        """The atoms of a literal, folded into units."""
        made = self._words.get(text)
        if made is None:
            words = tuple(_literal(((word,),)) for word in self._split(text))
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
    found = _expand(parse(text, rules), MAX_PHRASES)
    if found is None:
        raise RulesInvalid(f"a phrase list holds words only, at most {MAX_PHRASES} an entry: {text!r:.80}")
    return tuple(dict.fromkeys(found))


def condense(node: Node) -> Node:
    """The same sentences with fewer atoms: whatever is words only becomes one atom of many phrases."""
    words = _expand(node, MAX_CONDENSED)
    if words is not None:
        return _from_phrases(words)
    match node:
        case Alt(options):
            fixed: list[tuple[str, ...]] = []
            rest: list[Node] = []
            for option in _shared(_shared(options, -1), 0):
                found = _expand(option, MAX_CONDENSED)
                if found is None or () in found:
                    rest.append(condense(option))
                else:
                    fixed.extend(found)
            return Alt((*rest, _from_phrases(fixed))) if fixed else Alt(tuple(rest))
        case Rep(part, optional, many):
            return Rep(condense(part), optional, many)
        case Seq(parts):
            return _condensed_sequence(parts)
        case Atom():
            return node


def _shared(options: tuple[Node, ...], edge: int) -> tuple[Node, ...]:
    """Alternatives of which those that begin (`edge` 0) or end (-1) with the same part hold that part once."""
    by_part: dict[Node, list[Seq]] = {}
    for option in options:
        if isinstance(option, Seq) and option.parts and _size(option.parts[edge]) >= MIN_SHARED:
            by_part.setdefault(option.parts[edge], []).append(option)
    made: dict[Node, None] = {}
    for option in options:
        part = option.parts[edge] if isinstance(option, Seq) and option.parts else None
        alike = by_part.get(part, []) if part is not None else []
        if part is None or len(alike) < 2:  # noqa: PLR2004 - what is shared is so by two
            made[option] = None
        else:
            rest = Alt(tuple(Seq(each.parts[:-1] if edge else each.parts[1:]) for each in alike))
            made[Seq((rest, part) if edge else (part, rest))] = None
    return tuple(made)


def _size(node: Node) -> int:
    """How many atoms there are in a tree."""
    match node:
        case Atom():
            return 1
        case Seq(parts) | Alt(parts):
            return sum(_size(part) for part in parts)
        case Rep(part):
            return _size(part)


def _condensed_sequence(parts: tuple[Node, ...]) -> Node:
    made: list[Node] = []
    run: tuple[Node, ...] = ()
    for part in parts:
        if _expand(Seq((*run, part)), MAX_CONDENSED) is not None:
            run = (*run, part)
            continue
        if run:
            made.append(condense(Seq(run)))
            run = ()
        if _expand(part, MAX_CONDENSED) is not None:
            run = (part,)
        else:
            made.append(condense(part))
    if run:
        made.append(condense(Seq(run)))
    return made[0] if len(made) == 1 else Seq(tuple(made))


def _from_phrases(words: list[tuple[str, ...]]) -> Node:
    fixed = tuple(dict.fromkeys(phrase for phrase in words if phrase))
    if not fixed:
        return Seq(())
    atom = _literal(fixed)
    return Rep(atom, optional=True, many=False) if () in words else atom


def _literal(words: tuple[tuple[str, ...], ...]) -> Atom:
    return Atom("|".join(" ".join(phrase) for phrase in words), literal=True, phrases=words)


def _expand(node: Node, limit: int) -> list[tuple[str, ...]] | None:
    """All the phrases of a tree of words, () among them when it may be left out; None for any other tree."""
    match node:
        case Atom(literal=literal, phrases=words):
            return list(words) if literal else None
        case Alt(options):
            made: list[tuple[str, ...]] = []
            for option in options:
                found = _expand(option, limit)
                if found is None or len(made) + len(found) > limit:
                    return None
                made.extend(found)
            return made
        case Rep(part, _, many):
            inner = None if many else _expand(part, limit)
            return None if inner is None else [(), *inner]
        case Seq(parts):
            made = [()]
            for part in parts:
                found = _expand(part, limit)
                if found is None or len(found) * len(made) > limit:
                    return None
                made = [left + right for left in made for right in found]
            return made
