"""What was said when the voice was laid is ready at once, in that voice alone."""

from pathlib import Path

import numpy as np
import pytest

from app.composition.speech import frequent, frequent_replies, repeating, say_frequent
from schemas.ids import EN_US, JA_JP
from services.speech.engine import Sound
from services.speech.said import read_said, write_said
from services.speech.speaker import Speaker
from tests.fakes.voice import HummingEngine

CLAUSES = {
    (EN_US, "Is that right?"): (Sound(b"\x01\x00\x02\x00", 24_000),),
    (JA_JP, "はい、"): (Sound(b"\x03\x00", 24_000),),
}


def test_it_comes_back_as_it_was_for_the_same_voice_alone(tmp_path: Path) -> None:
    write_said(tmp_path / "said.npz", "one", CLAUSES)
    assert read_said(tmp_path / "said.npz", "one") == CLAUSES
    assert read_said(tmp_path / "said.npz", "another") == {}
    assert read_said(tmp_path / "none.npz", "one") == {}


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_torn_file_is_none(tmp_path: Path, keep: int) -> None:
    file = tmp_path / "said.npz"
    write_said(file, "one", CLAUSES)
    file.write_bytes(file.read_bytes()[:keep])
    assert read_said(file, "one") == {}


def test_sound_that_is_missing_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "said.npz"
    write_said(file, "one", CLAUSES)
    with np.load(file) as held:
        np.savez(file, told=held["told"], pcm=held["pcm"][:-2])
    assert read_said(file, "one") == {}


async def test_who_knows_it_asks_the_engine_for_none_of_it() -> None:
    engine = HummingEngine()
    said = await say_frequent(engine)
    made = len(engine.asked)
    speaker = Speaker(engine, repeating())
    speaker.know(said)
    await speaker.warm_up(frequent(frequent_replies()))
    assert len(engine.asked) == made == len(said)
