"""Settings: production brings its own keys, and every setting is documented."""

from pathlib import Path

import pytest

from app.settings import Environment, Settings
from schemas.errors import ConfigInvalid


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
