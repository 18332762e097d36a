"""Orders that are offered, never read back at once."""
