"""One stream through two pipelines at once: what differs is kept, with its sound; what is the same is not."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import rules
from app.cli import main
from app.qa.replay.audio import read_audio
from app.qa.replay.shadow import KEPT, OtherPipeline, ShadowReport
from schemas.errors import InternalFault

ROOT = Path(__file__).parents[2]
SEND = "send fifty dollars to Catherine Nguyen"
AUDIO = ROOT / "tests/audio/balance.opus"


def manifest(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "m.jsonl"
    given = {"locale": "en-US", "customer": "alex-morgan"}
    path.write_text("\n".join(json.dumps({"id": str(n)} | given | line) for n, line in enumerate(lines)))
    return path


def shadow(*given: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["replay", "shadow", *map(str, given)])
    return done.exit_code, done.output


def other_rules(folder: Path) -> Path:
    """Rules in which fifty is fifteen."""
    copied = folder / "rules"
    shutil.copytree(Path(rules.__file__).parent, copied)
    numbers = copied / "normalize/en/numbers.yaml"
    numbers.write_text(numbers.read_text().replace("fifty: 50", "fifty: 15", 1))
    return copied


@pytest.mark.timeout(300)
def test_other_rules_beside_ours(tmp_path: Path) -> None:
    expect = {"intent": "transfer_money", "slots": {"amount": {"amount_minor": 5000, "currency": "USD"}}}
    said = manifest(
        tmp_path,
        {"text": SEND, "expect": expect},
        {"text": "what's my balance"},
        {"turns": [{"text": SEND}, {"text": "yes"}]},
    )
    code, told = shadow(said, "--out", tmp_path / "out", "--rules", other_rules(tmp_path))
    assert code == 1, told
    assert "4 turns through both, 3 differ" in told
    assert "money differs in 3: 0#1, 2#1, 2#2" in told
    kept = [json.loads(line) for line in (tmp_path / "out" / KEPT).read_text().splitlines()]
    assert ["slot amount", "50.00 USD", "15.00 USD"] in kept[0]["differs"]
    assert (kept[2]["here"]["money"][0]["amount_minor"], kept[2]["there"]["money"][0]["amount_minor"]) == (5000, 1500)


@pytest.mark.timeout(300)
def test_another_recogniser_beside_ours_keeps_the_sound_that_they_differ_in(tmp_path: Path) -> None:
    said = manifest(tmp_path, {"audio": str(AUDIO)}, {"text": "what's my balance"})
    code, told = shadow(said, "--out", tmp_path / "same", "--tree", ROOT)
    assert (code, "2 turns through both, 0 differ" in told) == (0, True), told
    assert (tmp_path / "same" / KEPT).read_bytes() == b""
    code, told = shadow(said, "--out", tmp_path / "out", "--asr-model", tmp_path / "none")
    assert code == 2
    assert "internal_fault" in told
    assert len(read_audio(AUDIO)) > 8_000


@pytest.mark.parametrize("option", ["--rules", "--tree"])
def test_a_folder_that_is_neither_is_refused(tmp_path: Path, option: str) -> None:
    code, told = shadow(manifest(tmp_path, {"text": "x"}), "--out", tmp_path / "out", option, tmp_path)
    assert (code, "is no " in told) == (2, True)


def test_what_is_right_on_one_side_alone_is_told() -> None:
    report = ShadowReport(turns=20, differ=9, ours_alone=9)
    assert "right here alone 9, right there alone 0 (p = 0.0039, McNemar)" in list(report.says())
    assert OtherPipeline() == OtherPipeline("", None, None)
    assert issubclass(InternalFault, Exception)
