"""What readers of every language share: what one is, figures as they are written, and figures read one by one."""

import re
from collections.abc import Callable
from typing import Final

Reader = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]
"""A form that is read by rule, and what it is read as; None where it is something else after all."""
FIGURES: Final = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?"
LONG: Final = 7
"""So many figures without a comma are no amount, but a string."""
NOON: Final = 12
_LEAST: Final = 5
"""Fewer figures with a mark between them may be a range: 2-3."""


def grouped(found: re.Match[str], digits: Callable[[str], str], plus: str, pause: str) -> str | None:
    """Telephone numbers, sort codes and the like: digit by digit, a `pause` between groups, `plus` for a leading +."""
    groups = re.findall(r"\d+", found[0])
    if sum(map(len, groups)) < _LEAST:
        return None
    return (plus if found[0].startswith("+") else "") + pause.join(map(digits, groups))
