"""Dates."""

from services.normalize.scan import Match, Scan


def find_date(scan: Scan, at: int) -> Match | None:
    """Nothing yet."""
    del scan, at
    return None
