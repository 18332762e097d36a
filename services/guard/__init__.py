"""What protects the service and its callers: admission, breaker, redaction, audit."""
