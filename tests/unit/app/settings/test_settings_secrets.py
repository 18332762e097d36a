"""Secrets of the wrong shape stop the start without being repeated."""

import pytest

from app.settings import read_settings
from schemas.errors import ConfigInvalid

SECRET = "S3CRET-" + "x" * 40
SHAPES = (
    f'["{SECRET}"', f'"{SECRET}"', f'{{"{SECRET}": {{"a": 1}}}}', f'[["{SECRET}"]]', f'{{"bridge": ["{SECRET}"]}}',
    f"{SECRET}", f'[{{"key": "{SECRET}"}}]',
)  # fmt: skip


@pytest.mark.parametrize("name", ["TELLERLINE_IVR_KEYS", "TELLERLINE_CONFIRMATION_KEYS_BEFORE"])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_malformed_secret_is_repeated(monkeypatch: pytest.MonkeyPatch, name: str, shape: str) -> None:
    monkeypatch.setenv(name, shape)
    with pytest.raises(ConfigInvalid) as refused:
        read_settings()
    assert "S3CRET" not in str(refused.value)
    assert name in str(refused.value)
