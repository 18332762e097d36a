"""Identifiers. Opaque strings, told apart by type so that one can't be passed for another."""

from functools import lru_cache
from typing import NewType

CustomerId = NewType("CustomerId", str)
CallId = NewType("CallId", str)
AccountId = NewType("AccountId", str)
PayeeId = NewType("PayeeId", str)
CardId = NewType("CardId", str)
BillId = NewType("BillId", str)
ProposalId = NewType("ProposalId", str)
RuleId = NewType("RuleId", str)
"""A rule's identity with its version: `money.en.major@3`."""

Locale = NewType("Locale", str)
"""A BCP 47 tag that has a folder of rules: `en-US`, `en-GB`, `ja-JP`."""

EN_US = Locale("en-US")
EN_GB = Locale("en-GB")
JA_JP = Locale("ja-JP")


def language(locale: Locale) -> str:
    """The language part of a locale: `en` of `en-GB`."""
    return locale.partition("-")[0]


@lru_cache(maxsize=4_096)  # of rules alone, and what readers ask of them
def is_rule(rule: RuleId | None, *names: str) -> bool:
    """Whether it is one of these rules, in whatever language and version: `bill_payment.every`."""
    return rule is not None and f".{rule.partition('@')[0]}".endswith(tuple(f".{name}" for name in names))
