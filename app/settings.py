"""Settings: the one place that reads the environment. Every field is documented in README.md (a test compares)."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar

import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from rapidfuzz import process

from app import _settings_checks as checks
from app import _settings_files as files
from app import _settings_places as places
from app import _settings_together as together
from schemas.errors import ConfigInvalid

PREFIX: Final = checks.PREFIX
KEY_BYTES: Final = checks.KEY_BYTES
DEMO_ISSUER: Final = together.DEMO_ISSUER
_OTHERS: Final = frozenset({"TELLERLINE_DOCTOR_KEY", "TELLERLINE_TEST_POSTGRES", "TELLERLINE_TOKEN"})
"""Names with our prefix that are no setting of the gateway."""
_PIPELINE: Final = ("asr_", "extraction_", "qna_", "knowledge_")
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

Address = Annotated[str, AfterValidator(places.address)]
Base = Annotated[str, AfterValidator(places.base)]
Secret = Annotated[SecretStr, AfterValidator(checks.secret)]
Name = Annotated[str, Field(min_length=1), AfterValidator(checks.word)]
Bridge = Annotated[Name, AfterValidator(checks.user)]
"""Who may be the user of a handshake."""
Single = Annotated[Name, AfterValidator(checks.single)]
Base64 = Annotated[SecretStr, AfterValidator(checks.base64_secret)]
ApiKey = Annotated[SecretStr, AfterValidator(checks.header)]
Password = Annotated[SecretStr, AfterValidator(checks.password)]
Place = Annotated[Path, BeforeValidator(checks.folder)]
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
    host: Annotated[Name, AfterValidator(places.machine)] = "127.0.0.1"
    port: Annotated[int, BeforeValidator(checks.port)] = Field(default=8080, ge=1, le=65535)
    tls_certificate: Place | None = None
    tls_key: Place | None = None
    state_dir: Place = Path("var")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    database_url: Annotated[str, AfterValidator(places.database)] = ""
    database_password: Password = SecretStr("")
    confirmation_key: Secret = SecretStr("")
    confirmation_keys_before: tuple[Secret, ...] = Field(default=(), max_length=8)
    audit_key: Secret = SecretStr("")
    audit_keys_before: tuple[Secret, ...] = Field(default=(), max_length=8)

    asr_model: Name = Field(default="bundled", validation_alias="ASR_MODEL")
    asr_workers: int = Field(default=2, ge=1, le=64)
    asr_device: Literal["cpu", "cuda"] = "cpu"

    speech: SpeechKind = SpeechKind.AUTO
    speech_workers: int = Field(default=1, ge=1, le=64)
    speech_voices: JsonNames[dict[Name, Name]] = Field(default_factory=dict)
    speech_url: Base = ""
    speech_model: Name = "kokoro"
    speech_key: ApiKey = SecretStr("")
    speech_deadline_s: float = Field(default=2.0, gt=0, le=30)
    speech_recordings: Place | None = None

    max_calls: int = Field(default=64, ge=1, le=10_000)
    max_call_seconds: float = Field(default=900.0, gt=0, le=86_400)
    drain_seconds: float = Field(default=30.0, ge=0, le=3_600)
    calls_per_customer: int = Field(default=4, ge=1, le=10_000)
    calls_per_minute: int = Field(default=30, ge=1, le=1_000_000)
    requests_per_minute: int = Field(default=120, ge=1, le=1_000_000)
    connections_per_minute: int = Field(default=1200, ge=1, le=1_000_000)
    trusted_proxies: Annotated[str, AfterValidator(places.networks)] = ""
    max_upload_bytes: int = Field(default=8 * 1024 * 1024, ge=1024, le=256 * 1024 * 1024)

    extraction_url: Base = ""
    extraction_model: Name = "google/gemma-4-E4B-it"
    extraction_key: ApiKey = SecretStr("")
    extraction_deadline_s: float = Field(default=1.2, gt=0, le=30)
    qna_url: Base = ""
    qna_model: Name = "google/gemma-4-E4B-it"
    qna_key: ApiKey = SecretStr("")

    bank: BankKind = BankKind.SANDBOX
    fineract_url: Base = ""
    fineract_user: Annotated[str, AfterValidator(checks.user)] = ""
    fineract_password: Password = SecretStr("")
    knowledge_dir: Place | None = None
    code_webhook_url: Address = ""
    code_webhook_key: Secret = SecretStr("")
    code_channel: Annotated[Name, Field(max_length=60)] = "text_message"

    token_issuer: Single = DEMO_ISSUER
    token_audience: Single = "tellerline"  # noqa: S105 - a name
    jwks_url: Address = ""
    ivr_keys: JsonNames[dict[Bridge, Secret]] = Field(default_factory=dict)

    inband_keys: bool = False
    transfer_keys: Annotated[str, Field(pattern="^[0-9*#A-D]{0,32}$")] = ""
    transfer_to: Annotated[str, Field(max_length=200), AfterValidator(places.transfer)] = ""
    return_to: Address = ""
    twilio_token: ApiKey = SecretStr("")
    twilio_tokens_before: tuple[ApiKey, ...] = Field(default=(), max_length=8)
    telnyx_key: ApiKey = SecretStr("")
    plivo_id: Annotated[str, Field(max_length=100), AfterValidator(checks.user)] = ""
    plivo_token: ApiKey = SecretStr("")
    plivo_tokens_before: tuple[ApiKey, ...] = Field(default=(), max_length=8)
    audiohook_key: Annotated[str, Field(max_length=200), AfterValidator(checks.word)] = ""
    audiohook_secret: Base64 = SecretStr("")
    audiohook_secrets_before: tuple[Base64, ...] = Field(default=(), max_length=8)
    audiosocket: Annotated[str, AfterValidator(places.place)] = ""

    demo_peers: Annotated[str, AfterValidator(places.networks)] = "127.0.0.0/8,::1/128"

    transcript_days: int = Field(default=0, ge=0, le=3650)
    recording_days: int = Field(default=0, ge=0, le=3650)

    shadow_asr_model: Annotated[str, AfterValidator(checks.word)] = ""
    shadow_rules: Place | None = None
    shadow_tree: Place | None = None
    shadow_extraction_url: Base = ""
    shadow_extraction_model: Name = "google/gemma-4-E4B-it"
    shadow_extraction_key: ApiKey = SecretStr("")

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        faults = [*together.faults(self), *files.faults(self.tls_certificate, self.tls_key, self.state_dir)]
        if self.environment is Environment.PRODUCTION:
            faults += together.production_faults(self)
        if faults:
            raise ConfigInvalid("; ".join(faults))
        return self

    @property
    def recordings(self) -> Path:
        """Where recorded calls are kept."""
        return self.state_dir / "recordings"

    @property
    def shadowed(self) -> bool:
        """Whether calls go through another pipeline too."""
        return bool(self.shadow_asr_model or self.shadow_rules or self.shadow_tree or self.shadow_extraction_url)

    def for_other_machines(self) -> Self:
        """What a pipeline at a bank of its own is composed by; of secrets its models' keys alone."""
        ours = {name for name in type(self).model_fields if name.startswith(_PIPELINE)}
        return type(self).model_construct(**{name: getattr(self, name) for name in ours})

    @property
    def database(self) -> str:
        """The SQLAlchemy URL with its password; an SQLite file under `state_dir` unless one is set."""
        if not self.database_url:
            return f"sqlite:///{self.state_dir / 'tellerline.db'}"
        password = self.database_password.get_secret_value()
        url = sa.make_url(self.database_url)
        return (url.set(password=password) if password else url).render_as_string(hide_password=False)


