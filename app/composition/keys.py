"""Secrets: those of the settings, or ones the demo makes for itself and keeps under its state folder."""

import secrets

from pydantic import SecretStr

from app.once import made_once
from app.settings import Settings
from app.settings.state_folder import in_state_folder
from schemas.errors import ConfigInvalid
from schemas.secret import KEY_BYTES
from services.record.audit_keys import AuditKeys


def secret(settings: Settings, name: str, given: SecretStr) -> bytes:
    """The secret as bytes. In demo mode an absent one is made once, in a file of its owner's. Raises ConfigInvalid."""
    if text := given.get_secret_value():
        return text.encode()
    with in_state_folder(settings):
        made = made_once(settings.state_dir / "keys" / name, lambda: secrets.token_bytes(KEY_BYTES))
    if len(made) < KEY_BYTES:
        raise ConfigInvalid(f"{settings.state_dir / 'keys' / name} is no key: remove it, and the demo makes another")
    return made


def plain(given: tuple[SecretStr, ...]) -> tuple[str, ...]:
    """Secrets as they are."""
    return tuple(one.get_secret_value() for one in given)


def confirmation_keys(settings: Settings) -> list[bytes]:
    """The key that seals confirmations, then those before it."""
    key = secret(settings, "confirmation_key", settings.confirmation_key)
    return [key, *(earlier.encode() for earlier in plain(settings.confirmation_keys_before))]


def audit_keys(settings: Settings) -> AuditKeys:
    """The audit's keys, the one in use and those before it, which also seal recordings."""
    before = (earlier.encode() for earlier in plain(settings.audit_keys_before))
    return AuditKeys(secret(settings, "audit_key", settings.audit_key), *before)
