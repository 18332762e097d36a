"""`Hearing`: an utterance and all by which it is read, handed from reader to reader as one value."""

from dataclasses import dataclass

from schemas.ids import RuleId
from schemas.intent import Annotation, Context, Evidence
from schemas.payee import FindPayee
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.reading import UtteranceLattice, read
from services.understanding.fast.words.vocabulary import CallerNouns, vocabulary


@dataclass(frozen=True, slots=True)
class Hearing:
    """What was heard, by whose rules and in which context, and its words as they can be read."""

    grammar: Grammar
    heard: Annotation
    context: Context
    reading: UtteranceLattice
    find_payee: FindPayee | None
    """Asked about a name that the payee search over the whole words did not find; None where nobody is looked for."""

    @classmethod
    def by(cls, grammar: Grammar, heard: Annotation, context: Context, find: FindPayee | None = None) -> "Hearing":
        """`heard`, laid out by `grammar`."""
        return cls(grammar, heard, context, read(grammar, heard, context), find)

    @property
    def text(self) -> str:
        """The transcript."""
        return self.heard.transcript.text

    @property
    def routed(self) -> frozenset[int]:
        """The symbols of all words that tell where an utterance may belong: of banking, of trouble, of a question."""
        return frozenset(edge.symbol for edges in self.reading.phrases(self.grammar.routing) for edge in edges)

    def said(self, start: int, end: int, rule: RuleId) -> Evidence:
        """The words of units `start` … `end`, as evidence by a rule."""
        units = self.reading.units
        return self.heard.evidence(units.starts[start], units.ends[end - 1], rule)

    @property
    def nouns(self) -> CallerNouns:
        """The caller's own things by their names."""
        return vocabulary(self.grammar, self.context)
