"""A service of compose as a program of this machine: what stands in for its image, its command line and environment."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.postgres import ACCOUNT, server_folder, unavailable
from deploy.trial import dockerfile
from deploy.trial.places import Names, ServiceInstance

ROOT: Final = Path(__file__).parents[2]
HAPROXY: Final = "/usr/sbin/haproxy"
_IMAGE: Final = dockerfile.read(ROOT / "Dockerfile")[-1]


@dataclass(frozen=True)
class Program:
    """What is run."""

    command: tuple[str, ...]
    environment: dict[str, str]
    folder: Path


def missing(image: str) -> str:
    """Why an image has no program here; empty where it has one."""
    kind = image.partition(":")[0]
    if kind == "postgres":
        return unavailable()
    if kind == "haproxy":
        return "" if Path(HAPROXY).exists() else "Debian's haproxy is not installed"
    if kind == "prom/prometheus":
        needed = [name for name in ("prometheus", "wget") if shutil.which(name) is None]
        return f"Debian's {needed[0]} is not installed" if needed else ""
    return "" if kind in {"tellerline", "vllm/vllm-openai"} else "Debian has no package of it"


def program(place: ServiceInstance, names: Names, folder: Path) -> Program:
    """The program of a place, whatever it needs first being done. `folder` is for what is made on the way."""
    kind = place.service.image.partition(":")[0]
    own = folder / place.name
    own.mkdir(parents=True, exist_ok=True)
    if kind == "postgres":
        return _postgres(place, own)
    if kind == "haproxy":
        config = own / "haproxy.cfg"
        given = Path(place.path("/usr/local/etc/haproxy/haproxy.cfg")).read_text(encoding="utf-8")
        config.write_text(names.haproxy(given, place.address), encoding="utf-8")
        return Program((HAPROXY, "-W", "-db", "-f", str(config)), _bare(), own)
    if kind == "prom/prometheus":
        return _prometheus(place, names, own)
    return _gateway(place, names)


def one_off(place: ServiceInstance, names: Names, *arguments: str) -> Program:
    """What `docker compose run SERVICE ARGUMENTS…` runs."""
    found = _gateway(place, names)
    return Program((found.command[0], *arguments), found.environment, found.folder)


def check(place: ServiceInstance) -> tuple[str, ...]:
    """The words of a place's health check; none where it has none."""
    asked = place.service.health or (_IMAGE.health if place.service.built else None)
    if asked is None:
        return ()
    name, *rest = (place.here(word) for word in asked.test)
    return (_found(name), *rest)


def _found(name: str) -> str:
    """A program by the name that it has in its image."""
    if name == "python":
        return sys.executable
    if name == "tellerline":
        return str(Path(sys.executable).parent / name)
    postgres = (server_folder() or Path()) / name
    return str(postgres) if postgres.is_file() else name


def _bare() -> dict[str, str]:
    """A container has nothing of its host's environment."""
    return {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"}  # noqa: TID251 - where programs are


def _gateway(place: ServiceInstance, names: Names) -> Program:
    image = {name: value for name, value in _IMAGE.environment({}).items() if name != "PATH"}
    given = {
        name: names.resolved(place.path(value)) for name, value in (image | dict(place.service.environment)).items()
    }
    given["TELLERLINE_HOST"] = place.address  # a process that listened everywhere would listen for all of them
    entry, command, folder = (_IMAGE.last(name) for name in ("ENTRYPOINT", "CMD", "WORKDIR"))
    assert entry is not None
    assert command is not None
    assert folder is not None
    first, *rest = entry.words + (list(place.service.words) or command.words)
    path = {"PATH": f"{Path(sys.executable).parent}:{_bare()['PATH']}"}
    return Program((_found(first), *rest), _bare() | given | path, Path(place.path(folder.text)))


def _prometheus(place: ServiceInstance, names: Names, own: Path) -> Program:
    config = own / "prometheus.yml"
    given = Path(place.path("/etc/prometheus/prometheus.yml")).read_text(encoding="utf-8")
    config.write_text(names.prometheus(given), encoding="utf-8")
    words = [place.path(word.replace("/etc/prometheus/prometheus.yml", str(config))) for word in place.service.words]
    (port,) = place.service.ports
    return Program(("prometheus", *words, f"--web.listen-address={place.address}:{port}"), _bare(), own)


def _postgres(place: ServiceInstance, own: Path) -> Program:
    """As the image does: an empty folder becomes a cluster with the user, password and database of the environment."""
    programs, given = server_folder(), place.service.environment
    assert programs is not None, unavailable()
    data = Path(place.path("/var/lib/postgresql/data"))
    become: list[Path | str] = [*_become(own, data)]
    socket = f"-k {own}"
    if not any(data.iterdir()):
        password = own / "password"
        password.write_text(given["POSTGRES_PASSWORD"], encoding="utf-8")
        user = ["-U", given["POSTGRES_USER"]]
        _run([*become, programs / "initdb", "-D", data, *user, f"--pwfile={password}", "--auth-host=scram-sha-256"])
        password.unlink()
        control = [*become, programs / "pg_ctl", "-D", data, "-w", "-o", f"{socket} -c listen_addresses=''"]
        _run([*control, "-l", own / "first.log", "start"])
        _run([*become, programs / "createdb", "-h", own, *user, given["POSTGRES_DB"]])
        _run([*control, "stop"])
    server = [programs / "postgres", "-D", data, "-k", own, "-h", place.address]
    return Program(tuple(map(str, [*become, *server])), _bare(), own)


def _become(*folders: Path) -> list[str]:
    """How root becomes the account that may run the server, which then has the folders."""
    if os.geteuid() != 0:
        return []
    for folder in folders:
        shutil.chown(folder, ACCOUNT, ACCOUNT)
    return ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"]


def _run(command: Sequence[Path | str]) -> None:
    subprocess.run(list(map(str, command)), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")