def read_settings(**given: Any) -> Settings:
    """The settings of the environment; `given` ones go before. Raises ConfigInvalid: one line, with what to write."""
    if wrong := [*_unknown(), *_quoted()]:
        raise ConfigInvalid("; ".join(wrong))
    try:
        return Settings(**given)
    except ValidationError as error:
        raise ConfigInvalid("; ".join(_said(fault) for fault in error.errors(include_input=False))) from None
    except SettingsError as error:  # names the field, in quotes; its cause repeats the value
        raise ConfigInvalid(f"{PREFIX}{str(error).split(chr(34))[1].upper()}: write JSON") from None


def environment_without_ours() -> dict[str, str]:
    """What the environment holds that is no setting: for processes that are to know none."""
    ours = {*names(), *_OTHERS}
    return {k: v for k, v in os.environ.items() if k not in ours and not k.startswith(PREFIX)}  # noqa: TID251 - as above


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


def _quoted() -> list[str]:
    """A shell takes quotes off; what a container is given with `--env-file` keeps them, and would mean them."""
    free = {PREFIX + name for name in ("DATABASE_PASSWORD", "FINERACT_PASSWORD", "IVR_KEYS", "SPEECH_VOICES")}
    free |= {name for name in names() if name.endswith("_BEFORE")}
    given = [name for name in names() if name not in free and checks.quoted(os.environ.get(name, ""))]  # noqa: TID251 - as above
    return [f"{name} is in quotes: write it without them" for name in given]


def _said(fault: ErrorDetails) -> str:
    """One fault in pydantic's words, without the value, which may be secret."""
    field, *inside = fault["loc"] or ("",)
    name = field if str(field).isupper() else f"{PREFIX}{str(field).upper()}"
    place = "".join(f"[{part}]" for part in inside if isinstance(part, int))  # names may be secrets in the wrong place
    return f"{name}{place}: {_WORDS.get(fault['type']) or fault['msg'].removeprefix('Value error, ')}"
