"""Settings: production brings its own keys, and every setting is documented."""

from pathlib import Path

import pytest

from app.settings import Environment, Settings
from schemas.errors import ConfigInvalid
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import ReplyId
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app


def test_the_demo_needs_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    assert settings.environment is Environment.DEMO
    assert settings.database.startswith("sqlite:///")


def test_production_demands_its_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigInvalid, match="TELLERLINE_CONFIRMATION_KEY"):
        Settings(environment=Environment.PRODUCTION)


def test_keys_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELLERLINE_CONFIRMATION_KEY", "hunter2-hunter2")
    assert "hunter2" not in repr(Settings())


def test_every_setting_is_in_the_readme() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    names = [
        str(field.validation_alias or f"TELLERLINE_{name.upper()}") for name, field in Settings.model_fields.items()
    ]
    assert not [name for name in names if f"`{name}`" not in readme]


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
            assert (await app.gateway.callers.hands.ledger.open_proposal(customer) is not None) == known
    with pytest.raises(ConfigInvalid):
        async with running_app(quick_folder, deaf, confirmation_key=new, confirmation_keys_before=["short"]):
            pass
