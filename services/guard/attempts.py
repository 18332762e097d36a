"""Calls of what may fail: so many at once, none while it keeps failing, and what each tells its breaker."""

from collections.abc import Iterator
from contextlib import contextmanager

from schemas.errors import DependencyFailed, TellerlineError, TimedOut
from services.ports import Breaker


class Attempt:
    """A call under way. `ok` is what its end will tell, where nothing more is learned until then."""

    def __init__(self) -> None:
        self.ok: bool | None = None


class Attempts:
    """Calls behind a breaker, `most` at once. For one event loop."""

    def __init__(self, breaker: Breaker, most: int) -> None:
        self._breaker = breaker
        self._most = most
        self._running = 0

    @contextmanager
    def begin(self, full: TellerlineError, failing: TellerlineError) -> Iterator[Attempt]:
        """A call: well where the block ends, ill where it raises DependencyFailed or TimedOut, else as `ok` says.

        Raises `full` where too many run, `failing` where none may be made.
        """
        if self._running >= self._most:
            raise full
        settle = self._breaker.admit()
        if settle is None:
            raise failing
        self._running += 1
        attempt = Attempt()
        try:
            yield attempt
            attempt.ok = True
        except (DependencyFailed, TimedOut):
            attempt.ok = False
            raise
        finally:
            self._running -= 1
            settle(attempt.ok)
