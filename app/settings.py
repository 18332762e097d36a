"""Settings: the one place that reads the environment. Every field is documented in README.md (a test compares)."""

from enum import StrEnum
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from schemas.errors import ConfigInvalid


class Environment(StrEnum):
    """`demo` makes its own keys and tokens under `state_dir`; `production` demands them."""

    DEMO = "demo"
    PRODUCTION = "production"


class BankKind(StrEnum):
    """Which core bank stands behind the ledger."""

    SANDBOX = "sandbox"
    FINERACT = "fineract"


class Settings(BaseSettings):
    """Read from environment variables named TELLERLINE_<FIELD>, or from a `.env` file."""

    model_config = SettingsConfigDict(env_prefix="TELLERLINE_", env_file=".env", extra="ignore", frozen=True)

    environment: Environment = Environment.DEMO
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=1, le=65535)
    state_dir: Path = Path("var")
    log_level: str = Field(default="INFO", pattern="^(DEBUG|INFO|WARNING|ERROR)$")

    database_url: str = ""
    confirmation_key: SecretStr = SecretStr("")
    confirmation_keys_before: tuple[SecretStr, ...] = Field(default=(), max_length=8)
    audit_key: SecretStr = SecretStr("")

    asr_model: str = Field(default="bundled", validation_alias="ASR_MODEL")
    asr_workers: int = Field(default=2, ge=1, le=64)
    asr_device: str = "cpu"

    max_calls: int = Field(default=64, ge=1, le=10_000)
    max_call_seconds: float = Field(default=900.0, gt=0)
    drain_seconds: float = Field(default=30.0, ge=0)
    max_upload_bytes: int = Field(default=8 * 1024 * 1024, ge=1024)

    extraction_url: str = ""
    extraction_model: str = "google/gemma-4-E4B-it"
    extraction_key: SecretStr = SecretStr("")
    extraction_deadline_s: float = Field(default=1.2, gt=0, le=30)
    qna_url: str = ""
    qna_model: str = "google/gemma-4-E4B-it"
    qna_key: SecretStr = SecretStr("")

    bank: BankKind = BankKind.SANDBOX
    fineract_url: str = ""
    fineract_user: str = ""
    fineract_password: SecretStr = SecretStr("")
    code_webhook_url: str = ""
    code_channel: str = "text_message"

    token_issuer: str = "tellerline-demo"  # noqa: S105 - a name
    token_audience: str = "tellerline"  # noqa: S105 - a name
    jwks_url: str = ""
    ivr_keys: dict[str, SecretStr] = Field(default_factory=dict)

    transcript_days: int = Field(default=0, ge=0, le=3650)
    recording_days: int = Field(default=0, ge=0, le=3650)

    @model_validator(mode="after")
    def _production_needs_its_own(self) -> Self:
        if self.environment is Environment.PRODUCTION:
            missing = [
                name
                for name, value in (
                    ("CONFIRMATION_KEY", self.confirmation_key.get_secret_value()),
                    ("AUDIT_KEY", self.audit_key.get_secret_value()),
                    ("DATABASE_URL", self.database_url),
                    ("JWKS_URL", self.jwks_url),
                    ("CODE_WEBHOOK_URL", self.code_webhook_url),
                )
                if not value
            ]
            if missing:
                raise ConfigInvalid("production needs " + ", ".join(f"TELLERLINE_{name}" for name in missing))
        return self

    @property
    def recordings(self) -> Path:
        """Where recorded calls are kept."""
        return self.state_dir / "recordings"

    @property
    def database(self) -> str:
        """The SQLAlchemy URL; an SQLite file under `state_dir` unless one is set."""
        return self.database_url or f"sqlite:///{self.state_dir / 'tellerline.db'}"
