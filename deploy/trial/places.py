"""Where services are, without a network of their own: an address of 127.0.0.0/8 each, at which every port is theirs.

Names become addresses, and paths of volumes become folders. Ports stay as they are written, so that one that is wrong
in one file is wrong here.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from deploy.trial.compose import Service

SUBNET: Final = "127.47.0.0/24"
"""Given to compose as its network."""


@dataclass(frozen=True)
class ServiceInstance:
    """One instance of a service: where it is, and the folders that its volumes are."""

    service: Service
    number: int
    address: str
    mounts: Mapping[str, Path]
    """Folders and files of this machine by their paths inside."""

    @property
    def name(self) -> str:
        """`gateway-2` is the second gateway."""
        return f"{self.service.name}-{self.number}"

    def path(self, inside: str) -> str:
        """A text with paths inside replaced by those of this machine."""
        for mounted in sorted(self.mounts, key=len, reverse=True):
            inside = re.sub(rf"(?<![\w/.]){re.escape(mounted)}(?=/|$)", str(self.mounts[mounted]), inside)
        return inside

    def here(self, text: str) -> str:
        """A command's word: inside a container 127.0.0.1 is the container's own."""
        return text.replace("127.0.0.1", self.address)


def placed(services: Iterable[Service], scale: Mapping[str, int], folder: Path, root: Path) -> list[ServiceInstance]:
    """A place for each instance; named volumes lie in `folder`, what is mounted from the repository in `root`."""
    found: list[ServiceInstance] = []
    for one in services:
        mounts = dict(_mount(volume, folder, root) for volume in one.raw.get("volumes", ()))
        for number in range(1, scale.get(one.name, 1) + 1):
            found.append(ServiceInstance(one, number, f"127.47.0.{len(found) + 2}", mounts))
    return found


def _mount(volume: str, folder: Path, root: Path) -> tuple[str, Path]:
    outside, inside, *_ = volume.split(":")
    if outside.startswith("."):
        return inside, root / outside
    made = folder / "volumes" / outside
    made.mkdir(parents=True, exist_ok=True)
    return inside, made


class Names:
    """The addresses that each name has."""

    def __init__(self, places: Iterable[ServiceInstance]) -> None:
        self._known: dict[str, list[str]] = {}
        for place in places:
            for name in place.service.names:
                self._known.setdefault(name, []).append(place.address)

    def of(self, name: str) -> list[str]:
        """Its addresses; none where nobody has the name."""
        return self._known.get(name, [])

    def resolved(self, text: str) -> str:
        """A text with `//name:`, `@name/` and the like replaced by the name's first address."""
        for name, (first, *_) in self._known.items():
            text = re.sub(rf"(?:(?<=//)|(?<=@)){re.escape(name)}(?=[:/]|$)", first, text)
        return text

    def prometheus(self, text: str) -> str:
        """Prometheus' settings with discovery by name replaced by what would be discovered."""
        document: dict[str, Any] = yaml.safe_load(text)
        for job in document["scrape_configs"]:
            found = [
                f"{address}:{group['port']}"
                for group in job.pop("dns_sd_configs", ())
                for name in group["names"]
                for address in self.of(name)
            ]
            for group in job.get("static_configs", ()):
                pairs = (target.split(":") for target in group["targets"])
                found += [f"{address}:{port}" for name, port in pairs for address in self.of(name)]
            job["static_configs"] = [{"targets": found}]
        return yaml.safe_dump(document, sort_keys=False)

    def haproxy(self, text: str, address: str) -> str:
        """HAProxy's settings with names looked up, listening at `address` and coming from it."""

        def servers(found: "re.Match[str]") -> str:
            prefix, name, port = found["prefix"], found["name"], found["port"]
            known = self.of(name)
            return "".join(f"  server {prefix}{n} {at}:{port} check\n" for n, at in enumerate(known, 1))

        template = r"  server-template (?P<prefix>\S+) \S+ (?P<name>[\w-]+):(?P<port>\d+) .*\n"
        text = re.sub(template, servers, text)
        text = re.sub(r"^(  bind) :(\d+)", rf"\1 {address}:\2", text, flags=re.MULTILINE)
        return re.sub(r"^defaults\n", f"defaults\n  source {address}\n", text, flags=re.MULTILINE)
