"""The last digits of an account, beside a name: "john porter ending in four four seven eight"."""

import re
from collections.abc import Sequence
from typing import Final

from schemas.payee import Payee
from services.payees.banked import Banked
from services.payees.data import english_finder

_HINT: Final = "end"
_MOST: Final = 4
_MARKS: Final = re.compile(r"[\s,.-]+")


class EndingsNamed:
    """The last digits of the accounts of one book."""

    def __init__(self, payees: Sequence[Payee]) -> None:
        self._last4 = [payee.account_last4 for payee in payees]
        rules = english_finder()
        self._digits = rules.digits
        digit = rf"(?:{'|'.join(rules.digits)}|\d)(?![a-z])"
        said = rf"(?P<digits>{digit}(?:[\s,.-]*{digit}){{{_MOST - 1}}})(?!\d)"
        self._behind = re.compile(rf",?\s+(?:{'|'.join(rules.ending_in)})\s+{said}", re.IGNORECASE)

    def banked(self, text: str) -> Banked | None:
        """The utterance without the digits that are named in it, and whose account ends so; None where none are."""
        found = self._behind.search(text) if _HINT in text.casefold() else None
        if found is None:
            return None
        told = "".join(self._digits.get(each, each) for each in _MARKS.split(found["digits"].lower()))
        owners = frozenset(owner for owner, last4 in enumerate(self._last4) if last4 == told)
        return Banked.without(text, found, owners) if owners else None
