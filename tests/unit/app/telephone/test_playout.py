"""What is said leaves in even packets at an even pace; marks come after their sound; what is flushed is gone."""

import pytest

from app.transports.telephone.line import Playing
from app.transports.telephone.playout import MOST_S, Mark, Packet, Playout, size_of
from schemas.audio import AudioFormat, Encoding
from schemas.errors import SlowConsumer

MULAW = AudioFormat(Encoding.MULAW, 8_000)


def drained(playout: Playout, at: float, until: float, late: list[float]) -> list[tuple[float, Packet | Mark]]:
    """All that leaves by `until`; each wake-up is late by the next of `late`, in turn."""
    left: list[tuple[float, Packet | Mark]] = []
    wakes = 0
    while at <= until:
        while (item := playout.take(at)) is not None:
            left.append((at, item))
        due = playout.due_at()
        if due is None:
            break
        at = max(at, due) + late[wakes % len(late)]
        wakes += 1
    return left


@pytest.mark.parametrize("lead_ms", [0, 60])
def test_packets_leave_every_20_ms_however_late_the_clock_wakes(lead_ms: int) -> None:
    playout = Playout(Playing(MULAW, 20, lead_ms))
    playout.put(b"x" * 160 * 100)
    left = drained(playout, 5.0, 10.0, [0.0, 0.003, 0.011, 0.001])
    ahead = lead_ms // 20 + (1 if lead_ms else 0)
    times = [at for at, _ in left]
    assert len(times) == 100
    assert all(at == 5.0 for at in times[:ahead])
    for number, at in enumerate(times):
        due = 5.0 + max(0, number * 20 - lead_ms) / 1000
        assert due - 1e-6 <= at <= due + 0.0111


@pytest.mark.parametrize(
    ("form", "silence"),
    [(MULAW, b"\xff"), (AudioFormat(Encoding.ALAW, 8_000), b"\xd5"), (AudioFormat(Encoding.PCM16, 16_000), b"\0")],
)
def test_a_reply_ends_with_a_whole_packet_and_its_mark(form: AudioFormat, silence: bytes) -> None:
    playout = Playout(Playing(form))
    size = size_of(form, 20)
    playout.put(b"ab" * (size // 2) + b"ab")
    playout.end("r1")
    left = [item for _, item in drained(playout, 0.0, 1.0, [0.0])]
    assert left == [Packet(b"ab" * (size // 2)), Packet(b"ab" + silence * (size - 2)), Mark("r1")]


def test_where_the_line_does_not_tell_a_mark_waits_until_all_was_heard() -> None:
    playout = Playout(Playing(MULAW, 20, 60, marks=False))
    playout.put(b"x" * 160 * 10)
    playout.end("r1")
    at, item = drained(playout, 0.0, 1.0, [0.0])[-1]
    assert item == Mark("r1")
    assert at == pytest.approx(0.2)


def test_what_is_flushed_is_not_heard_and_what_follows_is_not_late() -> None:
    playout = Playout(Playing(MULAW, 20, 0))
    playout.put(b"x" * 160 * 50)
    playout.end("r1")
    assert playout.take(0.0) == Packet(b"x" * 160)
    playout.flush()
    assert playout.due_at() is None
    playout.put(b"y" * 160)
    assert playout.take(0.001) == Packet(b"y" * 160)


def test_nothing_leaves_while_the_line_is_held() -> None:
    playout = Playout(Playing(MULAW))
    playout.put(b"x" * 160)
    playout.held = True
    assert playout.take(9.0) is None
    playout.held = False
    assert playout.take(9.0) == Packet(b"x" * 160)


def test_a_pause_of_the_voice_is_not_made_up_for() -> None:
    playout = Playout(Playing(MULAW, 20, 0))
    playout.put(b"x" * 160)
    assert playout.take(0.0) is not None
    playout.put(b"x" * 160 * 3)
    assert [at for at, _ in drained(playout, 5.0, 6.0, [0.0])] == pytest.approx([5.0, 5.02, 5.04])


def test_sound_that_no_line_takes_has_a_bound() -> None:
    playout = Playout(Playing(MULAW))
    with pytest.raises(SlowConsumer):
        playout.put(b"x" * int(8_000 * MOST_S + 161))
