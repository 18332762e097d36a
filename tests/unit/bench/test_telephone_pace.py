"""What the benchmarks of telephones count: how even packets came, and what G.711 leaves of a voice."""

import numpy as np
import pytest
from typer.testing import CliRunner

from app.cli import main
from app.client import Transport
from deploy.bench._telephone.pace import LEAD, Pace, deviations
from deploy.bench._telephone.telephone import Door, narrowed


def test_packets_sent_ahead_and_pauses_between_replies_are_no_deviation() -> None:
    ahead = [0.0, 0.0, 0.0]
    even = [0.02 * number for number in range(1, 6)]
    late = [0.125, 0.140]
    again = [5.0, 5.0, 5.0, 5.02]
    off = list(deviations([*ahead, *even, *late, *again], Pace(20, 2)))
    assert [ms for _, ms in off] == pytest.approx([0, 0, 0, 0, 0, 5, 5, 0])
    assert [at for at, _ in off] == [*even, *late, 5.02]


def test_every_telephone_has_a_pace_and_no_native_door_does_without_its_own() -> None:
    assert {door for door in Door if door.native is None} < set(LEAD)
    assert {door.native for door in Door} - {None} == set(Transport)


def test_g711_leaves_the_voice_where_it_was() -> None:
    at = np.arange(16_000) / 16_000
    voice = (0.5 * np.sin(2 * np.pi * 440 * at)).astype(np.float32)
    line = narrowed(voice)
    assert line.size == voice.size
    assert np.corrcoef(voice[800:-800], line[800:-800])[0, 1] > 0.99
    high = (0.5 * np.sin(2 * np.pi * 6_000 * at)).astype(np.float32)
    assert np.abs(narrowed(high)[800:-800]).max() < 0.02


@pytest.mark.parametrize(
    "wrong", [["latency", "--transport", "twilio", "--spoken"], ["pacing", "--transport", "calls"]], ids=str
)
def test_what_a_telephone_can_not_do_is_refused(wrong: list[str]) -> None:
    refused = CliRunner().invoke(main, ["bench", *wrong])
    assert refused.exit_code == 2
