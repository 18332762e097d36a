"""Time and identity: the system's, and one that tests turn by hand."""

import secrets
import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The real clock."""

    def now(self) -> datetime:
        """The current moment, UTC."""
        return datetime.now(UTC)  # noqa: TID251 - this is the one place

    def monotonic(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()

    def new_id(self) -> str:
        """128 random bits, URL-safe."""
        return secrets.token_urlsafe(16)


class ManualClock:
    """A clock for tests and replay: it moves only when told to, and counts its identifiers."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._ids = 0

    def now(self) -> datetime:
        """The moment it was set to."""
        return self._now

    def monotonic(self) -> float:
        """The set moment, in seconds."""
        return self._now.timestamp()

    def new_id(self) -> str:
        """`id-1`, `id-2`, …"""
        self._ids += 1
        return f"id-{self._ids}"

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._now += timedelta(seconds=seconds)
