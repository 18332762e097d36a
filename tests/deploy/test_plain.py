"""Compose's services as plain processes: two gateways in production behind the balancer are one service.

The gateway that has a call is killed while its read-back waits: at the same address the other one takes the call up.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from app.client import calls_url, session, typed
from deploy.trial import programs
from deploy.trial.around import ACCOUNT, OPENING, BankAround, bank
from deploy.trial.compose import load
from deploy.trial.places import SUBNET, Names, placed
from deploy.trial.plain import PlainTrial, started, targets
from deploy.trial.running import Running
from tests.harness.calls import heard
from tests.harness.gateway import Caller

WHO = "alex-morgan"
ORDER = "send fifty dollars to my sister"
IMAGES = ("postgres:15", "haproxy:2", "prom/prometheus:v3")


@asynccontextmanager
async def call(trial: PlainTrial, around: BankAround) -> AsyncIterator[Caller]:
    """A call at the service's one address; who is told to come back does."""
    headers = {"Authorization": f"Bearer {around.token(WHO)}"}
    for _ in range(60):
        try:
            socket = await connect(calls_url(trial.base), compression=None, additional_headers=headers)
        except (InvalidStatus, ConnectionError, EOFError, TimeoutError):
            await asyncio.sleep(0.5)
        else:
            break
    async with socket:
        talking = Caller(socket)
        await talking.next("session.created", within_s=60)
        await talking.send(session("en-US"))
        await talking.next("session.updated", within_s=60)
        yield talking


async def has_a_call(client: httpx.AsyncClient, address: str) -> bool:
    """Whether a gateway has one; a dead one has none."""
    try:
        said = (await client.get(f"http://{address}:8080/metrics")).text
    except httpx.TransportError:
        return False
    return re.search(r"^tellerline_calls 1\.0$", said, re.MULTILINE) is not None


async def serving(trial: PlainTrial) -> Running:
    """The gateway that has the one call."""
    async with httpx.AsyncClient() as client:
        for _ in range(100):
            for running in trial.running.values():
                if running.place.service.name == "gateway" and await has_a_call(client, running.place.address):
                    return running
            await asyncio.sleep(0.1)
    raise AssertionError("nobody has the call")


@pytest.mark.timeout(600)
async def test_two_gateways_are_one_service() -> None:
    for image in IMAGES:
        if why := programs.missing(image):
            pytest.skip(why)
    with TemporaryDirectory(prefix="tellerline-trial-") as made:
        folder = Path(made)
        async with (
            bank() as around,
            started(around, ["cpu", "observability"], {"gateway": 2}, folder) as trial,
        ):
            told = await targets(trial)
            assert set(told.values()) == {"up"}, told
            assert sum(target.startswith("tellerline ") for target in told) == 2
            await operations_are_hidden(trial)
            said, first = await killed_before_its_yes(trial, around)
            await taken_up(trial, around, said, first)
        assert not leaks(folder, around)


async def operations_are_hidden(trial: PlainTrial) -> None:
    async with httpx.AsyncClient(base_url=trial.base) as client:
        for path in ("/metrics", "/readyz", "/healthz", "/%6detrics", "//metrics"):
            assert (await client.get(path)).status_code == 404, path
        assert (await client.post("/v1/text", json={"text": "hello", "locale": "en-US"})).status_code == 401


async def killed_before_its_yes(trial: PlainTrial, around: BankAround) -> tuple[str, Running]:
    """A transfer is read back, heard, and then the gateway is no more; what was read, and which gateway that was."""
    async with call(trial, around) as talking:
        await talking.send(typed(ORDER))
        said = await heard(talking)
        first = await serving(trial)
        first.kill()
        with pytest.raises(ConnectionClosed):
            await talking.for_a_while(60)
    return said, first


async def taken_up(trial: PlainTrial, around: BankAround, said: str, first: Running) -> None:
    """The client calls again: another gateway reads the same back, and one yes is one booking."""
    async with call(trial, around) as talking:
        again = await heard(talking)
        assert again.startswith("You have yet to answer this.")
        assert again.endswith(said)
        assert (await serving(trial)).place.name != first.place.name
        for _ in range(2):
            await talking.send(typed("yes"))
            await heard(talking)
        assert [event["state"] for event in talking.of("tellerline.ledger")] == ["succeeded"]
    assert around.core.accounts[ACCOUNT].cents == OPENING - 5_000
    assert len(around.core.carried_out) == 1


def leaks(folder: Path, around: BankAround) -> list[str]:
    """Services that said a secret."""
    secret = ("KEY", "PASSWORD")
    values = [value for name, value in around.settings.items() if name.endswith(secret)]
    logs = {log.name: log.read_text(errors="replace") for log in folder.glob("*.log")}
    assert logs
    return [name for name, text in logs.items() if any(value in text for value in values)]


def test_what_has_no_program_here_is_told() -> None:
    assert programs.missing("grafana/grafana:12.1.0") == "Debian has no package of it"
    assert not programs.missing("tellerline:0.1.0")


def test_names_become_addresses_and_ports_stay(tmp_path: Path) -> None:
    services = load(programs.ROOT / "docker-compose.yml", {"POSTGRES_PASSWORD": "x", "SUBNET": SUBNET})
    places = placed(
        [services["gateway"], services["postgres"], services["balancer"]], {"gateway": 2}, tmp_path, Path("/r")
    )
    names = Names(places)
    assert [place.address for place in places] == ["127.47.0.2", "127.47.0.3", "127.47.0.4", "127.47.0.5"]
    assert (
        names.resolved("postgresql://tellerline@postgres/tellerline") == "postgresql://tellerline@127.47.0.4/tellerline"
    )
    assert names.resolved("http://postgresql:1/postgres") == "http://postgresql:1/postgres"
    assert places[0].path("/var/lib/tellerline/x") == str(tmp_path / "volumes/state/x")
    assert places[0].path("/var/lib/tellerline2") == "/var/lib/tellerline2"
    balanced = names.haproxy((programs.ROOT / "deploy/haproxy/haproxy.cfg").read_text(), "127.47.0.5")
    assert re.findall(r"^  server (\S+) (\S+) check$", balanced, re.MULTILINE) == [
        ("gateway1", "127.47.0.2:8080"), ("gateway2", "127.47.0.3:8080"),
    ]  # fmt: skip
    assert "bind 127.47.0.5:8080" in balanced
    given = "scrape_configs: [{job_name: a, dns_sd_configs: [{names: [gateway, qna], type: A, port: 7}]}]"
    assert "127.47.0.3:7" in names.prometheus(given)
