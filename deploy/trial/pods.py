"""Carries out deploy/ray/rayservice.yaml without Kubernetes: `deploy.trial.pods BASE`, as for `deploy.trial.image`.

Both Dockerfiles' steps are carried out; each pod is a container of the image in a network of its own, in which Ray is
started as KubeRay starts it, and the head is handed `serveConfigV2` as the operator hands it. Calls are played at each
gateway; a gateway's and a recogniser's pod are killed and started again. Needs root. Exit status 1 where anything is
not as it should be.
"""

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.postgres import cluster
from deploy.trial.image import PATH, ROOT, Image, Variables, entered, laid_out, made, megabytes, told, workshop
from tests.harness.processes import SHARED

MANIFEST: Final = ROOT / "deploy/ray/rayservice.yaml"
START_S: Final = 300.0
BRIDGE: Final = "tellerline0"
SUBNET: Final = "10.147.0"
CALLS: Final = ("transfer", "furikomi")
HEAD: Final = "head"
# What the operator adds to a group's own parameters (KubeRay 1.4, setMissingRayStartParams).
ADDED: Final = {"metrics-export-port": "8080", "dashboard-agent-listen-port": "52365", "block": "true"}
ADDED_TO_HEAD: Final = {"dashboard-host": "0.0.0.0"}  # noqa: S104 - of a network of its own
DATABASE: Final = "/var/lib/tellerline/database"
_SHELL: Final = ["/bin/bash", "-c", "--"]


@dataclass
class Pod:
    """One pod: its group in the manifest, its address, and what was started in it."""

    name: str
    group: dict[str, Any]
    address: str
    environment: Variables
    image: Image
    process: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @property
    def container(self) -> dict[str, Any]:
        """What the manifest says of its container."""
        found: dict[str, Any] = self.group["template"]["spec"]["containers"][0]
        return found

    def start(self, head: str) -> None:
        """Start Ray in it, by the command that the operator writes."""
        given = ADDED | (ADDED_TO_HEAD if self.name == HEAD else {"address": f"{head}:6379"})
        told = given | self.group["rayStartParams"]
        words = " ".join(f"--{name}" if value == "true" else f"--{name}={value}" for name, value in told.items())
        command = f"ulimit -n 65536; ray start {'--head ' if self.name == HEAD else ''}{words}"
        self.process = subprocess.Popen(self._inside([*_SHELL, command]), env=self.environment)

    def run(self, *words: str) -> int:
        """Run a command in it, as `kubectl exec` does; its exit status."""
        return subprocess.run(self._inside([*words]), env=self.environment, check=False).returncode

    def asked(self, path: str, port: int) -> bool:
        """Whether a probe of it by HTTP is content."""
        asking = ["curl", "-fsS", "-m", "3", "-o", "/dev/null", f"http://{self.address}:{port}{path}"]
        return subprocess.run(asking, check=False, stderr=subprocess.DEVNULL).returncode == 0

    def ready(self) -> bool:
        """Whether its readiness probe is content."""
        probe = self.container["readinessProbe"]
        if "exec" in probe:
            return self.run(*probe["exec"]["command"]) == 0
        ports = {one["name"]: one["containerPort"] for one in self.container["ports"]}
        return self.asked(probe["httpGet"]["path"], ports[probe["httpGet"]["port"]])

    def kill(self) -> None:
        """End every process in it at once."""
        told = subprocess.run(["ip", "netns", "pids", self.name], check=True, capture_output=True, text=True).stdout
        for number in told.split():
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        if self.process is not None:
            self.process.wait()

    def _inside(self, words: list[str]) -> list[str]:
        return ["ip", "netns", "exec", self.name, *entered(self.image, self.name), *words]


@contextmanager
def network(names: list[str]) -> Iterator[dict[str, str]]:
    """A network of each pod's own, and one among them all; their addresses."""
    addresses = {name: f"{SUBNET}.{number}" for number, name in enumerate(names, 2)}
    with ExitStack() as stack:
        _ip(f"link add {BRIDGE} type bridge")
        stack.callback(_ip, f"link del {BRIDGE}")
        _ip(f"addr add {SUBNET}.1/24 dev {BRIDGE}")
        _ip(f"link set {BRIDGE} up")
        for number, (name, address) in enumerate(addresses.items()):
            _ip(f"netns add {name}")
            stack.callback(_ip, f"netns del {name}")
            _ip(f"link add tl-v{number} type veth peer name eth0 netns {name}")
            _ip(f"link set tl-v{number} master {BRIDGE} up")
            for words in (f"addr add {address}/24 dev eth0", "link set eth0 up", "link set lo up"):
                _ip(f"-n {name} {words}")
            _ip(f"-n {name} route add default via {SUBNET}.1")
        yield addresses


def _ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def of_the_manifest() -> tuple[dict[str, dict[str, Any]], str]:
    """The pods' groups by the pods' names, and what is to be served."""
    (service,) = (one for one in yaml.safe_load_all(MANIFEST.read_text("utf-8")) if one["kind"] == "RayService")
    cluster = service["spec"]["rayClusterConfig"]
    pods = {HEAD: cluster["headGroupSpec"]}
    for group in cluster["workerGroupSpecs"]:
        pods |= {f"{group['groupName']}-{number}": group for number in range(group["replicas"])}
    return pods, service["spec"]["serveConfigV2"]


