"""Settings of trainings: recogniser/config.py and its file."""

import tomllib
from pathlib import Path

import pytest

from recogniser import config
from recogniser.train.settings import FineTuning


def test_a_profile_is_read_and_the_command_line_differs_from_it() -> None:
    told = config.settings(FineTuning, ("heads", "folder=/tmp/asr", "only=ja", "lr=4e-5", "minutes=2"))
    assert (told.folder, told.only, told.lr, told.minutes) == (Path("/tmp/asr"), "ja", 4e-5, 2)
    assert (told.ears, told.plain) == (1, 0.6)


def test_every_profile_fits_its_training() -> None:
    for name in tomllib.loads(config.FILE.read_text(encoding="utf-8")):
        assert config.settings(FineTuning, (name, "folder=/tmp/asr")).frames == 36_000


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ((), "name a profile of config.toml: whisper, heads"),
        (("small",), "name a profile"),
        (("whisper", "folder=a", "depth=4"), "no such setting: depth"),
        (("whisper",), "still to be told: folder"),
        (("whisper", "--minutes"), "settings are KEY=VALUE"),
    ],
)
def test_what_is_wrong_is_said(told: tuple[str, ...], said: str) -> None:
    with pytest.raises(SystemExit, match=said):
        config.settings(FineTuning, told)
