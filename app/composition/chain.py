"""The audit's chain of an installation, the end of which is exported into the state folder."""

from pathlib import Path

from app.settings import Settings
from services.record.audit import ChainedAudit
from services.record.audit_keys import AuditKeys
from services.record.heads import FileHead
from services.store import Store


def head_file(settings: Settings) -> Path:
    """Where the chain's end is exported."""
    return settings.state_dir / "audit.head"


def chained(settings: Settings, store: Store, keys: AuditKeys) -> ChainedAudit:
    """The chain in this database."""
    return ChainedAudit(store, keys, FileHead(head_file(settings)))
