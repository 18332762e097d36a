"""A reading beside what is written: Unicode's interlinear annotation, which plain text may carry.

U+FFF9 written U+FFFA reading U+FFFB. Names whose reading the bank knows come in this way; a screen shows the written
part alone (`written`).
"""

import re
from typing import Final

_OPEN, _MIDDLE, _CLOSE = "\ufff9", "\ufffa", "\ufffb"
RUBY: Final = (
    f"{_OPEN}(?P<written>[^{_OPEN}{_MIDDLE}{_CLOSE}]*){_MIDDLE}(?P<reading>[^{_OPEN}{_MIDDLE}{_CLOSE}]*){_CLOSE}"
)
_PATTERN: Final = re.compile(RUBY)
_MARKS: Final = re.compile(f"[{_OPEN}{_MIDDLE}{_CLOSE}]")


def annotated(written: str, reading: str) -> str:
    """`written`, to be read as `reading`. Marks inside either are dropped."""
    written, reading = _MARKS.sub("", written), _MARKS.sub("", reading)
    return f"{_OPEN}{written}{_MIDDLE}{reading}{_CLOSE}" if reading else written


def written(text: str) -> str:
    """`text` as it is shown: without readings and without marks that stand alone."""
    return _MARKS.sub("", _PATTERN.sub(lambda found: found["written"], text))


def reading(found: re.Match[str]) -> str:
    """What is read for one annotation."""
    return found["reading"]