def environment(container: dict[str, Any], image: Image, kept: dict[str, Variables]) -> Variables:
    """A container's environment: the image's, whole secrets, and what is named one by one. Raises KeyError."""
    found = image.stage.environment({"PATH": PATH}) | {"HOME": "/nonexistent"}
    for whole in container.get("envFrom", ()):
        found |= kept[whole["secretRef"]["name"]]
    for one in container["env"]:
        key = one.get("valueFrom", {}).get("secretKeyRef")
        found[one["name"]] = kept[key["name"]][key["key"]] if key else one["value"]
    return found


@contextmanager
def started(image: Image, kept: dict[str, Variables], database: Path) -> Iterator[dict[str, Pod]]:
    """All pods, ready, with what is to be served on them; each sees the database's folder."""
    groups, served = of_the_manifest()
    with ExitStack() as stack:
        addresses = stack.enter_context(network(list(groups)))
        pods: dict[str, Pod] = {}
        for name, group in groups.items():
            settings = environment(group["template"]["spec"]["containers"][0], image, kept)
            pods[name] = Pod(name, group, addresses[name], settings, image)
            stack.enter_context(laid_out(image, name))
            stack.enter_context(shown(database, Path(f"{image.seen(name)}{DATABASE}")))
            stack.callback(pods[name].kill)
            pods[name].start(addresses[HEAD])
            if name == HEAD:
                until(pods[HEAD].ready, "the head is ready")
        hand(served, pods[HEAD])
        for pod in pods.values():
            until(pod.ready, f"{pod.name} is ready")
        yield pods


@contextmanager
def shown(folder: Path, place: Path) -> Iterator[None]:
    """A folder of this machine in a container."""
    place.mkdir()
    subprocess.run(["mount", "--bind", folder, place], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], check=False)


def hand(served: str, head: Pod) -> None:
    """As the operator does: by the head's dashboard, with the cluster's token. Raises CalledProcessError."""
    token = head.environment["RAY_AUTH_TOKEN"]
    asking = [
        "curl",
        "-fsS",
        "-X",
        "PUT",
        "-H",
        "Content-Type: application/json",
        "-H",
        f"Authorization: Bearer {token}",
    ]
    body = json.dumps(yaml.safe_load(served))
    subprocess.run([*asking, "-d", body, f"http://{head.address}:8265/api/serve/applications/"], check=True)


def until(true: Callable[[], bool], what: str) -> None:
    """Wait for it, and tell how long that took. Raises SystemExit."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > START_S:
            raise SystemExit(f"not in {START_S:.0f} s: {what}")
        time.sleep(0.5)
    print(f"{what} after {time.monotonic() - began:.1f} s", flush=True)


def faults(pods: dict[str, Pod]) -> Iterator[str]:
    """What is not as it should be: calls at each gateway, closed doors, and a loss of each kind of pod."""
    gateways = [pod for name, pod in pods.items() if name.startswith("gateways")]
    port = gateways[0].container["ports"][0]["containerPort"]
    for gateway in gateways:
        yield from _unplayed(gateway, port, CALLS)
    if pods[HEAD].asked("/api/serve/applications/", 8265):
        yield "who has no token is told what is served"
    for name in (gateways[0].name, "recognizers-0"):
        pods[name].kill()
        print(f"{name} was killed", flush=True)
        yield from _unplayed(gateways[1], port, CALLS[:1])
        pods[name].start(pods[HEAD].address)
        until(pods[name].ready, f"{name} is ready again")
    yield from _unplayed(gateways[0], port, CALLS[:1])


def _unplayed(gateway: Pod, port: int, calls: tuple[str, ...]) -> Iterator[str]:
    """Recorded calls, from a caller beside it: the demonstration's tokens are given on the machine itself alone."""
    for call in calls:
        if gateway.run("tellerline", "demo", "--url", f"http://127.0.0.1:{port}", "--call", call):
            yield f"{call} did not end at {gateway.name} as it should"


def main(arguments: list[str]) -> int:
    """The command line: the base, and settings of the network as NAME=VALUE."""
    if not arguments:
        sys.exit(__doc__)
    base, reach = Path(arguments[0]), dict(pair.split("=", 1) for pair in arguments[1:])
    with workshop(base) as work, cluster(durable=False) as postgres:
        image = made(base, work, reach, "deploy/ray/Dockerfile", tellerline=made(base, work, reach))
        print(f"size: {megabytes(image.root):.0f} MB")
        url = postgres.url.replace(str(postgres.folder), DATABASE).format(database="postgres")
        mine = {"ENVIRONMENT": "demo", "DATABASE_URL": url}
        settings = {f"TELLERLINE_{name}": value for name, value in {**SHARED, **mine}.items()}
        kept = {"tellerline": settings, "tellerline-ray": {"token": secrets.token_hex(32)}}
        with started(image, kept, postgres.folder) as pods:
            wrong = list(faults(pods))
    return told(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
