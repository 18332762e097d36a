"""Words of others that are shown or spoken: without what moves a terminal, a line or the direction of writing."""

import re
from typing import Final

_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]+")


def fault_words(error: BaseException) -> str:
    """What kind of error it is, and what it says, if anything: for one whose words hold no secret."""
    return f"{type(error).__name__} {error}".strip()


def printable(text: str) -> str:
    """`text` with control characters and overrides of direction as one space each run; joiners of scripts stay."""
    return _CONTROL.sub(" ", text).strip() if _CONTROL.search(text) else text
