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
    "paying",
    "alone",
    "readback",
    "ordered",
    "locking",
    "idle",
    "outgoing",
]


class WordsFile(RuleFile):
    """Words by what they do in a sentence, and what templates are made of."""

    spaced: bool  # words stand apart
    leading_particles: str = ""  # a longer name begins with none of these
    maybe_particles: str = ""  # one of more than two characters may begin with one, or behind it
    fillers: tuple[str, ...]  # say nothing
    conjunctions: tuple[str, ...]  # join commands, and clauses
    requests: tuple[str, ...] = ()  # a clause begins there without a mark
    tellings: tuple[str, ...] = ()  # the same, where no verb stands before it
    governing: tuple[str, ...] = ()  # behind one of these none begins
    favours: tuple[str, ...] = ()  # behind one of these the caller got something: "she bought me a coffee"
    settling: tuple[str, ...] = ()  # of the caller: nothing is owed any more
    asides: tuple[str, ...] = ()  # say nothing at either end of a sentence
    answers: tuple[str, ...] = ()  # nor do these, where nothing was asked
    closings: tuple[str, ...] = ()  # end a call in which nothing is awaited
    holds: tuple[str, ...] = ()  # ask for a moment
    counted: tuple[str, ...] = ()  # a number before one of these is no amount
    one: tuple[str, ...] = ()  # nor is this word
    ones: tuple[str, ...] = ()  # behind one of these, or a kind of account, card or bill
    others: tuple[str, ...] = ()  # an account after one of these is not the caller's
    onto: tuple[str, ...] = ()  # money goes to an account after one of these
    outof: tuple[str, ...] = ()  # it comes from there
    whose: tuple[str, ...] = ()  # an account before one of these is not the caller's
    being: tuple[str, ...] = ()  # behind `onto`: it does not go there
    at_number: tuple[str, ...] = ()  # four digits after one of these may be its number
    after_verbs: tuple[str, ...] = ()  # before one of these it is none: "checking my …"
    possessives: tuple[str, ...] = ()  # make of a name an owner
    titles: tuple[str, ...] = ()  # behind a name of one character: 健さん
    having: tuple[str, ...] = ()  # behind a possessive that is a verb: "emily's to have"
    before_me: tuple[str, ...] = ()  # leave an order what it is
    each_of: tuple[str, ...] = ()  # between what is counted and what each of them is
    any_one: tuple[str, ...] = ()  # before a thing that is not the caller's own alone
    as_much: tuple[str, ...] = ()  # behind an amount: it is only wondered at
    joining: tuple[str, ...] = ()  # make what is before them belong to the noun behind
    reaching: tuple[str, ...] = ()  # behind whoever it goes to
    asks: tuple[str, ...] = ()  # end a question
    callers: tuple[str, ...] = ()  # stand for the caller, where a clause begins
    mine: tuple[str, ...] = ()  # the same, to whom something is done
    for_caller: tuple[str, ...] = ()  # before one of these it leaves an order what it is
    doers: tuple[str, ...] = ()  # before a verb: nothing is ordered with it
    levels: tuple[str, ...] = ()  # before a sum that an account is to hold
    subjects: tuple[str, ...] = ()  # a reason begins with one
    finite: tuple[str, ...] = ()  # and holds one of these
    owing: tuple[str, ...] = ()  # with one of these it tells the sum
    passing: tuple[str, ...] = ()  # it holds no other time than these
    omitted: tuple[str, ...] = ()  # with one of these it tells which bill was not paid
    uncounted: tuple[str, ...] = ()  # a number before one of these tells it too
    summing: tuple[str, ...] = ()  # and so does one behind these
    them: tuple[str, ...] = ()  # point back to who was named in it
    light: tuple[str, ...] = ()  # say nothing beside an order
    asking: tuple[str, ...] = ()  # words that begin with one are a question, unless something is asked for before
    twists: tuple[str, ...] = ()  # with one of these an order is not what its parts say
    objecting: tuple[str, ...] = ()  # said to a read-back, and not understood: a no
    mentioning: tuple[str, ...] = ()  # beside one of these an amount and a name without a verb are no order
    declining: tuple[str, ...] = ()  # nor are they behind one of these
    pricing: tuple[str, ...] = ()  # behind a price after one of these "it" may be a thing
    alarms: tuple[str, ...] = ()  # tell of a fraud, or of a payment that somebody else made
    sound_alike: tuple[str, ...] = ()  # numbers that may be other words, misheard
    relative: tuple[str, ...] = ()  # tell by how much, not how much
    noun_conjunctions: tuple[str, ...] = ()  # join things of the caller's
    lists: dict[str, tuple[str, ...]]  # what templates take of a kind
    rules: dict[str, str]  # what templates are made of
    not_names: tuple[str, ...]  # no name is made of these
    weak_nouns: tuple[str, ...] = ()  # are a thing of the caller's only where nothing else fits
    keywords: tuple[str, ...] = ()  # are mended when they are mistyped


class TemplateRule(BaseModel):
    """One template: `say` its sentences, `give` the slots it sets by itself, `vetoes` its own instead of the file's.

    `when` is recent, it counts after the command of its own intent alone, while nothing is awaited; billed, after a
    bill was asked about; balanced, after a balance was; billing, while the payment of one waits; alone, where nothing
    else is said; readback, where an order was read back; ordered, where it still waits, for a code as well;
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
    A part of a thing's name stands for it, unless it is what each thing of its kind is called (`generic`), or anything
    (`called`); `behind` it may be said what the thing is, and Latin letters may be written as they sound.
    """

    accounts: dict[str, tuple[str, ...]]
    cards: dict[str, tuple[str, ...]]
    bills: dict[str, tuple[str, ...]]
    brands: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    numbered: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    generic: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    called: tuple[str, ...] = ()
    behind: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    sounds: dict[str, tuple[str, ...]] = Field(default_factory=dict)


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
