"""Runs over time: noted once each, held to a baseline by its name, an alert and exit status where one drops."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.replay.comparing import policy
from app.qa.replay.comparing.history import RUNS, RunHistory
from app.qa.replay.manifests.manifest import Expectation
from app.qa.replay.records.journal import Journal
from app.qa.replay.records.record import TurnRecord
from app.qa.replay.report.history import history_page
from schemas.errors import BadInput, MalformedMessage, NotFound
from tests.replay.samples import FIFTY, HEAD, result, turn

WANTED = Expectation(intent="transfer_money", slots={"amount": FIFTY, "payee": "p1"})


def finished(folder: Path, *records: TurnRecord) -> Path:
    """A run's folder."""
    journal = Journal(folder, replace(HEAD, cases=len(records)))
    journal.open()
    journal.note_sources({})
    for record in records:
        journal.append(record.case, [result(record)])
    journal.finish([record.case for record in records])
    return folder


def calls(count: int, wrong: int) -> list[TurnRecord]:
    return [turn(case=f"c{n}", expect=WANTED, intent="qna" if n < wrong else "transfer_money") for n in range(count)]


def replay(*given: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["replay", *map(str, given)])
    return done.exit_code, done.output


def test_a_drop_is_an_alert_and_an_exit_status(tmp_path: Path) -> None:
    good, bad = finished(tmp_path / "good", *calls(40, 2)), finished(tmp_path / "bad", *calls(40, 12))
    kept = ("--history", tmp_path / "history")
    assert replay("baseline", "main", good, *kept)[0] == 0
    code, said = replay("history", good, "--against", "main", *kept)
    assert (code, "alert" in said.replace("alerts", "")) == (0, False)
    code, said = replay("history", bad, "--against", "main", "--page", tmp_path / "page.html", *kept)
    assert code == 1
    assert "alert: worse than main: regression: 10 turns" in said
    assert "alert: worse than main: right 0.9500 → 0.7000: real" in said
    page = (tmp_path / "page.html").read_text()
    assert "right 0.7 (" in page
    assert page.count("<svg") >= 3
    assert "<script" not in page


def test_a_history_that_goes_into_a_file_is_not_cut(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", *calls(40, 2))
    code, said = replay("history", run, "--history", tmp_path / "history")
    assert code == 0
    assert "…" not in said
    assert "0.9500" in said


def test_a_run_that_is_noted_again_is_one_run(tmp_path: Path) -> None:
    run, history = finished(tmp_path / "run", *calls(5, 1)), tmp_path / "history"
    for _ in range(2):
        assert replay("history", run, "--history", history)[0] == 0
    (noted,) = RunHistory(history).runs()
    assert (noted.turns, noted.ratios["right"][0], noted.against) == (5, 0.8, "")
    assert replay("history", "--history", history)[0] == 0


def test_diff_takes_a_baseline_by_its_name(tmp_path: Path) -> None:
    history = tmp_path / "history"
    RunHistory(history).keep("v1.0", finished(tmp_path / "good", *calls(5, 0)))
    bad = finished(tmp_path / "bad", *calls(5, 1))
    assert replay("diff", "v1.0", bad, "--policy", "ci", "--history", history)[0] == 1
    code, said = replay("diff", "v2", bad, "--history", history)
    assert (code, "no baseline 'v2': v1.0" in said) == (2, True)


def test_a_baseline_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    history = RunHistory(tmp_path)
    history.keep("main", finished(tmp_path / "a", *calls(5, 0)))
    with pytest.raises(NotFound):
        history.keep("main", tmp_path / "nothing")
    assert (history.folder_of("main") / "decisions.jsonl").read_bytes().count(b"\n") == 5
    history.keep("main", finished(tmp_path / "b", *calls(7, 0)))
    assert (history.folder_of("main") / "decisions.jsonl").read_bytes().count(b"\n") == 7
    assert history.baselines() == ("main",)


@pytest.mark.parametrize("name", ["", "../main", ".hidden", "a/b", "x" * 61])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        RunHistory(tmp_path).keep(name, tmp_path)


def test_a_history_that_can_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / RUNS).write_text("{}\n")
    with pytest.raises(MalformedMessage):
        RunHistory(tmp_path).runs()


def test_what_is_noted_without_a_baseline_holds_figures_alone(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", *calls(3, 3))
    RunHistory(tmp_path / "h").note(run, "", _policy())
    assert b"catherine" not in (tmp_path / "h" / RUNS).read_bytes()
    assert orjson.loads((tmp_path / "h" / RUNS).read_bytes())["turns"] == 3
    assert history_page(()).startswith("<!doctype html>")


def _policy() -> policy.Policy:
    return policy.policy("ci")
