"""The shape of rules/intents: words, intents, vetoes, nouns and confidence, each file validated at load."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rules.load import RuleFile
from schemas.intent import MONEY_MOVING, Intent, Route

RuleClass = Literal["exact", "wide", "weak"]
When = Literal["always", "asked", "confirming", "pending", "code", "offered", "joined"]


class WordsFile(RuleFile):
    """Fillers, phrase lists, expansion rules, what no name is made of, weak nouns, words to mend when mistyped."""

    spaced: bool
    leading_particles: str = ""
    maybe_particles: str = ""
    fillers: tuple[str, ...]
    conjunctions: tuple[str, ...]
    lists: dict[str, tuple[str, ...]]
    rules: dict[str, str]
    not_names: tuple[str, ...]
    weak_nouns: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class TemplateRule(BaseModel):
    """One template: `say` its sentences, `give` the slots it sets by itself, `vetoes` its own instead of the file's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    rule_class: RuleClass = Field(alias="class")
    say: tuple[str, ...]
    when: When = "always"
    asked: tuple[str, ...] = ()
    give: dict[str, str | int] = {}
    rejects: tuple[str, ...] = ()
    vetoes: tuple[str, ...] | None = None
    intent: Intent | None = None
    route: Route | None = None


class IntentFile(RuleFile):
    """An intent's templates. Any of `vetoes` found in the words stops them; `wants` must be known before acting."""

    intent: Intent
    vetoes: tuple[str, ...] = ()
    wants: tuple[str, ...] = ()
    templates: tuple[TemplateRule, ...]


class VetoFile(RuleFile):
    """Phrases by veto, and the phrases that hold such words and are harmless."""

    allowed: tuple[str, ...]
    vetoes: dict[str, tuple[str, ...]]


class NounsFile(RuleFile):
    """What callers call kinds of accounts, cards and bills; a thing is of a kind when its name holds such a word."""

    accounts: dict[str, tuple[str, ...]]
    cards: dict[str, tuple[str, ...]]
    bills: dict[str, tuple[str, ...]]


class Guess(BaseModel):
    """An intent that words suggest when each of `all_of` is among them: phrases, or typed tokens in braces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: Intent
    all_of: tuple[tuple[str, ...], ...]


class RoutingFile(RuleFile):
    """Where words go that no template takes: what speaks of banking, what asks, and what is never a command."""

    banking: tuple[str, ...]
    asking: tuple[str, ...]
    trouble: tuple[str, ...]
    guesses: tuple[Guess, ...] = ()


_SERIOUS = MONEY_MOVING | {Intent.CONFIRM, Intent.CARD_LOCK, Intent.CARD_UNLOCK, Intent.INFORM, Intent.CORRECT}


class Rescoring(BaseModel):
    """Which alternative may take the place of the likeliest words: log-probabilities a token, and what it may mean."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    within: float = Field(ge=0, le=10)
    above: float = Field(lt=0, ge=-10)
    intents: frozenset[Intent]

    @field_validator("intents")
    @classmethod
    def _harmless(cls, intents: frozenset[Intent]) -> frozenset[Intent]:
        if intents & _SERIOUS:
            raise ValueError("what moves money, changes a card or agrees is never taken from an alternative")
        return intents


class Contested(BaseModel):
    """Which hypotheses are near: natural-log odds of the best sentence against them; tokens are told by its length."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    odds: float = Field(ge=0, le=10)
    tokens_a_character: float = Field(gt=0, le=4)


class ConfidenceFile(RuleFile):
    """How sure a rule class is, what a poor transcript takes away, who wins a tie, where acting and asking begin."""

    classes: dict[RuleClass, float]
    logprob_free: float
    logprob_slope: float
    disagreement: float
    precedence: tuple[Intent, ...]
    rescoring: Rescoring
    contested: dict[str, Contested]
    act: float
    ask: float
