"""One stream through two pipelines at once: what differs is kept, with its sound; what is the same is not."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import main
from app.qa.replay.playing.shadow import KEPT, ShadowReport
from app.qa.replay.playing.trees import OtherPipeline
from app.qa.replay.sound.audio import read_audio
from schemas.errors import InternalFault
from tests.harness.other_rules import other_rules

ROOT = Path(__file__).parents[2]
SEND = "send five hundred dollars to Catherine Nguyen"
AUDIO = ROOT / "tests/audio/send_five_hundred.opus"


def manifest(folder: Path, *lines: dict[str, object]) -> Path:
    path = folder / "m.jsonl"
    given = {"locale": "en-US", "customer": "alex-morgan"}
    path.write_text("\n".join(json.dumps({"id": str(n)} | given | line) for n, line in enumerate(lines)))
    return path


def shadow(*given: object) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["replay", "shadow", *map(str, given)])
    return done.exit_code, done.output


@pytest.mark.timeout(400)
def test_other_rules_beside_ours(tmp_path: Path) -> None:
    said = manifest(
        tmp_path, {"text": "what's my balance"}, {"turns": [{"text": SEND}, {"text": "yes"}]}, {"audio": str(AUDIO)}
    )
    code, told = shadow(said, "--out", tmp_path / "out", "--rules", other_rules(tmp_path))
    assert code == 1, told
    assert "4 turns through both, 3 differ" in told
    assert "money differs in 2: 1#1, 1#2" in told
    kept = [json.loads(line) for line in (tmp_path / "out" / KEPT).read_text().splitlines()]
    assert ["slot amount", "500.00 USD", "550.00 USD"] in kept[0]["differs"]
    assert (kept[1]["here"]["money"][0]["amount_minor"], kept[1]["there"]["money"][0]["amount_minor"]) == (50000, 55000)
    assert len(read_audio(tmp_path / "out/sound/3.flac")) > 8_000, "what both heard"


@pytest.mark.timeout(400)
def test_a_pipeline_that_breaks_off_is_told(tmp_path: Path) -> None:
    said = manifest(tmp_path, {"audio": str(AUDIO)})
    code, told = shadow(said, "--out", tmp_path / "out", "--asr-model", tmp_path / "none")
    assert (code, "internal_fault" in told) == (2, True)


@pytest.mark.parametrize("option", ["--rules", "--tree"])
def test_a_folder_that_is_neither_is_refused(tmp_path: Path, option: str) -> None:
    code, told = shadow(manifest(tmp_path, {"text": "x"}), "--out", tmp_path / "out", option, tmp_path)
    assert (code, "is no " in told) == (2, True)


def test_what_is_right_on_one_side_alone_is_told() -> None:
    report = ShadowReport(turns=20, differ=9, ours_alone=9)
    assert "right here alone 9, right there alone 0 (p = 0.0039, McNemar)" in list(report.says())
    assert OtherPipeline() == OtherPipeline("", None, None)
    assert issubclass(InternalFault, Exception)
