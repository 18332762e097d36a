"""A file made once: processes that start at the same moment all end with the bytes of the first."""

import subprocess
import sys
from pathlib import Path

from app.once import made_once
from services.timing.clock import SystemClock

ROOT = Path(__file__).parents[3]
PROCESSES, KEYS = 4, 60
RACER = """
import secrets, sys, time
from pathlib import Path
from app.once import made_once
folder = Path(sys.argv[1])
print("ready", flush=True)
starts = float(sys.stdin.readline())
for number in range(int(sys.argv[2])):
    while time.time() < starts + number * 0.005:
        pass
    print(made_once(folder / "keys" / str(number), lambda: secrets.token_bytes(32)).hex())
"""


def test_a_file_that_is_there_is_read() -> None:
    path = Path(__file__)
    assert made_once(path, lambda: b"never") == path.read_bytes()


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "keys" / "one"
    assert made_once(path, lambda: b"bytes") == b"bytes" == path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["one"]


def test_the_first_wins_though_another_was_making_its_own(tmp_path: Path) -> None:
    path = tmp_path / "one"

    def overtaken() -> bytes:
        made_once(path, lambda: b"first")
        return b"second"

    assert made_once(path, overtaken) == b"first" == path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["one"]


def test_processes_that_race_end_with_the_same_bytes(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(KEYS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    go = f"{SystemClock().now().timestamp() + 0.05}\n"
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write(go)
        racer.stdin.flush()
    seen = [racer.communicate(timeout=30)[0].split() for racer in racers]
    kept = [(tmp_path / "keys" / str(number)).read_bytes().hex() for number in range(KEYS)]
    assert seen == [kept] * PROCESSES
    assert len({*kept}) == KEYS
    assert {len(key) for key in kept} == {64}
    assert len(list((tmp_path / "keys").iterdir())) == KEYS
