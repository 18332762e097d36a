"""How callers reach the service."""
