"""The banks that English callers tell namesakes apart by: "john porter at cedar bank", "the cedar john porter"."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from schemas.payee import Payee
from services.payees.banked import Banked, owners_by_bank
from services.payees.data import english_finder
from services.payees.fold import is_japanese

_SHORTEST: Final = 4
"""Letters of a bank's name without what every bank is called; shorter ones are any word."""
_NEXT: Final = re.compile(r"\W*([a-z']+)", re.IGNORECASE)


class BanksNamed:
    """The banks of one book, as they stand beside a name."""

    def __init__(self, payees: Sequence[Payee]) -> None:
        self._banks = owners_by_bank(payees, _names, lambda bank: not is_japanese(bank))
        self._behind, self._before = _said(self._banks)
        self._first = frozenset(name.split()[0] for name in self._banks)

    def banked(self, text: str) -> Banked | None:
        """The utterance without the bank that is named in it, where it is one of the book's and nothing else."""
        said = text.casefold()
        if not any(word in said for word in self._first):  # the patterns take far longer to find nothing
            return None
        for found in self._behind.finditer(text):
            after = _NEXT.match(text, found.end())
            if after is None or after[1].lower() in english_finder().kinds:  # "at harbour electric" is no bank's
                return self._without(text, found)
        before = self._before.search(text)
        after = _NEXT.match(text, before.end()) if before is not None else None
        if before is None or after is None or after[1].lower() in english_finder().kinds:
            return None
        return self._without(text, before)

    def _without(self, text: str, found: re.Match[str]) -> Banked | None:
        owners = self._banks.get(" ".join(found["bank"].lower().split()))  # a pattern takes "ſ" for an s
        return Banked.without(text, found, owners) if owners is not None else None


def _said(names: Iterable[str]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A bank behind a name, and one before it."""
    rules = english_finder()
    each = (r"\s+".join(map(re.escape, name.split())) for name in sorted(names, key=len, reverse=True))
    bank = f"(?P<bank>{'|'.join(each) or '(?!)'})"
    at, things = "|".join(rules.at_a_bank), "|".join(rules.of_a_bank)
    behind = rf",?\s+(?:(?:{at})\s+)?(?:the\s+)?{bank}(?:\s+(?:{things}))*\b"
    return re.compile(behind, re.IGNORECASE), re.compile(rf"\b{bank}\s+(?:bank\s+)?(?=[a-z])", re.IGNORECASE)


def _names(bank: str) -> list[str]:
    """A bank's name with and without what many banks are called, in either spelling: Harbour Federal, Harbor."""
    rules, words = english_finder(), bank.lower().split()
    names: list[str] = []
    for spelled in (words, [rules.spelled.get(word, word) for word in words]):
        kinds = (each.split() for each in rules.bank_words)
        size = max((len(kind) for kind in kinds if spelled[-len(kind) :] == kind), default=0)
        short = spelled[: len(spelled) - size] or spelled
        alone = " ".join(short)
        distinct = len(alone) >= _SHORTEST and alone not in rules.kinds
        names += [" ".join(spelled), *([alone] if short != spelled and distinct else [])]
    return names
