"""`tellerline bank import`: each fault by its line, and nothing is written with any of them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli import main

EXAMPLE = (Path(__file__).parents[3] / "deploy/examples/customers.jsonl").read_text()
CARD = '{"type": "card", "customer": "C-1001", "id": "x", "name": "card", "last4": "1234"}'


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def importing(text: str, *options: str) -> Result:
    Path("file.jsonl").write_text(text)
    return CliRunner().invoke(main, ["bank", "import", "file.jsonl", *options])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("junk", "no JSON"),
        ('{"type": "wizard"}', "write one of"),
        (CARD.replace('"1234"', '"12a4"'), "last4"),
        (CARD.replace('"card",', '"ca\\u0007rd",', 2).replace('"type": "ca\\u0007rd"', '"type": "card"'), "hidden"),
        (CARD.replace('card", "last4', 'a\\u2028b", "last4'), "hidden"),
        (CARD.replace('card", "last4', '\\u3164", "last4'), "hidden"),
        (CARD.replace("}", ', "colour": "red"}'), "colour"),
        (CARD.replace("C-1001", "C 1001"), "customer"),
        (EXAMPLE.splitlines()[0].replace("Europe/London", "Mars/Base"), "time zone"),
        (EXAMPLE.splitlines()[0].replace("en-GB", "tlh-KX"), "locale"),
        (EXAMPLE.splitlines()[1].replace("250000", "2500.00"), "per_transfer"),
        (EXAMPLE.splitlines()[1].replace('"GBP"', '"GBX"'), "currency"),
        (EXAMPLE.splitlines()[1].replace("GBP", "USD").replace("250000", "2500000"), "none is above the next"),
        (EXAMPLE.splitlines()[1].replace("GBP", "USD").replace("50000}", "5000000}"), "none is above the next"),
        (CARD.replace('"last4"', '"last4": "9999", "last4"'), "last4: is there twice"),
        (CARD.replace('"type"', '"customer": "C-2001", "type"'), "customer: is there twice"),
        (CARD.replace('"last4"', '"last\\u0034": "9999", "last4"'), "last4: is there twice"),
        ("[" * 60_000, "recursion"),
        ("{" + " " * 70_000 + "}", "longer than"),
        ("[" * 30_000, "line"),
    ],
)
def test_a_fault_is_told_by_its_line(line: str, said: str) -> None:
    done = importing(f"{EXAMPLE}\n{line}\n")
    assert done.exit_code == 1
    number = len(EXAMPLE.splitlines()) + 2
    assert f"line {number}: " in done.stderr
    assert said in done.stderr
    assert "2 new" in importing(EXAMPLE).stdout, "something had been written"


@pytest.mark.parametrize(("encoding", "code"), [("utf-8-sig", 0), ("utf-16", 2), ("utf-16-le", 1)])
def test_what_editors_put_before_a_text_is_no_part_of_it(encoding: str, code: int) -> None:
    Path("file.jsonl").write_text(EXAMPLE, encoding=encoding)
    done = CliRunner().invoke(main, ["bank", "import", "file.jsonl"])
    assert done.exit_code == code
    told = done.stderr
    assert ("customer: 2 new" in done.stdout) if code == 0 else ("UTF-16" in told or "line 1: " in told)


def test_fineract_is_told_the_way_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BANK", "FINERACT_USER", "FINERACT_PASSWORD"):
        monkeypatch.setenv(f"TELLERLINE_{name}", "fineract")
    monkeypatch.setenv("TELLERLINE_FINERACT_URL", "http://127.0.0.1:1")
    assert "2 new" in importing(EXAMPLE).stdout
    told = importing(EXAMPLE.replace('"1001"', '"../1001"', 1).replace("2001/", "")).stderr
    assert "line 1: route: Fineract needs clientId\n" in told
    assert "line 3: route: Fineract needs clientId/accountId\n" in told


def test_a_dry_run_writes_nothing() -> None:
    assert "nothing was written" in importing(EXAMPLE, "--dry-run").stdout
    assert "customer: 2 new" in importing(EXAMPLE).stdout
    assert "customer: 2 as before" in importing(EXAMPLE, "--dry-run").stdout


def test_many_faults_are_counted() -> None:
    done = importing("junk\n" * 80)
    assert "and 30 more" in done.stderr


@pytest.mark.parametrize("text", ["", "\n \n\n"])
def test_a_file_that_holds_nothing_is_no_import(text: str) -> None:
    done = importing(text)
    assert done.exit_code == 2
    assert "holds no line" in done.stderr
