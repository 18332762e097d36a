"""A story and an order in one breath: where the order may stand, and what is told around it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from schemas.ids import PayeeId, RuleId
from schemas.intent import Evidence
from schemas.span import DATED, SUMS, Span, SpanKind
from services.understanding.correction.amounts import comes_to, points, unit
from services.understanding.correction.mentions import Mentions
from services.understanding.correction.said import Said
from services.understanding.fast.asides.reasons import kin
from services.understanding.fast.asides.vetoes import vetoes_met

RULE: Final = RuleId("intents.storied@1")
_MOST: Final = 4
"""Places at which what is asked for may begin, from the last one on."""
_STOPS: Final = frozenset({"recurring", "trouble", "refusal"})
"""Vetoes in a story behind which an order may not be meant as it stands."""
_NAMES: Final = 12
"""Words of a story that are looked up as names, at most."""
_TEN: Final = 10
_OWNS: Final = re.compile(r"['’]s$")
_JOINS: Final = frozenset({"and", "or"})
_CLOSES: Final = frozenset({"all", "me", "us", "you"})
"""What may end a story: "sofia paid all | i must"."""
_SUM: Final = "¤"
"""What stands for each character of a sum where it is looked for whether a story gives it to somebody."""


@dataclass(frozen=True, eq=False)
class Story:
    """An utterance in which the words from `begin` to `end` order, and all others tell."""

    said: Said
    begin: int
    end: int
    sure: bool

    @cached_property
    def talk(self) -> str:
        """The story, blank where the order stands."""
        text = self.said.text
        return text[: self.begin] + " " * (self.end - self.begin) + text[self.end :]

    @cached_property
    def marked(self) -> str:
        """What stands before the order, with every sum marked."""
        text = self.said.text[: self.begin]
        for span in (span for span in self.sums if span.end <= self.begin):
            text = text[: span.start] + _SUM * (span.end - span.start) + text[span.end :]
        return text

    @cached_property
    def sums(self) -> list[Span]:
        """The sums that are told, but for what counts things."""
        spans = (span for span in self.said.heard.spans if span.kind in SUMS and self.tells(span.start))
        return [span for span in spans if not points(self.said, span) and not self._counts(span)]

    def _counts(self, span: Span) -> bool:
        """Whether it is a number of things: "four bales"."""
        values = comes_to(span, self.said.heard)
        return span.kind is SpanKind.NUMBER and all(v.amount_minor < _TEN * unit(self.said.heard) for v in values)

    @cached_property
    def beside_a_sum(self) -> bool:
        """Whether a sum stands right before the order, without a word for what of it: 「六万二千円、吉田さんに」."""
        before = self.said.text[: self.begin].rstrip("、") if not self.said.rules.spaced else ""
        return any(before.endswith(span.surface) and span.end == len(before) for span in self.sums)

    def tells(self, place: int) -> bool:
        """Whether a code point stands in the story."""
        return not self.begin <= place < self.end

    def people(self) -> dict[PayeeId, Evidence]:
        """Who is told of, but for whose something is beside another; where words are spaced, whoever is called."""
        said, match = self.said, self.said.heard.payees
        named = [(Evidence.naming(match, RULE), match.choice)] if match is not None and match.choice is not None else []
        named += self._called() if said.rules.spaced else self._clearly()
        told = [(evidence, id_) for evidence, id_ in named if self.tells(evidence.start)]
        owners = [one for one in told if said.rules.patterns.names.owner.match(said.text, one[0].end)]
        told = [one for one in told if one not in owners] or told
        return {id_: evidence for evidence, id_ in reversed(told)}

    def _clearly(self) -> list[tuple[Evidence, PayeeId]]:
        """Those who are named, each by a name of one alone."""
        return [(evidence, ids[0]) for evidence, ids in Mentions.of_all(self.said).everyone if len(ids) == 1]

    def _called(self) -> list[tuple[Evidence, PayeeId]]:
        """Those of the words of a story that call somebody."""
        said, words, units = self.said, self.said.hearing.reading.words, self.said.units
        free = [at for at, start in enumerate(units.starts) if self.tells(start) and words[at].isalpha()]
        free = [at for at in free if kin(said.hearing, at) or not said.rules.trie.begins(words, at)]
        places = [(units.starts[at], units.ends[at]) for at in free[:_NAMES]]
        found = [(place, said.called(_OWNS.sub("", said.text[slice(*place)]))) for place in places]
        found += [
            (place, said.called(said.text[slice(*place)].removesuffix("s")))
            for place, one in found
            if not (one and one.choice)
        ]
        return [(said.heard.evidence(*place, RULE), one.choice) for place, one in found if one and one.choice]


def stories(said: Said) -> Iterator[Story]:
    """Where an order may begin behind a story, the last place first, or end before one."""
    patterns, text, size = said.rules.patterns, said.text, len(said.text)
    begun = [match for match in patterns.orders.order_begins.finditer(text) if _free(said, match)]
    for match in [match for match in begun if match.start("do") < size][: -_MOST - 1 : -1]:
        yield Story(said, match.start("do"), size, sure=bool(match["so"] or match["led"]))
    behind = patterns.stories.told_behind.search(text)
    if behind is not None:
        drawn = patterns.orders.drawn_last.search(text, behind.end("why") if said.rules.spaced else size)
        yield Story(said, 0, behind.start("why"), sure=drawn is None)
    yield Story(said, 0, size, sure=True)


def _free(said: Said, match: re.Match[str]) -> bool:
    """Whether no word before an order's beginning governs it: "he told me to | pay"."""
    words, last = said.rules.words, said.rules.units(said.text[: match.start()]).words[-1:]
    holding, closing = (words.governing, words.subjects, words.onto, _JOINS), (words.them, _JOINS, _CLOSES)
    held = not all(each.isdisjoint(last) for each in holding)
    closed = bool(match["led"]) and not all(each.isdisjoint(last) for each in closing)
    return bool(match["so"]) or not held or closed


