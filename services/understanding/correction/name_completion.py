"""A name that is told in two places: 「健くんに三千円送って、佐藤のほう」, 「伊藤さんに一万円、北斗の」.

Where a name may be several people's, what stands alone in a later clause tells which of them, if it makes a whole name
with the first, or is one. Anybody who was not a candidate for the name alone is asked about as before.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Final

from schemas.intent import COUNTED, Understood
from schemas.payee import FindPayee, MatchOutcome, PayeeMatch
from services.understanding.correction.merging import said_in
from services.understanding.correction.said import Said

_MOST: Final = 3
"""Clauses that are looked at."""

Told = Callable[[str, PayeeMatch], Understood]
"""What another text means, in which that payee is named."""


def called_in_two(said: Said, found: Understood, find: FindPayee, told: Told) -> Understood | None:
    """The order for the one whom both parts of the name tell; None where nothing is told of an open name."""
    match, text, patterns = said.heard.payees, said.text, said.rules.patterns.names
    if match is None or match.outcome is not MatchOutcome.ASK or found.consent is not None:
        return None
    first = patterns.titled.sub("", match.heard, count=1)
    for later in islice(patterns.named_later.finditer(text, match.end), _MOST):
        name = later["name"]
        place, _, given = name.partition(patterns.of)
        whole = name if first in name else f"{place}{patterns.of}{first}{given}"
        meant = find(whole + patterns.to_somebody)
        if meant is None or meant.outcome is not MatchOutcome.CLEAR or meant.choice is None:
            continue
        if meant.choice not in {each.id for each in match.candidates}:
            continue
        start, end = later.span()
        plain = text[:start] + "、" * (end - start) + text[end:]
        named = replace(meant, start=match.start, end=match.end, heard=match.heard)
        order = said_in(told(plain, named), text)
        if order.intent in COUNTED and order.rule is not None and order.slots.payee is not None:
            return order
    return None
