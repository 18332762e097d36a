"""What a person types wrong is told in one line, whichever command it is."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from app.cli import main

TYPED = yaml.safe_load((Path(__file__).parents[2] / "data/refused_commands.yaml").read_text())
CASE = '{"id": "a", "locale": "en-US", "text": "what is my balance", "expect": %s}\n'


@pytest.mark.parametrize("typed", TYPED, ids=lambda typed: " ".join(typed[:-1]))
def test_a_wrong_command_says_what_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: list[str]) -> None:
    monkeypatch.setenv("TELLERLINE_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.chdir(tmp_path)
    Path("CASE").write_text(CASE % "{}")
    Path("WRONG").write_text(CASE % '{"money": {"amount_minor": 1, "currency": "USD"}, "route_": 1}')
    *arguments, says = typed
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 2, done.output
    assert says in done.stderr
    assert "Traceback" not in done.output
