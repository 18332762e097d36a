"""What the training's README, its scripts and the Makefile say of its commands is so, and every step is told."""

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from recogniser import config
from recogniser.__main__ import STEPS

ROOT: Final = Path(__file__).parents[2]
ASR: Final = ROOT / "deploy" / "asr"
README: Final = (ASR / "README.md").read_text(encoding="utf-8")
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(ASR) ", "recogniser ")
SCRIPTS: Final = [path.read_text(encoding="utf-8") for path in (ASR / "gpu").iterdir()]
CALLED: Final = [
    call for text in (README, MAKEFILE, *SCRIPTS) for call in re.findall(r"recogniser ([a-z-]+)([^`\n]*)", text)
]
"""Steps, and what they are told."""


def test_every_step_that_is_called_is_there_and_every_one_is_told() -> None:
    assert {step for step, _ in CALLED} == STEPS.keys()


@pytest.mark.parametrize("step", STEPS)
def test_a_step_takes_what_it_is_told(step: str) -> None:
    source = (ASR / "recogniser" / STEPS[step][0].replace(".", "/")).with_suffix(".py").read_text(encoding="utf-8")
    options = {option for called, rest in CALLED if called == step for option in re.findall(r"--[a-z]+", rest)}
    assert "def main()" in source
    assert not {option for option in options if f'"{option}"' not in source}


def test_every_profile_is_told() -> None:
    assert set(re.findall(r"fine-tune (\w+) ", README)) == tomllib.loads(config.FILE.read_text("utf-8")).keys()


def test_every_target_is_told() -> None:
    assert set(re.findall(r"make (asr-\w+)", README)) == set(re.findall(r"^(asr-\w+):", MAKEFILE, re.MULTILINE))
