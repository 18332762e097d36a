"""What settings say together: halves, contradictions, and what a bank may not leave open."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from pydantic import SecretStr

from app.settings import checks, places
from app.settings.checks import PREFIX
from app.settings.fields import DEMO_ISSUER, BankKind, SettingFields, SpeechKind
from rules.load import locales

MIN_CALL_S: Final = 30


def faults(settings: SettingFields) -> Iterator[str]:
    """What no environment may leave half said."""
    if settings.bank is BankKind.FINERACT:
        wanted = {
            "FINERACT_URL": settings.fineract_url,
            "FINERACT_USER": settings.fineract_user,
            "FINERACT_PASSWORD": settings.fineract_password.get_secret_value(),
        }
        missing = [PREFIX + name for name, value in wanted.items() if not value]
        if missing:
            yield f"TELLERLINE_BANK=fineract needs {', '.join(missing)}"
    if (settings.speech is SpeechKind.ENDPOINT) != bool(settings.speech_url):
        yield "TELLERLINE_SPEECH=endpoint and TELLERLINE_SPEECH_URL go together"
    if strange := sorted(set(settings.speech_voices) - set(locales())):
        yield f"TELLERLINE_SPEECH_VOICES: {', '.join(strange)}: write {', '.join(locales())}"
    in_url = bool(settings.database_url) and bool(sa.make_url(settings.database_url).password)
    if in_url and settings.database_password.get_secret_value():
        yield "TELLERLINE_DATABASE_URL holds a password and TELLERLINE_DATABASE_PASSWORD another: write one of them"
    yield from _halves(settings)
    yield from _handed_off(settings)
    yield from _folders(settings)
    yield from _shadowed(settings)
    if checks.twice(settings.ivr_keys.values()):
        yield "TELLERLINE_IVR_KEYS: two bridges have one key: write a key for each"
    for name in ("confirmation_key", "audit_key", "twilio_token", "plivo_token", "audiohook_secret"):
        before: tuple[SecretStr, ...] = getattr(settings, f"{name}s_before")
        if checks.twice([getattr(settings, name), *before]):
            yield f"{PREFIX}{name.upper()}S_BEFORE holds the key in use, or one twice: write the earlier ones alone"
        if not all(key.get_secret_value() for key in before):
            yield f"{PREFIX}{name.upper()}S_BEFORE holds an empty one: write the earlier ones alone"


def _halves(settings: SettingFields) -> Iterator[str]:
    """Credentials of which one part was written, models without their endpoint, and one port for two things."""
    if settings.audiosocket.rpartition(":")[2] == str(settings.port):
        yield "TELLERLINE_AUDIOSOCKET and TELLERLINE_PORT name one port: write another for one of them"
    for name, key in (("PLIVO_ID", "PLIVO_TOKEN"), ("AUDIOHOOK_KEY", "AUDIOHOOK_SECRET")):
        secret: SecretStr = getattr(settings, key.lower())
        if bool(getattr(settings, name.lower())) != bool(secret.get_secret_value()):
            yield f"{PREFIX}{name} and {PREFIX}{key} go together"
    for model in ("EXTRACTION", "QNA", "SHADOW_EXTRACTION"):
        given = [f"{model}_{part}" for part in ("MODEL", "KEY") if f"{model}_{part}".lower() in _set(settings)]
        if given and not getattr(settings, f"{model}_URL".lower()):
            yield f"{PREFIX}{given[0]} needs {PREFIX}{model}_URL: without it no model is asked"


def _set(settings: SettingFields) -> set[str]:
    """The settings that say something else than what goes without saying."""
    return {name for name in settings.model_fields_set if getattr(settings, name) != _default(settings, name)}


def _default(settings: SettingFields, name: str) -> object:
    return type(settings).model_fields[name].get_default(call_default_factory=True)


def _handed_off(settings: SettingFields) -> Iterator[str]:
    """To whom a carrier gives a call: there has to be a carrier, and each has its own idea of a target."""
    to = settings.transfer_to
    numbers = settings.twilio_token.get_secret_value() or settings.telnyx_key.get_secret_value()
    if to and not numbers and not settings.plivo_id:
        yield "TELLERLINE_TRANSFER_TO needs a carrier: TELLERLINE_TWILIO_TOKEN, …TELNYX_KEY, or …PLIVO_ID and its token"
    elif to and to.startswith("https://") != (not numbers):
        yield "TELLERLINE_TRANSFER_TO: write a number or a sip: address for Twilio and Telnyx, https:// for Plivo"
    if settings.return_to and not to:
        yield "TELLERLINE_RETURN_TO needs TELLERLINE_TRANSFER_TO: nobody returns who was not handed off"


def _folders(settings: SettingFields) -> Iterator[str]:
    """Folders that are named have to hold what they are named for."""
    wanted: tuple[tuple[str, Path | None, str, str], ...] = (
        ("SPEECH_RECORDINGS", settings.speech_recordings, "index.yaml", "no index.yaml"),
        ("KNOWLEDGE_DIR", settings.knowledge_dir, "*/*.yaml", "no <language>/<document>.yaml"),
    )
    for name, folder, pattern, without in wanted:
        if folder is not None and not folder.is_dir():
            yield f"{PREFIX}{name}: no folder {folder}"
        elif folder is not None and next(folder.glob(pattern), None) is None:
            yield f"{PREFIX}{name}: {without} in {folder}: put it there, or leave the setting out"


def _shadowed(settings: SettingFields) -> Iterator[str]:
    """What differs is kept where recordings are."""
    other = [name for name in ("asr_model", "rules", "tree", "extraction_url") if getattr(settings, f"shadow_{name}")]
    if other and not settings.recording_days:
        theirs = ", ".join(f"{PREFIX}SHADOW_{name.upper()}" for name in other)
        yield f"{theirs}: needs TELLERLINE_RECORDING_DAYS, since what differs is kept beside the recorded turn"
    named = (("RULES", settings.shadow_rules, "load.py"), ("TREE", settings.shadow_tree, "app/__init__.py"))
    for name, folder, has in named:
        if folder is not None and not (folder / has).is_file():
            yield f"{PREFIX}SHADOW_{name}: no {has} in {folder}: write a folder like ours"


def production_faults(settings: SettingFields) -> Iterator[str]:
    """What a demo may leave open and a bank may not."""
    needed = {
        "CONFIRMATION_KEY": settings.confirmation_key.get_secret_value(),
        "AUDIT_KEY": settings.audit_key.get_secret_value(),
        "DATABASE_URL": settings.database_url,
        "JWKS_URL": settings.jwks_url,
        "CODE_WEBHOOK_URL": settings.code_webhook_url,
        "CODE_WEBHOOK_KEY": settings.code_webhook_key.get_secret_value(),
    }
    missing = [PREFIX + name for name, value in needed.items() if not value]
    if missing:
        yield "production needs " + ", ".join(missing)
    if settings.database_url.startswith("sqlite:"):
        yield "production needs PostgreSQL: write TELLERLINE_DATABASE_URL=postgresql://USER@HOST/DATABASE"
    if settings.bank is BankKind.SANDBOX:
        yield "production needs a core bank: write TELLERLINE_BANK=fineract"
    if settings.token_issuer == DEMO_ISSUER:
        yield "production needs TELLERLINE_TOKEN_ISSUER: write your identity provider's `iss`"
    if settings.max_call_seconds < MIN_CALL_S:
        yield f"TELLERLINE_MAX_CALL_SECONDS: too short to pay a bill in: write {MIN_CALL_S} or more"
    yield from _keys(settings)
    for name in ("jwks_url", "code_webhook_url", "fineract_url"):
        if places.in_the_clear(getattr(settings, name)):
            yield f"{PREFIX}{name.upper()} is not encrypted: write an https:// address"


def _keys(settings: SettingFields) -> Iterator[str]:
    """Each drawn at random, and for one thing alone."""
    others = {
        "AUDIT_KEY": [settings.audit_key],
        "AUDIT_KEYS_BEFORE": list(settings.audit_keys_before),
        "CODE_WEBHOOK_KEY": [settings.code_webhook_key],
        "IVR_KEYS": list(settings.ivr_keys.values()),
    }
    seals = {
        "CONFIRMATION_KEY": [settings.confirmation_key],
        "CONFIRMATION_KEYS_BEFORE": list(settings.confirmation_keys_before),
    }
    for seal, sealing in seals.items():
        for name, keys in others.items():
            if {key for key in sealing if key.get_secret_value()} & set(keys):
                yield f"{PREFIX}{seal} is used as {PREFIX}{name} too: write a key of its own for each"
    for name, keys in (seals | others).items():
        if any(map(checks.drawn_by_nobody, keys)):
            yield f"{PREFIX}{name} holds no random key: `openssl rand -hex 32` makes one"