def idle(story: Story) -> bool:
    """Whether something is told in the story, nothing taken back, or made to hang on anything."""
    said, patterns, talk = story.said, story.said.rules.patterns.stories, story.talk
    if not talk.strip():
        return True
    if patterns.told_of.search(talk) is None or patterns.takes_back.search(talk) is not None:
        return False
    if patterns.gives_too.search(story.marked) or patterns.hangs_first.match(talk) or _day_before(story):
        return False
    if story.end < len(said.text) and not _only_why(story):
        return False
    units = said.units.starts
    at, stop = (sum(start < place for start in units) for place in (story.begin, story.end))
    vetoes = vetoes_met(said.hearing, 0, at) | vetoes_met(said.hearing, stop, len(units))
    return not (vetoes & _STOPS or ("conditional" in vetoes and patterns.hangs_on.search(talk)))


def ordered_before(story: Story) -> bool:
    """Whether the words before the order are an order by themselves."""
    other = story.said.look(0, story.begin, story.said.context) if story.begin else None
    return other is not None and other.moves and other.whole and not other.missing


def _day_before(story: Story) -> bool:
    """Whether a day stands right before the order, as a part of it: 「あさって、妹に…」."""
    end = len(story.said.text[: story.begin].rstrip("、 ,"))
    spaced = story.said.rules.spaced  # "he came on friday | send him fifty"
    return not spaced and any(span.kind in DATED and span.end == end for span in story.said.heard.spans)


def _only_why(story: Story) -> bool:
    """Whether what stands behind an order only tells why: it mends nothing, and names nothing that is the order's."""
    said, patterns, end = story.said, story.said.rules.patterns, story.end
    marks, units = said.rules.cues, said.units
    places = [at for at, start in enumerate(units.starts) if start >= end]
    if patterns.amounts.mends.search(said.text, end) or any(marks.repairs.scan(units.words, at) for at in places):
        return False
    nouns = said.hearing.nouns
    if any(nouns.nouns[e.symbol].id is not None for at in places for e in nouns.trie.scan(units.words, at)):
        return False
    sums = any(span.start >= end for span in story.sums)
    return not sums or patterns.stories.compared.match(said.text, end) is not None
