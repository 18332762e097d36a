"""A service on Ray with several nodes on loopback: each has an environment of its own, and dies as a machine does."""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from deploy.bench import CHECKOUT
from tests.harness.phone_asterisk import free_port

START_S: Final = 180.0
CPUS: Final = 4
"""Of a node, on paper: room for a gateway, and for all recognisers, which Ray may pile on one."""
_SET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",  # which means: of several nodes
    "PYTHONPATH": CHECKOUT,
}
_STATE: Final = "TELLERLINE_STATE_DIR"


def processes_with(setting: str) -> dict[int, str]:
    """The command lines, by id, of all processes whose environment has NAME=VALUE: it is inherited."""
    marker, found = f"{setting}\0".encode(), dict[int, str]()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if marker in (place / "environ").read_bytes():
                found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


@dataclass(frozen=True)
class RayNode:
    """A node whose gateway listens at `base`."""

    base: str
    state: Path

    def kill(self, named: str = "") -> None:
        """End every process whose command line has `named` in it, at once."""
        for number, name in processes_with(f"{_STATE}={self.state}").items():
            if named in name:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)

    def ready(self) -> bool:
        """Whether its gateway takes calls."""
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.base}/readyz", timeout=5).is_success
        return False

    def await_ready(self) -> None:
        """Until it does. Raises SystemExit."""
        _await(self.ready, "the gateway")


@contextmanager
def service_on_nodes(count: int, folder: Path, settings: Mapping[str, str]) -> Iterator[list[RayNode]]:
    """A head without work, `count` nodes with a gateway and a recogniser each, and the service on them."""
    secret = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    with ExitStack() as stack:
        head = f"127.0.0.1:{free_port()}"
        place = ("--head", f"--port={head.partition(':')[2]}", "--num-cpus=0", "--include-dashboard=false")
        stack.enter_context(_ray(*place, f"--temp-dir={folder}/ray", environment=secret))
        _await(lambda: _started(folder) == 1, "the head")
        nodes = []
        for number in range(count):
            port, state = free_port(), folder / f"node-{number}"
            state.mkdir()
            mine = {**settings, **secret, "TELLERLINE_PORT": str(port), _STATE: str(state)}
            stack.enter_context(_ray(f"--address={head}", f"--num-cpus={CPUS}", environment=mine))
            nodes.append(RayNode(f"http://127.0.0.1:{port}", state))
            stack.callback(nodes[-1].kill)
            _await(lambda: _started(folder) == len(nodes) + 1, "a node")  # two at a time would take the same name
        each = (f"--gateways={count}", f"--recognizers={count}", f"--at-most={count}")
        command = [sys.executable, "-m", "app.cli", "serve", "--on=ray", *each]
        known = {
            **settings,
            **secret,
            "RAY_ADDRESS": head,
            "TELLERLINE_PORT": str(free_port()),
            _STATE: str(folder / "driver"),
        }
        stack.enter_context(_running(command, known))
        _await(lambda: all(node.ready() for node in nodes), "the gateways")
        yield nodes


@contextmanager
def _ray(*arguments: str, environment: Mapping[str, str]) -> Iterator[None]:
    start = ["-m", "ray.scripts.scripts", "start", "--block", "--node-ip-address=127.0.0.1", "--disable-usage-stats"]
    with _running([sys.executable, *start, "--object-store-memory=100000000", *arguments], environment):
        yield


@contextmanager
def _running(command: list[str], environment: Mapping[str, str]) -> Iterator[None]:
    whole = {**os.environ, **_SET, **environment}  # noqa: TID251 - handed on to the child
    process = subprocess.Popen(command, env=whole, stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _started(folder: Path) -> int:
    return len(list(folder.glob("ray/session_2*/sockets/raylet*")))


def _await(happened: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + START_S
    while not happened():
        if time.monotonic() > until:
            raise SystemExit(f"{what} did not start")
        time.sleep(0.2)
