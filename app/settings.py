"""Settings: the one place that reads the environment. Every field is documented in README.md (a test compares)."""

import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from rapidfuzz import process

from app import _settings_checks as checks
from rules.load import locales
from schemas.errors import ConfigInvalid

PREFIX: Final = checks.PREFIX
KEY_BYTES: Final = checks.KEY_BYTES
DEMO_ISSUER: Final = "tellerline-demo"
_OTHERS: Final = frozenset({"TELLERLINE_DOCTOR_KEY", "TELLERLINE_TEST_POSTGRES", "TELLERLINE_TOKEN"})
"""Names with our prefix that are no setting of the gateway."""
_WORDS: Final = {"dict_type": "write a JSON object", "tuple_type": "write a JSON list", "string_type": "write a text"}


class Environment(StrEnum):
    """`demo` makes its own keys and tokens under `state_dir`; `production` demands them."""

    DEMO = "demo"
    PRODUCTION = "production"


class BankKind(StrEnum):
    """Which core bank stands behind the ledger."""

    SANDBOX = "sandbox"
    FINERACT = "fineract"


class SpeechKind(StrEnum):
    """Who speaks replies. AUTO is the embedded engine where it is installed, and nobody where not."""

    AUTO = "auto"
    NONE = "none"
    EMBEDDED = "embedded"
    ENDPOINT = "endpoint"


T = TypeVar("T")

Address = Annotated[str, AfterValidator(checks.address)]
Secret = Annotated[SecretStr, AfterValidator(checks.secret)]
Name = Annotated[str, Field(min_length=1), AfterValidator(checks.word)]
JsonNames = Annotated[T, NoDecode, BeforeValidator(checks.json_object)]
"""A JSON object that says each name once."""


