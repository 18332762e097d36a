"""Settings: production brings its own, a mistake is one line that names it, no secret shows, all are documented."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from app.settings import Environment, names, read_settings
from schemas.errors import ConfigInvalid
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import ReplyId
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app

ROOT = Path(__file__).parents[4]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CASES = yaml.load((ROOT / "tests/data/settings/mistakes.yaml").read_text(), yaml.CSafeLoader)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def production(monkeypatch: pytest.MonkeyPatch, changed: dict[str, str] | None = None) -> None:
    for name, value in (CASES["production"] | (changed or {})).items():
        monkeypatch.setenv(name, value)


def test_the_demo_needs_nothing() -> None:
    settings = read_settings()
    assert settings.environment is Environment.DEMO
    assert settings.database.startswith("sqlite:///")


def test_a_whole_production_starts_and_a_password_may_hold_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    production(monkeypatch)
    url = sa.make_url(read_settings().database)
    assert (url.drivername, url.host, url.password) == ("postgresql+asyncpg", "db.bank.example", "p@ss/word")


@pytest.mark.parametrize(
    "case", CASES["mistakes"], ids=lambda case: "-".join(f"{k}={v}" for k, v in case["set"].items())
)
def test_a_mistake_is_one_line_that_names_it(case: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    production(monkeypatch, case["set"])
    with pytest.raises(ConfigInvalid) as caught:
        read_settings()
    said = str(caught.value)
    assert "\n" not in said
    assert "S3CRET" not in said
    assert not [part for part in case["says"] if part not in said], said


def test_a_certificate_whose_time_is_over_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gateway")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, NOW - timedelta(days=9), NOW - timedelta(days=2))
    (tmp_path / "one.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "one.key").write_bytes(pem)
    production(monkeypatch, {"TELLERLINE_TLS_CERTIFICATE": "one.pem", "TELLERLINE_TLS_KEY": "one.key"})
    with pytest.raises(ConfigInvalid, match=r"^TELLERLINE_TLS_CERTIFICATE holds from .* write one that holds today$"):
        read_settings()


def test_a_misspelt_name_in_the_env_file_is_found_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TELLERLINE_STATE_DIRS=elsewhere\n")
    with pytest.raises(ConfigInvalid, match="did you mean TELLERLINE_STATE_DIR"):
        read_settings()


@pytest.mark.parametrize("second", ["TELLERLINE_PORT=8081", "tellerline_port=8081", "export TELLERLINE_PORT=8081"])
def test_a_name_with_two_values_in_the_env_file_is_told(second: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"TELLERLINE_PORT=8080\nHOME=a\nHOME=b\n{second}\n")
    with pytest.raises(ConfigInvalid, match=r"\.env, line 4: (?i:TELLERLINE_PORT) has two values"):
        read_settings()
    (tmp_path / ".env").write_text("TELLERLINE_PORT=8081\nTELLERLINE_PORT=8081\n")
    assert read_settings().port == 8081


@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_what_a_file_would_have_nothing_in_place_of_is_told(quote: str, tmp_path: Path) -> None:
    """A password of `a${b}c` was `ac`, in whatever quotes."""
    (tmp_path / ".env").write_text(f"TELLERLINE_DATABASE_PASSWORD={quote}S3CRET${{rest}}{quote}\n")
    with pytest.raises(
        ConfigInvalid, match=r"^\.env, line 1: TELLERLINE_DATABASE_PASSWORD .* place of \${rest}, which"
    ):
        read_settings()
    (tmp_path / ".env").write_text("OTHER=db\nTELLERLINE_TOKEN_AUDIENCE=${OTHER}.example\n")
    assert read_settings().token_audience == "db.example"


def test_keys_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLERLINE_CONFIRMATION_KEY", "hunter2-hunter2-hunter2-hunter2-hunter2")
    assert "hunter2" not in repr(read_settings())


def test_every_setting_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    assert not [name for name in names() if f"`{name}`" not in readme]


async def test_a_new_confirmation_key_leaves_what_was_sealed_under_the_one_before(quick_folder: Path) -> None:
    old, new = "o" * 32, "n" * 32
    customer, locale = CustomerId("alex-morgan"), Locale("en-US")
    heard = Transcript.typed("send fifty dollars to catherine nguyen", locale)
    deaf = FakeRecognizer(lambda _: "")
    async with running_app(quick_folder, deaf, confirmation_key=old) as app:
        call = await app.gateway.callers.open(customer, CallId("c"), locale)
        async for _ in call.take(heard, ReplyId("r")):
            pass
    for before, known in (([], False), ([old], True)):
        async with running_app(quick_folder, deaf, confirmation_key=new, confirmation_keys_before=before) as app:
            assert (await app.gateway.callers.banking.ledger.open_proposal(customer) is not None) == known
