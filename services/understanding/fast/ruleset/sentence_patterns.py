"""What no list of words tells: the files of rules/intents/LANGUAGE/patterns, read together."""

from dataclasses import dataclass
from typing import TypeVar

from rules.load import RuleFile, exists, load_filled
from services.understanding.fast.ruleset.pattern_groups import (
    AlarmPatterns,
    AmountPatterns,
    InquiryPatterns,
    NamePatterns,
    OrderPatterns,
    OwnPatterns,
    PatternParts,
    RefusalPatterns,
    StoryPatterns,
    WordingPatterns,
)

G = TypeVar("G", bound=RuleFile)


@dataclass(frozen=True, slots=True)
class SentencePatterns:
    """A language's regular expressions, a group a file; a file that it lacks matches nowhere."""

    names: NamePatterns
    amounts: AmountPatterns
    refusals: RefusalPatterns
    orders: OrderPatterns
    stories: StoryPatterns
    inquiries: InquiryPatterns
    own: OwnPatterns
    alarms: AlarmPatterns
    wordings: WordingPatterns


def sentence_patterns(language: str) -> SentencePatterns:
    """The patterns of a language. Raises RulesInvalid."""
    words = _group(language, "parts", PatternParts, {}).model_dump(exclude={"id", "version"})

    def group(name: str, model: type[G]) -> G:
        return _group(language, name, model, words)

    return SentencePatterns(
        names=group("names", NamePatterns),
        amounts=group("amounts", AmountPatterns),
        refusals=group("refusals", RefusalPatterns),
        orders=group("orders", OrderPatterns),
        stories=group("stories", StoryPatterns),
        inquiries=group("inquiries", InquiryPatterns),
        own=group("own", OwnPatterns),
        alarms=group("alarms", AlarmPatterns),
        wordings=group("wordings", WordingPatterns),
    )


def _group(language: str, name: str, model: type[G], words: dict[str, str]) -> G:
    path = f"intents/{language}/patterns/{name}.yaml"
    return load_filled(path, model, words) if exists(path) else model(id="intents.no_patterns", version=1)
