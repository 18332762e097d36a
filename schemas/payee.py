"""Payees and what a search among them says."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TypeAlias

from schemas.ids import PayeeId
from schemas.printable import printable


@dataclass(frozen=True, slots=True)
class Payee:
    """Someone a customer pays. `kana` is the key for Japanese names; `version` changes with the account behind it."""

    id: PayeeId
    name: str
    kana: str = ""
    aliases: tuple[str, ...] = ()
    relationship: str = ""  # "landlord", "sister", …: a word callers use with "my"
    bank: str = ""
    account_last4: str = ""
    currency: str = ""
    version: int = 1
    last_paid: date | None = None
    is_new: bool = False

    def __post_init__(self) -> None:
        """Names are whatever somebody once typed into a bank's form: what controls a screen never gets further."""
        for field in ("name", "kana", "relationship", "bank", "account_last4"):
            object.__setattr__(self, field, printable(getattr(self, field)))
        object.__setattr__(self, "aliases", tuple(printable(alias) for alias in self.aliases))


class MatchOutcome(StrEnum):
    """What a payee search concludes. A near tie is never a choice."""

    CLEAR = "clear"
    ASK = "ask"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class PayeeCandidate:
    """A payee that may be meant. `score` is a calibrated probability, 0 … 1; `told_apart_by` is speakable."""

    id: PayeeId
    display_name: str
    relationship: str
    score: float
    told_apart_by: str = ""


@dataclass(frozen=True, slots=True)
class PayeeMatch:
    """The result of a search: `heard` is `text[start:end]`; candidates best first, at most five.

    `choice` is set only when `outcome` is CLEAR; `plausible` counts the leading candidates worth asking about (≤ 3).
    """

    heard: str
    start: int
    end: int
    candidates: tuple[PayeeCandidate, ...]
    outcome: MatchOutcome
    choice: PayeeId | None = None
    plausible: int = 0


FindPayee: TypeAlias = Callable[[str], PayeeMatch | None]
"""Looks for who is meant by a text of its own: a name alone, or words with one in them."""
