"""What protects the service and its callers: admission, shares, breaker, what counts once, redaction."""

from services.guard.attempts import Attempts
from services.guard.redact import open_facts

__all__ = ["Attempts", "open_facts"]
