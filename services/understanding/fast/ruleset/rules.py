"""The shape of rules/intents: words, intents, vetoes, nouns and confidence, each file validated at load."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rules.load import RuleFile
from schemas.intent import MONEY_MOVING, Intent, Route

RuleClass = Literal["exact", "wide", "weak"]
When = Literal[
    "always",
    "asked",
    "confirming",
    "pending",
    "code",
    "offered",
    "joined",
    "further",
    "recent",
    "billed",
    "balanced",
    "billing",
    "alone",
    "readback",
    "locking",
    "idle",
    "outgoing",
]


class WordsFile(RuleFile):
    """Fillers, phrase lists, expansion rules, what no name is made of, weak nouns, words to mend when mistyped.

    `asides` say nothing at either end of a sentence, nor do `answers` where nothing was asked; `closings`
    end a call in which nothing is awaited, `holds` ask for a moment. A number before one of `counted` is no amount,
    nor is the word `one` behind one of `ones` or behind a kind of account, card or bill. An account after one of
    `others`, or before one of `whose`, is not the caller's; after `onto` money goes there (not with `being` behind
    that), after `outof` it comes from there; after `at_number` four digits may be its number; before one of
    `after_verbs` (checking my …) it is none. A reason begins with one of `subjects` and holds one of `finite`, and no
    time but `passing`; with one of `owing` it tells the sum, a number before one of `uncounted` too, or behind
    `summing`, and with one of `omitted` which bill was not paid; `them` point back to who was named there; those of
    `light` say nothing beside an order; with one of `twists` it is not what its parts say.
    Without a mark a clause begins at one of `requests`, or of `tellings` where no verb stands before it, and at
    neither behind one of `governing`. Behind one of `favours` the caller got something: "she bought me a coffee";
    of the caller one of `settling` may say that nothing is owed any more.
    Words that begin with one of `asking` are a question, unless something is asked for before.
    With one of `objecting`, what is said to a read-back and not understood is a no to it,
    and with one of `relative` it tells by how much, not how much. Beside one of `mentioning`, or behind one of
    `declining`, an amount and a name without a verb are no order; behind a price after one of `pricing`, "it" may be a
    thing. One of `alarms` tells of a fraud, or of a payment that somebody else made.
    """

    spaced: bool
    leading_particles: str = ""
    maybe_particles: str = ""
    fillers: tuple[str, ...]
    conjunctions: tuple[str, ...]
    requests: tuple[str, ...] = ()
    tellings: tuple[str, ...] = ()
    governing: tuple[str, ...] = ()
    favours: tuple[str, ...] = ()
    settling: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    counted: tuple[str, ...] = ()
    one: tuple[str, ...] = ()
    ones: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    onto: tuple[str, ...] = ()
    outof: tuple[str, ...] = ()
    whose: tuple[str, ...] = ()
    being: tuple[str, ...] = ()
    at_number: tuple[str, ...] = ()
    after_verbs: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    finite: tuple[str, ...] = ()
    owing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()
    uncounted: tuple[str, ...] = ()
    summing: tuple[str, ...] = ()
    them: tuple[str, ...] = ()
    light: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()
    twists: tuple[str, ...] = ()
    objecting: tuple[str, ...] = ()
    mentioning: tuple[str, ...] = ()
    declining: tuple[str, ...] = ()
    pricing: tuple[str, ...] = ()
    alarms: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    noun_conjunctions: tuple[str, ...] = ()
    lists: dict[str, tuple[str, ...]]
    rules: dict[str, str]
    not_names: tuple[str, ...]
    weak_nouns: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class TemplateRule(BaseModel):
    """One template: `say` its sentences, `give` the slots it sets by itself, `vetoes` its own instead of the file's.

    `when` is recent, it counts after the command of its own intent alone, while nothing is awaited; billed, after a
    bill was asked about; balanced, after a balance was; billing, while the payment of one waits; alone, where nothing
    else is said; readback, where an order was read back;
    outgoing, where it goes to none of the caller's own accounts.
    """

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
    """What callers call kinds of accounts, cards and bills; a thing is of a kind when its name holds such a word.

    `brands` are companies that send bills: each is the caller's where a bill bears its name, and never for its kind.
    After words of `ending` stand the last digits of a number, and beside these, by kind, what has it (`numbered`).
    """

    accounts: dict[str, tuple[str, ...]]
    cards: dict[str, tuple[str, ...]]
    bills: dict[str, tuple[str, ...]]
    brands: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    numbered: dict[str, tuple[str, ...]] = Field(default_factory=dict)


class Guess(BaseModel):
    """An intent that words suggest when each of `all_of` is among them: phrases, or typed tokens in braces."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: Intent
    all_of: tuple[tuple[str, ...], ...]


class RoutingFile(RuleFile):
    """Where words go that no template takes: what speaks of banking, what asks, and what is never a command."""

    banking: tuple[str, ...]
    asking: tuple[str, ...]
    inquiring: tuple[str, ...] = ()
    """How questions about an order that waits begin."""
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
    """Which hypotheses are near: natural-log odds of the best sentence against them; tokens are told by its length.

    `figures`: added for each figure more than the best amount has, from the second on: few send 5,001.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    odds: float = Field(ge=0, le=10)
    tokens_a_character: float = Field(gt=0, le=4)
    figures: float = Field(ge=0, le=5)


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
