"""What a card carries: the knee is the last level before the goal breaks; a thousand requests cost what they take."""

from pathlib import Path

import pytest

from deploy.vllm.sweep.capacity import Level, knee, levels, main
from deploy.vllm.sweep.report import as_csv, record

RAW = {"completed": 10, "total_output_tokens": 40, "output_throughput": 80.0}


def rows(*p95: float) -> list[dict[str, object]]:
    return [
        record(RAW | {"p95_e2el_ms": ms}, server="s", label="line", varied=f"max-concurrency={2**place}")
        for place, ms in enumerate(p95)
    ]


def test_requests_are_counted_from_tokens() -> None:
    (level,) = levels(rows(50.0), "e2el")["s line"]
    assert (level.at_once, level.requests_s, level.tokens_s) == (1, 20.0, 80.0)
    assert level.thousand(3.6) == pytest.approx(0.05)


def test_the_knee_is_before_the_first_level_that_breaks_the_goal() -> None:
    of = levels(rows(50.0, 90.0, 120.0, 95.0), "e2el")["s line"]
    assert knee(of, 100.0) == of[1]
    assert knee(of, 10.0) is None


def test_runs_of_our_own_client_have_no_throughput_and_are_left() -> None:
    assert levels([record({"completed": 5}, server="s", label="own", varied="max-concurrency=1")], "e2el") == {}


def test_the_command_marks_the_knee(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text(as_csv(rows(50.0, 150.0)))
    assert main([str(tmp_path / "a.csv"), "--goal-ms", "100", "--price", "3"]) == 0
    told = capsys.readouterr().out
    assert "| s line | 1 | 50 **knee at 100 ms** | 20.0 |" in told
    assert "| s line | 2 | 150 |" in told
    assert Level(1, 1.0, 1.0, 1.0).thousand(3600) == 1000
