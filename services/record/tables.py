"""The audit's tables: the chain, its head, key seeds a customer and day, whose deletion shreds, and what of spools."""

from typing import Final

import sqlalchemy as sa

from services.store import metadata

records: Final = sa.Table(
    "audit_records",
    metadata,
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("event", sa.String(100), nullable=False),
    sa.Column("call_id", sa.String(128), nullable=False, server_default=""),
    sa.Column("subject", sa.String(32), nullable=False),
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("personal", sa.LargeBinary),
    sa.Index("ix_audit_records_subject", "subject"),
)

head: Final = sa.Table(
    "audit_head",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)

seeds: Final = sa.Table(
    "audit_seeds",
    metadata,
    sa.Column("subject", sa.String(32), primary_key=True),
    sa.Column("day", sa.String(10), primary_key=True),
    sa.Column("seed", sa.LargeBinary, nullable=False),
)

erased: Final = sa.Table(
    "audit_erased",
    metadata,
    sa.Column("subject", sa.String(32), primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=False),
)
"""Until when all that a customer said was to be forgotten, also what is yet to be put on record."""

spools: Final = sa.Table(
    "audit_spools",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("through", sa.BigInteger, nullable=False),
)
"""How far each gateway's spool of records has been taken into the chain: a record's number, by the spool's name."""
