"""Starts what docker-compose.yml says as plain processes, and plays a recorded call through it, in production mode.

`python -m deploy.trial.plain [--profile NAME]… [--scale SERVICE=NUMBER]… [--keep]`

Commands, environment, ports, health checks and order are read from the file. PostgreSQL, HAProxy and Prometheus are
Debian's, a fake with vLLM's contract stands in for the endpoints, the core bank, identity provider and code service
are played here. Exit status 1 where anything is not as it should be; what has no program here is told, and left out.
"""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from rich.console import Console

from app.demo.manifest import manifest
from app.demo.run import play
from deploy.trial import programs
from deploy.trial.around import CUSTOMERS, OPENING, BankAround, bank
from deploy.trial.compose import Service, chosen, load
from deploy.trial.places import SUBNET, Names, ServiceInstance, placed
from deploy.trial.running import Running
from tests.fakes.gemma import FakeGemma

CALL: Final = "transfer"
SCRAPED_S: Final = 60.0
"""What Prometheus may take until every target was up when it asked."""
_ENGINE: Final = "vllm/vllm-openai"


@dataclass
class PlainTrial:
    """Everything that was started."""

    places: list[ServiceInstance]
    names: Names
    folder: Path
    running: dict[str, Running] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Services that have no program here, and why."""

    @property
    def base(self) -> str:
        """Where callers call."""
        (door,) = (place for place in self.places if place.service.name == "balancer")
        return f"http://{door.address}:8080"

    async def restart(self, name: str) -> None:
        """Start a service again that ended."""
        place = self.running[name].place
        self.running[name] = await self.start(place)
        await self.running[name].healthy()

    async def start(self, place: ServiceInstance) -> Running:
        """Start a service."""
        made = await asyncio.to_thread(programs.program, place, self.names, self.folder)
        return await Running.start(place, made, self.folder)


@asynccontextmanager
async def started(
    around: BankAround, profiles: Sequence[str], scale: Mapping[str, int], folder: Path
) -> AsyncIterator[PlainTrial]:
    """Compose's services of these profiles, each healthy. Raises NotHealthy, ComposeInvalid."""
    _write(around.settings, folder)
    variables = around.settings | {"SUBNET": SUBNET}
    services = chosen(load(programs.ROOT / "docker-compose.yml", variables, folder), profiles)
    left_out = {name: why for name, one in services.items() if (why := _left_out(one, services))}
    places = placed([one for name, one in services.items() if name not in left_out], scale, folder, programs.ROOT)
    trial = PlainTrial(places, Names(places), folder, left_out=left_out)
    async with AsyncExitStack() as stack:
        for place in places:
            await _start(trial, place, stack)
        for running in trial.running.values():
            await running.healthy()
        yield trial


def _write(settings: Mapping[str, str], folder: Path) -> None:
    """The `.env` of an operator, in a folder whose own folders others may reach."""
    folder.chmod(0o711)
    environment = folder / ".env"
    environment.touch(mode=0o600)
    environment.write_text("".join(f"{name}={value}\n" for name, value in settings.items()), encoding="utf-8")


def _left_out(one: Service, services: Mapping[str, Service]) -> str:
    if one.raw.get("restart") == "no" and any(services[name].image.startswith(_ENGINE) for name in one.needs):
        return "it examines a real engine"
    return programs.missing(one.image)


async def _start(trial: PlainTrial, place: ServiceInstance, stack: AsyncExitStack) -> None:
    if place.service.image.startswith(_ENGINE):
        engine = FakeGemma()
        engine.host, (engine.port,) = place.address, place.service.ports
        await stack.enter_async_context(engine)
        return
    for name, condition in place.service.needs.items():
        for running in trial.running.values():
            if running.place.service.name == name and condition == "service_healthy":
                await running.healthy()
    if place.service.built and place.number == 1:
        await _imported(trial, place)
    trial.running[place.name] = await trial.start(place)
    stack.push_async_callback(_stop, trial, place.name)


async def _stop(trial: PlainTrial, name: str) -> None:
    await trial.running[name].stop()


async def _imported(trial: PlainTrial, place: ServiceInstance) -> None:
    """`docker compose run gateway bank import`: the tables are made, the customer is known."""
    run = programs.one_off(place, trial.names, "bank", "import", str(CUSTOMERS))
    importing = await asyncio.create_subprocess_exec(
        *run.command,
        cwd=run.folder,
        env=run.environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said = (await importing.communicate())[0].decode()
    if importing.returncode:
        raise SystemExit(said)


async def targets(trial: PlainTrial) -> dict[str, str]:
    """Prometheus' targets and their health, once all are up or their time is over; none without Prometheus."""
    prometheus = [place for place in trial.places if place.service.name == "prometheus"]
    if not prometheus:
        return {}
    url, until = f"http://{prometheus[0].address}:9090/api/v1/targets", time.monotonic() + SCRAPED_S
    async with httpx.AsyncClient() as client:
        while True:
            active: list[dict[str, Any]] = (await client.get(url)).json()["data"]["activeTargets"]
            told = {f"{one['labels']['job']} {one['labels']['instance']}": one["health"] for one in active}
            if (told and set(told.values()) == {"up"}) or time.monotonic() > until:
                return told
            await asyncio.sleep(0.5)


async def played(trial: PlainTrial, around: BankAround, console: Console) -> list[str]:
    """Play the recorded call through the balancer; what was not as it must be."""
    (call,) = (one for one in manifest().calls if one.id == CALL)
    faults = await play(trial.base, call, around.token(call.customer), console)
    assert call.booked is not None
    left = sum(account.cents for name, account in around.core.accounts.items() if name.startswith("alex-"))
    if OPENING - left != call.booked.amount_minor or len(around.core.carried_out) != 1:
        faults.append(f"the core moved {OPENING - left} in {len(around.core.carried_out)} transfers")
    return faults


async def run(profiles: Sequence[str], scale: Mapping[str, int], folder: Path) -> bool:
    """The whole trial, printed; whether all of it was as it should be."""
    console = Console(highlight=False, width=140)
    began = time.monotonic()
    async with bank() as around, started(around, profiles, scale, folder) as trial:
        console.print(f"all healthy after {time.monotonic() - began:.1f} s")
        faults = await played(trial, around, console)
        console.rule("services", align="left")
        for name, running in trial.running.items():
            console.print(f"  {name:16} ready after {running.ready_s:5.1f} s   {running.memory_mb:6.0f} MB")
        for name, why in trial.left_out.items():
            console.print(f"  {name:16} left out: {why}")
        told = await targets(trial)
        for target, state in told.items():
            console.print(f"  Prometheus: {target} {state}")
        faults += [f"{target} is {state}" for target, state in told.items() if state != "up"]
    for fault in faults:
        console.print(f"  not as it should be: {fault}")
    console.rule("as it should be" if not faults else f"{len(faults)} faults", align="left")
    return not faults


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="deploy.trial.plain", description=__doc__)
    parser.add_argument(
        "--profile", action="append", help="of the compose file; cpu and observability where none is given"
    )
    parser.add_argument("--scale", action="append", default=[], metavar="SERVICE=NUMBER")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and volumes, and name it")
    given = parser.parse_args(arguments)
    scale = {name: int(number) for name, _, number in (one.partition("=") for one in given.scale)}
    folder = Path(tempfile.mkdtemp(prefix="tellerline-trial-"))
    try:
        return 0 if asyncio.run(run(given.profile or ["cpu", "observability"], scale, folder)) else 1
    finally:
        if given.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
