"""What protects the service and its callers: admission, breaker, redaction, audit."""

from services.guard.redact import open_facts

__all__ = ["open_facts"]
