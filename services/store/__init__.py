"""The database: connections, units of work within deadlines, faults told apart."""

from services.store.store import (
    Store,
    alone,
    changed,
    insert_new,
    instant,
    metadata,
    micros,
    probe,
)

__all__ = [
    "Store",
    "alone",
    "changed",
    "insert_new",
    "instant",
    "metadata",
    "micros",
    "probe",
]
