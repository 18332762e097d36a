"""On Ray it is the same service: closed to strangers, discreet, and alive when its gateway is killed."""

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")

from app.demo.run import run, service
from deploy.bench._nodes.nodes import processes_with

pytestmark = pytest.mark.timeout(400)
KEY = "b0" + "7a1c5e9d3f8264" * 4
BACK_S = 90.0
LISTENS = "0A"


@dataclass(frozen=True)
class OnRay:
    base: str
    folder: Path

    def processes(self) -> dict[int, str]:
        """Of ours, by their ids."""
        return processes_with(f"TMPDIR={self.folder}")


@pytest.fixture(scope="module")
def on_ray() -> Iterator[OnRay]:
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        command = ("-m", "app.cli", "serve", "--on", "ray")
        with service(*command, TMPDIR=folder, TELLERLINE_CONFIRMATION_KEY=KEY) as base:
            running = OnRay(base, Path(folder))
            yield running
        assert not running.processes()
        assert not list(Path(folder).glob("tl-*"))


def listening() -> Iterator[tuple[str, str]]:
    """Address and inode of every socket that listens on this machine."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS:
                yield fields[1].partition(":")[0], fields[9]


def sockets(process: int) -> Iterator[str]:
    for place in Path(f"/proc/{process}/fd").iterdir():
        with suppress(OSError):
            yield str(place.readlink()).removeprefix("socket:[").removesuffix("]")


def test_money_moves_as_it_does_on_one_machine(on_ray: OnRay) -> None:
    assert run(url=on_ray.base, only=["transfer"])


def test_nothing_listens_but_on_loopback(on_ray: OnRay) -> None:
    places = {inode: address for address, inode in listening()}
    ours = {places[inode] for process in on_ray.processes() for inode in sockets(process) if inode in places}
    assert ours
    assert ours <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_a_secret_is_in_no_log(on_ray: OnRay) -> None:
    kept = [place for place in on_ray.folder.rglob("*") if place.is_file()]
    assert kept
    assert not [place for place in kept if KEY.encode() in place.read_bytes()]


def test_logs_and_sockets_are_the_owners_alone(on_ray: OnRay) -> None:
    (folder,) = on_ray.folder.glob("tl-*")
    assert folder.stat().st_mode & 0o077 == 0


def test_no_process_gives_way_to_others(on_ray: OnRay) -> None:
    calls = [number for number, name in on_ray.processes().items() if name.startswith("ray::ServeReplica")]
    assert len(calls) == 2
    assert {os.getpriority(os.PRIO_PROCESS, number) for number in calls} == {0}


def test_a_gateway_that_is_killed_is_started_again(on_ray: OnRay) -> None:
    (gateway,) = (n for n, name in on_ray.processes().items() if name.startswith("ray::ServeReplica:gateway"))
    os.kill(gateway, signal.SIGKILL)
    until = time.monotonic() + BACK_S
    with httpx.Client() as client:
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                if client.get(f"{on_ray.base}/readyz").is_success and gateway not in on_ray.processes():
                    break
            time.sleep(0.2)
    assert run(url=on_ray.base, only=["transfer"])
