"""Secrets: those of the settings, or ones the demo makes for itself and keeps under its state folder."""

import secrets
from typing import Final

from pydantic import SecretStr

from app.once import made_once
from app.settings import Environment, Settings
from schemas.errors import ConfigInvalid
from services.guard.audit import AuditKeys

KEY_BYTES: Final = 32


def secret(settings: Settings, name: str, given: SecretStr) -> bytes:
    """The secret as bytes. In demo mode an absent one is made once, in a file only its owner can read."""
    if text := given.get_secret_value():
        if len(text.encode()) < KEY_BYTES:
            raise ConfigInvalid(f"TELLERLINE_{name.upper()} needs at least {KEY_BYTES} bytes")
        return text.encode()
    if settings.environment is Environment.PRODUCTION:
        raise ConfigInvalid(f"TELLERLINE_{name.upper()} is not set")
    return made_once(settings.state_dir / "keys" / name, lambda: secrets.token_bytes(KEY_BYTES))


def audit_keys(settings: Settings) -> AuditKeys:
    """The audit's keys, which also seal recordings."""
    return AuditKeys(secret(settings, "audit_key", settings.audit_key))
