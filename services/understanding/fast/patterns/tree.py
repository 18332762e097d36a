"""What a template is made of: a tree of words, typed tokens, alternatives and repetitions."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Atom:
    """A literal (`literal` set; any of `phrases`) or a typed symbol; `slot` names where its value goes."""

    symbol: str
    slot: str = ""
    literal: bool = False
    phrases: tuple[tuple[str, ...], ...] = ()

    def __hash__(self) -> int:
        return hash((self.symbol, self.slot, self.literal))  # the symbol of a literal has all of its phrases


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


def atoms(node: Node) -> list[Atom]:
    """Every atom of a tree, in order."""
    match node:
        case Atom():
            return [node]
        case Seq(parts) | Alt(parts):
            return [atom for part in parts for atom in atoms(part)]
        case Rep(part):
            return atoms(part)


def size(node: Node) -> int:
    """How many atoms there are in a tree."""
    match node:
        case Atom():
            return 1
        case Seq(parts) | Alt(parts):
            return sum(size(part) for part in parts)
        case Rep(part):
            return size(part)


def literal(words: tuple[tuple[str, ...], ...]) -> Atom:
    """The atom of any of these phrases."""
    return Atom("|".join(" ".join(phrase) for phrase in words), literal=True, phrases=words)


def expand(node: Node, limit: int) -> list[tuple[str, ...]] | None:
    """All the phrases of a tree of words, () among them when it may be left out; None for any other tree."""
    match node:
        case Atom(literal=literal, phrases=words):
            return list(words) if literal else None
        case Alt(options):
            made: list[tuple[str, ...]] = []
            for option in options:
                found = expand(option, limit)
                if found is None or len(made) + len(found) > limit:
                    return None
                made.extend(found)
            return made
        case Rep(part, _, many):
            inner = None if many else expand(part, limit)
            return None if inner is None else [(), *inner]
        case Seq(parts):
            made = [()]
            for part in parts:
                found = expand(part, limit)
                if found is None or len(found) * len(made) > limit:
                    return None
                made = [left + right for left in made for right in found]
            return made
