"""What can be set, and what each may be. Every field is documented in README.md (a test compares)."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

import sqlalchemy as sa
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.settings import checks, places

DEMO_ISSUER: Final = "tellerline-demo"
_PIPELINE: Final = ("asr_", "extraction_", "qna_", "knowledge_")


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


class SettingFields(BaseSettings):
    """Each by itself, from an environment variable named TELLERLINE_<FIELD>, or from a `.env` file."""

    model_config = SettingsConfigDict(
        env_prefix=checks.PREFIX,
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
