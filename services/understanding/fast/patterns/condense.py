"""Trees with fewer atoms that hold the same sentences."""

from typing import Final

from services.understanding.fast.patterns.tree import Alt, Atom, Node, Rep, Seq, expand, literal, size

MAX_CONDENSED: Final = 64
"""So many phrases may be made one atom."""
MIN_SHARED: Final = 2
"""Atoms of a part that alternatives share, at least: the order of smaller ones decides which of two readings is had."""

_Phrases = list[tuple[str, ...]] | None


class Condenser:
    """Whatever is words only becomes one atom of many phrases.

    Expansion rules stand in many templates, each as one and the same tree: what became of a tree is remembered by its
    identity, while the tree is kept.
    """

    def __init__(self) -> None:
        self._condensed: dict[int, tuple[Node, Node]] = {}
        self._phrases: dict[int, tuple[Node, _Phrases]] = {}

    def condense(self, node: Node) -> Node:
        """The same sentences with fewer atoms."""
        known = self._condensed.get(id(node))
        if known is None:
            known = self._condensed[id(node)] = node, self._made(node)
        return known[1]

    def _words(self, node: Node) -> _Phrases:
        known = self._phrases.get(id(node))
        if known is None:
            known = self._phrases[id(node)] = node, expand(node, MAX_CONDENSED)
        return known[1]

    def _made(self, node: Node) -> Node:
        words = self._words(node)
        if words is not None:
            return _from_phrases(words)
        match node:
            case Alt(options):
                return self._alternatives(options)
            case Rep(part, optional, many):
                return Rep(self.condense(part), optional, many)
            case Seq(parts):
                return self._sequence(parts)
            case Atom():
                return node

    def _alternatives(self, options: tuple[Node, ...]) -> Node:
        fixed: list[tuple[str, ...]] = []
        rest: list[Node] = []
        for option in _shared(_shared(options, -1), 0):
            found = self._words(option)
            if found is None or () in found:
                rest.append(self.condense(option))
            else:
                fixed.extend(found)
        return Alt((*rest, _from_phrases(fixed))) if fixed else Alt(tuple(rest))

    def _sequence(self, parts: tuple[Node, ...]) -> Node:
        made: list[Node] = []
        run: tuple[Node, ...] = ()
        said: list[tuple[str, ...]] = [()]
        for part in parts:
            words = self._words(part)
            if words is not None and len(said) * len(words) <= MAX_CONDENSED:
                run, said = (*run, part), [left + right for left in said for right in words]
                continue
            if run:
                made.append(self.condense(Seq(run)))
                run, said = (), [()]
            if words is not None:
                run, said = (part,), words
            else:
                made.append(self.condense(part))
        if run:
            made.append(self.condense(Seq(run)))
        return made[0] if len(made) == 1 else Seq(tuple(made))


def _shared(options: tuple[Node, ...], edge: int) -> tuple[Node, ...]:
    """Alternatives of which those that begin (`edge` 0) or end (-1) with the same part hold that part once."""
    by_part: dict[Node, list[Seq]] = {}
    for option in options:
        if isinstance(option, Seq) and option.parts and size(option.parts[edge]) >= MIN_SHARED:
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


def _from_phrases(words: list[tuple[str, ...]]) -> Node:
    fixed = tuple(dict.fromkeys(phrase for phrase in words if phrase))
    if not fixed:
        return Seq(())
    atom = literal(fixed)
    return Rep(atom, optional=True, many=False) if () in words else atom
