"""Digits keyed on a telephone: they end on `#`, on a pause, or when there are enough."""

from typing import Final

from schemas.ids import RuleId
from services.audio.endpointing import Timing

_HASH: Final = RuleId("keypad.hash@1")
_PAUSE: Final = RuleId("keypad.pause@1")
_FULL: Final = RuleId("keypad.full@1")


class Keypad:
    """One caller's digits. Times are seconds of the call's clock."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._digits = ""
        self._last_at = 0.0

    @property
    def busy(self) -> bool:
        """Whether digits are being keyed."""
        return bool(self._digits)

    def press(self, key: str, at: float) -> tuple[str, RuleId] | None:
        """Take a key; the digits and the rule that ended them, when it did. `*` starts over."""
        self._last_at = at
        if key == "#":
            return self._take(_HASH)
        self._digits = "" if key == "*" else self._digits + key
        return self._take(_FULL) if len(self._digits) >= self._timing.keypad_digits else None

    def elapsed(self, now: float) -> tuple[str, RuleId] | None:
        """The digits, when the caller has paused."""
        paused = (now - self._last_at) * 1000 >= self._timing.keypad_pause_ms
        return self._take(_PAUSE) if paused else None

    def _take(self, rule: RuleId) -> tuple[str, RuleId] | None:
        digits, self._digits = self._digits, ""
        return (digits, rule) if digits else None
