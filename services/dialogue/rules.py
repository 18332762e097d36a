"""Thresholds and bounds of the dialogue: rules/dialogue."""

import re
from collections.abc import Iterable
from functools import lru_cache

from pydantic import Field

from rules.load import RuleFile, load


class DialogueRules(RuleFile):
    """See rules/dialogue/dialogue.yaml."""

    yes_confidence: float
    told: float
    choices: int
    prompts: int
    payees_listed: int
    bills_listed: int
    transactions_listed: int
    transactions_most: int
    transactions_summed: int
    queued: int
    other_named: frozenset[str] = frozenset()
    patience: int
    that_card: frozenset[str]
    pays: frozenset[str] = frozenset()
    wished: frozenset[str] = frozenset()
    that_bill: frozenset[str]
    of_that: frozenset[str]
    to_that: frozenset[str]
    in_there: frozenset[str] = frozenset()
    bare_account: frozenset[str] = frozenset()
    to_them: frozenset[str] = frozenset()
    that_history: frozenset[str] = frozenset()
    of_other: frozenset[str]
    earlier: frozenset[str]
    last_time: frozenset[str] = frozenset()
    same_history: frozenset[str]
    others: frozenset[str] = frozenset()
    stretch_before: frozenset[str] = frozenset()
    first_due: frozenset[str] = frozenset()
    last_of_it: frozenset[str] = frozenset()
    of_all_told: frozenset[str] = frozenset()
    limit_asked: frozenset[str] = frozenset()
    own_limit: str = "(?!)"
    come_in_then: frozenset[str] = frozenset()
    shops: str = "(?!)"
    name_joints: str = "(?!)"
    shop_kinds: tuple[tuple[str, str], ...] = ()
    incomes: tuple[tuple[str, str], ...] = ()
    again: frozenset[str]
    further_sum: frozenset[str]
    besides: frozenset[str]
    asked_first: frozenset[str]
    which_card: frozenset[str]
    every_order: frozenset[str] = frozenset()
    of_all: frozenset[str] = frozenset()
    instalments: frozenset[str] = frozenset()
    asked_left: frozenset[str] = frozenset()
    gone_wrong: frozenset[str] = frozenset()
    not_here: frozenset[str] = frozenset()
    left_unpaid: frozenset[str] = frozenset()
    what_now: frozenset[str] = frozenset()
    warned: frozenset[str] = frozenset()
    by_reading: frozenset[str]
    owed_to: dict[str, str] = Field(default_factory=dict)
    sounds: tuple[tuple[str, str], ...] = ()
    sound_begins: tuple[str, ...] = ()
    told_from: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    vague: tuple[str, ...]
    vague_short: dict[str, str]
    reask_amount: tuple[str, ...]
    read_again: tuple[str, ...]
    fragment: int
    word_endings: str
    repeating: str
    hanging: str
    leaning: str
    refusing: str
    pronoun: str
    elided: frozenset[str]
    its_bill: str
    related_by: str
    questions: dict[str, str]

    def heard(self, name: str) -> str:
        """A name without what its spelling alone tells."""
        for spelled, sound in self.sounds:
            name = re.sub(spelled, sound, name)
        return name

    def income(self, said: str) -> str:
        """What a history's names match where this came in, as a regular expression."""
        known = (kept for heard, kept in self.incomes if re.search(heard, said, re.IGNORECASE))
        return next(known, re.escape(said))

    def parts_of(self, shop: str) -> tuple[str, ...]:
        """What of a shop's name a history may have, as regular expressions: its words, then what kind of shop it is."""
        words = (each for each in re.split(self.name_joints, shop, flags=re.IGNORECASE) if len(each) > 1)
        kinds = (kept for heard, kept in self.shop_kinds if re.search(heard, shop, re.IGNORECASE))
        return tuple(dict.fromkeys((*(rf"(?<![a-z]){re.escape(each)}(?![a-z]{2})" for each in words), *kinds)))

    def repeats(self, piece: str) -> bool:
        """Whether words that nothing was made of ask for more than one payment: 毎月, ずつ三回."""
        return re.search(self.repeating, piece) is not None

    def conditional(self, pieces: Iterable[str]) -> bool:
        """Whether an order hangs on one of the words that nothing was made of: "if I was paid"."""
        return any(re.search(self.hanging, piece, re.IGNORECASE) for piece in pieces)

    def leans(self, text: str) -> bool:
        """Whether words go on with a question: "and on Sundays?"."""
        return re.search(self.leaning, text, re.IGNORECASE) is not None

    def asks_limit(self, text: str) -> bool:
        """Whether a question that no rule has read is about how much may be sent, which no document knows."""
        return re.search(self.own_limit, text) is not None

    def refuses(self, text: str) -> bool:
        """Whether words begin with a refusal, or say what is not meant: "no, the saver", 「普通じゃなくて」."""
        return re.search(self.refusing, text, re.IGNORECASE) is not None

    def refers(self, text: str) -> bool:
        """Whether a question may be about what was asked before."""
        return self.leans(text) or re.search(self.pronoun, text, re.IGNORECASE) is not None

    def without_its_kind(self, bill: str) -> str:
        """A bill's name where the word for a bill follows: "Mastercard bill" is none of two."""
        return re.sub(self.its_bill, "", bill) or bill

    def only_endings(self, pieces: Iterable[str]) -> bool:
        """Whether each piece may be the end of a word that was read without it."""
        return all(re.fullmatch(self.word_endings, piece) for piece in pieces)


@lru_cache(maxsize=1)
def dialogue_rules() -> DialogueRules:
    """The rules, read once a process. Raises RulesInvalid."""
    return load("dialogue/dialogue.yaml", DialogueRules)
