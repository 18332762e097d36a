"""Settings of trainings: recogniser/config.py and its file."""

import tomllib
from pathlib import Path

import pytest

from recogniser import config
from recogniser.train.settings import FineTuning, ScratchSettings

WHERE = ("data=corpus", "noise=noise", "rooms=rooms.npy", "run=runs/a")


def test_a_profile_is_read_and_the_command_line_differs_from_it() -> None:
    small = config.settings(ScratchSettings, ("cpu-ja", *WHERE))
    assert (small.minutes, small.lang, small.stack, small.run) == (60, "ja", 3, Path("runs/a"))
    told = ("minutes=2", "without=larynx,borrowed", 'favour={"kokoro:"=6}', "lr=4e-5")
    changed = config.settings(ScratchSettings, ("cpu-en", *WHERE, *told))
    assert (changed.minutes, changed.lr, changed.without) == (2, 4e-5, {"larynx", "borrowed"})
    assert changed.weights["kokoro:"] == 6


def test_every_profile_fits_its_training() -> None:
    for name, profile in tomllib.loads(config.FILE.read_text(encoding="utf-8")).items():
        if name == "whisper":
            assert config.settings(FineTuning, (name, "folder=/tmp/asr")).frames == profile["frames"]
        else:
            end = () if "cpu" in name else ("until=1.8e9",)
            assert config.settings(ScratchSettings, (name, *WHERE, *end)).lang == name[-2:]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((), "name a profile of config.toml: cpu-en"),
        (("gpu-fr",), "name a profile"),
        (("cpu-en", *WHERE, "depth=4"), "no such setting: depth"),
        (("cpu-en",), "still to be told: data, noise, rooms, run"),
        (("cpu-en", *WHERE, "--minutes"), "settings are KEY=VALUE"),
        (("gpu-en", *WHERE), "say when to end"),
        (("cpu-en", *WHERE, "until=1.8e9"), "say when to end"),
    ],
)
def test_what_is_wrong_is_said(told: tuple[str, ...], said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        config.settings(ScratchSettings, told)