class Settings(BaseSettings):
    """Read from environment variables named TELLERLINE_<FIELD>, or from a `.env` file: see `read_settings`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        env_file=".env",
        env_file_encoding=checks.ENV_ENCODING,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    environment: Environment = Environment.DEMO
    host: Name = "127.0.0.1"
    port: int = Field(default=8080, ge=1, le=65535)
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    state_dir: Path = Path("var")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    database_url: Annotated[str, AfterValidator(checks.database)] = ""
    database_password: SecretStr = SecretStr("")
    confirmation_key: Secret = SecretStr("")
    confirmation_keys_before: tuple[Secret, ...] = Field(default=(), max_length=8)
    audit_key: Secret = SecretStr("")

    asr_model: str = Field(default="bundled", validation_alias="ASR_MODEL")
    asr_workers: int = Field(default=2, ge=1, le=64)
    asr_device: Literal["cpu", "cuda"] = "cpu"

    speech: SpeechKind = SpeechKind.AUTO
    speech_workers: int = Field(default=1, ge=1, le=64)
    speech_voices: JsonNames[dict[Name, Name]] = Field(default_factory=dict)
    speech_url: Address = ""
    speech_model: Name = "kokoro"
    speech_key: SecretStr = SecretStr("")
    speech_deadline_s: float = Field(default=2.0, gt=0, le=30)
    speech_recordings: Path | None = None

    max_calls: int = Field(default=64, ge=1, le=10_000)
    max_call_seconds: float = Field(default=900.0, gt=0, le=86_400)
    drain_seconds: float = Field(default=30.0, ge=0, le=3_600)
    calls_per_customer: int = Field(default=4, ge=1, le=10_000)
    calls_per_minute: int = Field(default=30, ge=1, le=1_000_000)
    requests_per_minute: int = Field(default=120, ge=1, le=1_000_000)
    connections_per_minute: int = Field(default=1200, ge=1, le=1_000_000)
    trusted_proxies: Annotated[str, AfterValidator(checks.networks)] = ""
    max_upload_bytes: int = Field(default=8 * 1024 * 1024, ge=1024, le=256 * 1024 * 1024)

    extraction_url: Address = ""
    extraction_model: str = "google/gemma-4-E4B-it"
    extraction_key: SecretStr = SecretStr("")
    extraction_deadline_s: float = Field(default=1.2, gt=0, le=30)
    qna_url: Address = ""
    qna_model: str = "google/gemma-4-E4B-it"
    qna_key: SecretStr = SecretStr("")

    bank: BankKind = BankKind.SANDBOX
    fineract_url: Address = ""
    fineract_user: Annotated[str, AfterValidator(checks.word)] = ""
    fineract_password: SecretStr = SecretStr("")
    knowledge_dir: Path | None = None
    code_webhook_url: Address = ""
    code_webhook_key: Secret = SecretStr("")
    code_channel: str = Field(default="text_message", min_length=1, max_length=60)

    token_issuer: Name = DEMO_ISSUER
    token_audience: Name = "tellerline"  # noqa: S105 - a name
    jwks_url: Address = ""
    ivr_keys: JsonNames[dict[Name, Secret]] = Field(default_factory=dict)

    inband_keys: bool = False
    transfer_keys: Annotated[str, Field(pattern="^[0-9*#A-D]{0,32}$")] = ""
    transfer_to: Annotated[str, Field(max_length=200), AfterValidator(checks.word)] = ""
    return_to: Address = ""
    twilio_token: SecretStr = SecretStr("")
    telnyx_key: SecretStr = SecretStr("")
    plivo_id: Annotated[str, Field(max_length=100), AfterValidator(checks.word)] = ""
    plivo_token: SecretStr = SecretStr("")
    audiohook_key: Annotated[str, Field(max_length=200), AfterValidator(checks.word)] = ""
    audiohook_secret: Annotated[SecretStr, AfterValidator(checks.base64_secret)] = SecretStr("")
    audiosocket: Annotated[str, AfterValidator(checks.place)] = ""

    demo_peers: Annotated[str, AfterValidator(checks.networks)] = "127.0.0.0/8,::1/128"

    transcript_days: int = Field(default=0, ge=0, le=3650)
    recording_days: int = Field(default=0, ge=0, le=3650)

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        faults = list(_faults(self)) + list(checks.files(self.tls_certificate, self.tls_key, self.state_dir))
        if self.environment is Environment.PRODUCTION:
            faults += _production_faults(self)
        if faults:
            raise ConfigInvalid("; ".join(faults))
        return self

    @property
    def recordings(self) -> Path:
        """Where recorded calls are kept."""
        return self.state_dir / "recordings"

    @property
    def database(self) -> str:
        """The SQLAlchemy URL with its password; an SQLite file under `state_dir` unless one is set."""
        if not self.database_url:
            return f"sqlite:///{self.state_dir / 'tellerline.db'}"
        password = self.database_password.get_secret_value()
        url = sa.make_url(self.database_url)
        return (url.set(password=password) if password else url).render_as_string(hide_password=False)


def _faults(settings: Settings) -> Iterable[str]:
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
    if settings.speech_recordings is not None and not settings.speech_recordings.is_dir():
        yield f"TELLERLINE_SPEECH_RECORDINGS: no folder {settings.speech_recordings}"
    in_url = bool(settings.database_url) and bool(sa.make_url(settings.database_url).password)
    if in_url and settings.database_password.get_secret_value():
        yield "TELLERLINE_DATABASE_URL holds a password and TELLERLINE_DATABASE_PASSWORD another: write one of them"
    yield from _halves(settings)
    if checks.twice(settings.ivr_keys.values()):
        yield "TELLERLINE_IVR_KEYS: two bridges have one key: write a key for each"
    if checks.twice([settings.confirmation_key, *settings.confirmation_keys_before]):
        yield "TELLERLINE_CONFIRMATION_KEYS_BEFORE holds the key in use, or one twice: write the earlier ones alone"
    if settings.knowledge_dir is not None and not settings.knowledge_dir.is_dir():
        yield f"TELLERLINE_KNOWLEDGE_DIR: no folder {settings.knowledge_dir}"


def _halves(settings: Settings) -> Iterable[str]:
    """Credentials of which one part was written, and one port for two things."""
    if settings.audiosocket.rpartition(":")[2] == str(settings.port):
        yield "TELLERLINE_AUDIOSOCKET and TELLERLINE_PORT name one port: write another for one of them"
    for name, key in (("PLIVO_ID", "PLIVO_TOKEN"), ("AUDIOHOOK_KEY", "AUDIOHOOK_SECRET")):
        secret: SecretStr = getattr(settings, key.lower())
        if bool(getattr(settings, name.lower())) != bool(secret.get_secret_value()):
            yield f"{PREFIX}{name} and {PREFIX}{key} go together"


def _production_faults(settings: Settings) -> Iterable[str]:
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
    if settings.bank is BankKind.SANDBOX:
        yield "production needs a core bank: write TELLERLINE_BANK=fineract"
    if settings.token_issuer == DEMO_ISSUER:
        yield "production needs TELLERLINE_TOKEN_ISSUER: write your identity provider's `iss`"
    keys = [settings.audit_key, settings.code_webhook_key, *settings.ivr_keys.values()]
    sealing = [settings.confirmation_key, *settings.confirmation_keys_before]
    if {key.get_secret_value() for key in keys} & {key.get_secret_value() for key in sealing} - {""}:
        yield "TELLERLINE_CONFIRMATION_KEY is used for something else too: write a key of its own"
    named = {"AUDIT_KEY": settings.audit_key, "CONFIRMATION_KEY": settings.confirmation_key}
    named["CODE_WEBHOOK_KEY"] = settings.code_webhook_key
    if any(map(checks.drawn_by_nobody, settings.ivr_keys.values())):
        yield "TELLERLINE_IVR_KEYS holds no random key: `openssl rand -hex 32` makes one"
    yield from (f"{PREFIX}{name} is no random key: `openssl rand -hex 32` makes one" for name in checks.weak(named))
    for name in ("jwks_url", "code_webhook_url", "fineract_url"):
        url: str = getattr(settings, name)
        if url.startswith("http://") and not url.removeprefix("http://").startswith(checks.LOOPBACK):
            yield f"{PREFIX}{name.upper()} is not encrypted: write an https:// address"


def read_settings(**given: Any) -> Settings:
    """The settings of the environment; `given` ones go before. Raises ConfigInvalid: one line, with what to write."""
    unknown = _unknown()
    if unknown:
        raise ConfigInvalid("; ".join(unknown))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigInvalid("; ".join(_said(fault) for fault in error.errors(include_input=False))) from None
    except SettingsError as error:  # names the field, in quotes; its cause repeats the value
        raise ConfigInvalid(f"{PREFIX}{str(error).split(chr(34))[1].upper()}: write JSON") from None


def names() -> list[str]:
    """The environment variable of every setting."""
    return [str(f.validation_alias or PREFIX + name.upper()) for name, f in Settings.model_fields.items()]


def _unknown() -> list[str]:
    known = names()
    given = {name.upper() for name in (*os.environ, *checks.env_names(Path(".env")))}  # noqa: TID251 - this is the place
    said = []
    for name in sorted(name for name in given if name.startswith(PREFIX) and name not in {*known, *_OTHERS}):
        near = process.extractOne(name, known, score_cutoff=80)
        said.append(f"{name} is no setting" + (f": did you mean {near[0]}?" if near else ""))
    return said


def _said(fault: ErrorDetails) -> str:
    """One fault in pydantic's words, without the value, which may be secret."""
    field, *inside = fault["loc"] or ("",)
    name = field if str(field).isupper() else f"{PREFIX}{str(field).upper()}"
    place = "".join(f"[{part}]" for part in inside if isinstance(part, int))  # names may be secrets in the wrong place
    return f"{name}{place}: {_WORDS.get(fault['type']) or fault['msg'].removeprefix('Value error, ')}"
