"""What a recogniser might have heard instead of a yes: whether any of it says otherwise, so that the yes is doubted."""

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from schemas.ids import language
from schemas.intent import Intent
from schemas.kana import TO_HIRAGANA
from schemas.transcript import Transcript
from services.understanding.fast.consent.consent_file import ActRule, ConsentAutomaton, ConsentFile
from services.understanding.fast.ruleset.grammar import Grammar
from services.understanding.fast.words.hypotheses import rivals

_POLITE: Final = "polite"
_AS_SAID: Final = "as_said"
_TAIL: Final = "tail"
_WHOLE: Final = 4
"""Characters of a yes behind which a particle means no more: そうです."""
_LONG: Final = 6
"""Characters of a yes in which one more is a slip."""
_ALIKE: Final = 0.6
"""Of a misheard courtesy: the share of it that is the same."""
_MORE_CHARS: Final = 2
"""Characters beside a yes that are no slip, in a language without spaces."""

Whole = Callable[[str], ActRule | None]
"""What another hypothesis answers, all of it."""


class OtherHearings:
    """Compares a yes with the other hypotheses of its utterance."""

    def __init__(self, file: ConsentFile, answers: ConsentAutomaton, rules: Grammar) -> None:
        self._file = file
        self._rules = rules
        self._trie, self._symbols = answers.trie, answers.symbols
        self._contrary = {self._symbols[name] for name in file.contrary}
        self._sounds = lru_cache(maxsize=256)(self._written_alike)

    def contradict(self, yes: Transcript, whole: Whole) -> bool:
        """Whether one says otherwise: any about as likely, or one not far that holds a no or goes on."""
        return any(self._contradicts(yes.text, other, odds, whole) for other, odds in self.others(yes))

    def others(self, said: Transcript) -> Iterator[tuple[str, float]]:
        """The other hypotheses, each with the lesser of the best one's odds against it."""
        tokens = self._rules.confidence.contested[language(said.locale)].tokens_a_character
        return ((each.text, min(each.whole, each.by_token)) for each in rivals(said, tokens))

    def _contradicts(self, yes: str, other: str, odds: float, whole: Whole) -> bool:
        doubt = self._file.doubt
        if odds > max(doubt.other, doubt.contrary) or self._sounds(other) == self._sounds(yes):
            return False
        found = whole(other)
        if (found is not None and found.agrees) or self._slurs(yes, other):
            return False
        if odds <= doubt.other:
            return True
        if self._trails(yes, other, whole) or self._slips(yes, other, found) or self._is_vague(found, odds):
            return False
        return found is not None or bool(self._noes(other)) or self._goes_on(yes, other)

    def _is_vague(self, found: ActRule | None, odds: float) -> bool:
        """Whether it might mean a yes and is asked about: said by few where a clear one is heard far better."""
        return found is not None and found.act is Intent.CONFIRM and odds > self._file.doubt.vague

    def _written_alike(self, text: str) -> str:
        """The text with what is heard alike written alike: オッケー and ok, 間違い and 間違え."""
        plain = text.lower().replace(" ", "") if not self._file.spaced else text
        for written, sound in self._file.alike:
            plain = plain.replace(written, sound)
        return plain.translate(TO_HIRAGANA)

    def _trails(self, yes: str, other: str, whole: Whole) -> bool:
        """Whether the other is a yes with a particle that asks for nothing: そうですね of そうです, or twice that."""
        inner, outer = self._rules.units(yes).words, self._rules.units(other).words
        if self._file.spaced or len(inner) < _WHOLE:
            return False
        tail = self._symbols[_TAIL]
        starts = [at for at in range(_WHOLE, len(outer)) if outer[:at] == inner[:at]]
        ends = (at for at in starts for e in self._trie.scan(outer, at) if e.symbol == tail and e.end == len(outer))
        return any(at == len(inner) or ((act := whole("".join(outer[:at]))) is not None and act.agrees) for at in ends)

    def _slips(self, yes: str, other: str, found: ActRule | None) -> bool:
        """Whether the other is no answer, but the yes with one character too many within it: 間違いえありません."""
        inner, outer = (self._rules.units(text).words for text in (yes, other))
        if self._file.spaced or found is not None or len(outer) != len(inner) + 1 or len(inner) < _LONG:
            return False
        at = next((i for i, (a, b) in enumerate(zip(inner, outer, strict=False)) if a != b), len(inner))
        within = 0 < at < len(inner) - 1 and outer[at + 1 :] == inner[at:]
        return within and all("".join(no) in "".join(inner) for no in self._noes(other))

    def _slurs(self, yes: str, other: str) -> bool:
        """Whether the other is the same yes with the courtesy behind it misheard: much like it, and no no."""
        inner, outer = self._rules.units(yes).words, self._rules.units(other).words
        shared = next((at for at, (a, b) in enumerate(zip(inner, outer, strict=False)) if a != b), 0)
        for at in range(shared, 0, -1):
            if self._polite(inner, at):
                alike = SequenceMatcher(None, " ".join(inner[at:]), " ".join(outer[at:])).ratio()
                return alike >= _ALIKE and not self._noes(other)
        return False

    def _polite(self, words: tuple[str, ...], start: int) -> bool:
        """Whether the words from `start` on are nothing but courtesies."""
        ends, polite = {start}, self._symbols[_POLITE]
        for at in range(start, len(words)):
            if at in ends:
                ends.update(edge.end for edge in self._trie.scan(words, at) if edge.symbol == polite)
        return len(words) in ends and len(words) > start

    def _goes_on(self, yes: str, other: str) -> bool:
        """Whether the other is the yes with words beside it, which are then not what was agreed in."""
        inner, outer = self._rules.units(yes).words, self._rules.units(other).words
        more = len(outer) - len(inner)
        least = 1 if self._file.spaced else _MORE_CHARS
        return more >= least and any(outer[at : at + len(inner)] == inner for at in range(more + 1))

    def _noes(self, text: str) -> set[tuple[str, ...]]:
        """Every phrase in it that holds a no, but for those within a yes: 間違い of 間違いありません.

        Without spaces, one of a single character is a word only where nothing follows it: が is none in ありがとう.
        """
        words, spaced = self._rules.units(text).words, self._file.spaced
        edges = [edge for at in range(len(words)) for edge in self._trie.scan(words, at)]
        yes = [] if spaced else [edge for edge in edges if edge.symbol == self._symbols[_AS_SAID]]
        noes = [edge for edge in edges if edge.symbol in self._contrary]
        if not spaced:
            noes = [edge for edge in noes if edge.end - edge.start > 1 or edge.end == len(words)]
        free = [e for e in noes if not any(y.start <= e.start and e.end < y.end for y in yes)]
        return {words[edge.start : edge.end] for edge in free}
