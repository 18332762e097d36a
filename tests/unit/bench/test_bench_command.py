"""`tellerline bench` in a checkout: each module of deploy/bench is a command, found when it is asked for."""

from typer.testing import CliRunner

from app.cli import main


def test_every_benchmark_can_be_asked_for_help() -> None:
    listed = CliRunner().invoke(main, ["bench", "--help"], env={"COLUMNS": "200"})
    assert listed.exit_code == 0
    for name in ("dialogue", "negatives", "latency", "ledger", "asr", "callers"):
        assert f" {name} " in listed.output
        assert CliRunner().invoke(main, ["bench", name, "--help"]).exit_code == 0


def test_one_that_there_is_not_is_refused() -> None:
    refused = CliRunner().invoke(main, ["bench", "_corpus"])
    assert refused.exit_code == 2
    assert "No such command" in refused.output
