"""A letter that tells one name from another that sounds like it: "katherine with a k", "shawn with a w"."""

import re
from collections.abc import Sequence
from typing import Final

from schemas.payee import Payee
from services.payees.banked import Banked
from services.payees.data import english_finder

_LETTERS: Final = r"(?P<letter>[a-z]|ph|ck|ae|ee)(?![a-z'’-])"


class LettersNamed:
    """The letters of the names of one book."""

    def __init__(self, payees: Sequence[Payee]) -> None:
        self._names = [f"{payee.name} {' '.join(payee.aliases)}".lower() for payee in payees]
        led = "|".join(english_finder().with_letter)
        self._hint = english_finder().letter_hint  # the pattern takes far longer to find nothing
        self._behind = re.compile(rf",?\s+(?:{led})\s+{_LETTERS}", re.IGNORECASE)

    def banked(self, text: str) -> Banked | None:
        """The utterance without the letter that is named in it, and whose names have it; None where none is."""
        found = self._behind.search(text) if self._hint in text.casefold() else None
        if found is None:
            return None
        letter = found["letter"].lower()
        owners = frozenset(owner for owner, name in enumerate(self._names) if letter in name)
        return Banked.without(text, found, owners)
