"""`tellerline transcribe`: a line a file, whatever its format, and an error's code where a file can't be heard."""

from pathlib import Path

import orjson
import pytest
import soxr
from typer.testing import CliRunner

from app.cli import main
from deploy.bench.asr import cases
from services.audio.files import read_file

DATA = Path(__file__).parents[2] / "data" / "asr"
KEYS = {"file", "text", "alternatives", "avg_logprob", "no_speech_prob", "decode_ms"}


def run(*args: str) -> tuple[int, list[dict[str, object]]]:
    result = CliRunner().invoke(main, ["transcribe", *args])
    return result.exit_code, [orjson.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


@pytest.mark.parametrize(("lang", "locale"), [("en", "en-US"), ("ja", "ja-JP")])
def test_every_file_has_its_line(lang: str, locale: str) -> None:
    files = [str(c.path) for c in cases(DATA) if c.lang == lang][:3]
    code, lines = run(*files, "--locale", locale)
    assert code == 0
    assert [line["file"] for line in lines] == files
    assert all(set(line) == KEYS for line in lines)


def test_sample_rate_and_container_do_not_matter(tmp_path: Path) -> None:
    import wave

    import numpy as np

    # A well-heard recording: where the model hesitates between words, a sample's rounding decides.
    clip = Path(__file__).parents[2] / "audio" / "balance.opus"
    samples = read_file(clip.read_bytes())
    with wave.open(str(tmp_path / "a.wav"), "wb") as out:
        out.setparams((1, 2, 44_100, 0, "NONE", ""))
        wide = soxr.resample(samples, 16_000, 44_100)
        out.writeframes((np.clip(wide, -1, 1) * 32_767).astype("<i2").tobytes())
    _, (original, copy) = run(str(clip), str(tmp_path / "a.wav"))
    assert copy["text"] == original["text"]


def test_what_is_no_audio_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(b"not audio")
    good = str(next(c for c in cases(DATA) if c.lang == "en").path)
    code, lines = run(str(tmp_path / "x.wav"), str(tmp_path / "absent.wav"), good)
    assert code == 1
    assert [line.get("error") for line in lines] == ["unsupported_audio", "unreadable", None]


def test_an_unknown_locale_is_refused() -> None:
    assert CliRunner().invoke(main, ["transcribe", "x.wav", "--locale", "xx-XX"]).exit_code == 2
