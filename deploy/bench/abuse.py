"""What honest callers feel while others attack: a table of attacks, each beside typed turns of a call and requests.

The service, the attackers and the honest ones are three processes. Before and after each attack the honest ones are
alone, so that a machine that is busy with something else makes both figures worse, and their ratio stays what it is;
a ratio that is too much, or of two figures alone that are far from each other, is taken three times, and the middle one
counts. What the service holds is compared with what it held once its pools were full.
"""

import asyncio
import contextlib
import multiprocessing
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import httpx
import typer
from rich.console import Console

from app.qa.figures import Figure
from app.settings import Settings
from deploy.bench._abuse.bombs import wav
from deploy.bench._abuse.felt import MOST_RATIO, AttackRow, AttackTimes, restless
from deploy.reporting import publish

PAUSE_S: Final = 0.08
"""Between an answer and the next question in a call."""
REQUEST_PAUSE_S: Final = 0.55
"""Between an answer and the next request: more a minute than are allowed would be refused to honest ones, too."""
REST_S: Final = 1.0
"""Between an attack and the next measurement."""
UNDER_WAY_S: Final = 1.0
"""Of an attack, before the honest ones come: what it takes then is taken from them."""
SETTLE_S: Final = 45.0
"""What deadlines may take to bring everything back."""
RSS_RATIO: Final = 1.1
FILLERS: Final = 8
"""Clients of each customer that fill the service's pools of threads, connections and decoders."""
LATE_WORKERS: Final = 4
"""Threads of bounded pools that filling them by an allowance may leave to be started later."""
ALLOWANCE_S: Final = 60.0
"""Until those who filled them may send as much as anybody."""

Look = dict[str, float]


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    seconds: Annotated[float, typer.Option(help="Of each attack, and of the time before it.", min=1)] = 4.0,
    only: Annotated[str, typer.Option(help="Attacks whose name holds this.")] = "",
) -> None:
    """Attack a service of our own in every way, and tell what those felt who meant well. Ends with 1 where too much."""
    from app.demo.run import service

    with service(**_shipped()) as base:
        figures = asyncio.run(_all(base, seconds, only))
    workload = f"each attack {seconds:.0f} s after as long without; an honest call and typed requests beside it"
    publish("abuse", workload, figures, json)
    if figures["too_much"]:
        raise typer.Exit(1)


def _shipped() -> dict[str, str]:
    """The limits of a service that nobody set, as environment variables."""
    names = ("requests_per_minute", "calls_per_minute", "connections_per_minute", "calls_per_customer")
    return {f"TELLERLINE_{name.upper()}": str(Settings.model_fields[name].default) for name in names}


async def _all(base: str, seconds: float, only: str, *, once: bool = False) -> dict[str, Figure]:
    """The figures; `once`, those of one try each, without waiting for memory: for who does not judge by ratios."""
    from deploy.bench._abuse.attacks import ATTACKS

    service, console = _serving(base), Console(width=160)
    console.print("p95 in ms without -> with attack: requests, turns of a call; the ratio; those that failed;")
    console.print("cores of the service and of its decoders; the service's MB, descriptors, threads and tasks")
    figures: dict[str, Figure] = {}
    await _filled(base, seconds)
    await asyncio.sleep(0 if once else ALLOWANCE_S)
    before = await _look(base, service)
    too_much = 0
    for name in (name for name in ATTACKS if only in name):
        row, times = await _judged(base, service, name, seconds, again=not once)
        too_much += not row.ratio <= MOST_RATIO or row.beside.failed > row.alone.failed
        key = name.replace(" ", "_").replace(":", "")
        figures |= {f"{key}_{part}": value for part, value in row.figures().items()}
        held = await _look(base, service)
        console.print(_line(name, row, times, held), highlight=False)
    after = await _settled(base, service, before, _left_open if once else _back)
    figures |= {f"{name}_before": before[name] for name in before} | {f"{name}_after": after[name] for name in after}
    back = _back(after, before)
    return figures | {"attacks_felt": too_much, "all_came_back": back, "too_much": too_much > 0 or not back}


def _line(name: str, row: AttackRow, times: int, held: Look) -> str:
    (text, call), (text_with, call_with) = row.alone.p95(), row.beside.p95()
    felt = f"{text:4.0f} -> {text_with:4.0f}  {call:4.0f} -> {call_with:4.0f}  x{row.ratio:.2f} of {times}"
    kept = "  ".join(f"{held[part]:.0f}" for part in ("rss_mb", "fds", "threads", "tasks"))
    return f"{name:26s} {felt}  {row.beside.failed}  {row.cores:.2f} {row.decoders:.2f}  {kept}"


async def _judged(base: str, service: int, name: str, seconds: float, *, again: bool) -> tuple[AttackRow, int]:
    """An attack, three times where once says little; the one in the middle, and how often it was tried."""
    rows = [await _once(base, service, name, seconds)]
    if again and rows[0].doubtful:
        rows += [await _once(base, service, name, seconds) for _ in range(2)]
    return sorted(rows, key=lambda row: row.ratio)[len(rows) // 2], len(rows)


async def _once(base: str, service: int, name: str, seconds: float) -> AttackRow:
    earlier = await _honest(base, seconds / 2)
    used, decoders = _cpu_s(service), _children_cpu_s(service)
    beside = await _honest(base, seconds, partial(_attacked, base, name, seconds))
    used, decoders = _cpu_s(service) - used, _children_cpu_s(service) - decoders
    await asyncio.sleep(REST_S)
    later = await _honest(base, seconds / 2)
    unlike = restless(earlier, later)
    earlier.add(later)
    return AttackRow(earlier, beside, unlike, used / seconds, decoders / seconds)


async def _filled(base: str, seconds: float) -> None:
    """Honest ones, more than there are otherwise, until every pool of the service holds what it may."""
    from app.client import demo_token

    tokens = [await demo_token(base, customer) for customer in ("takahashi-misaki", "alex-morgan")]
    until = time.monotonic() + seconds

    async def repeat(token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=base, headers=headers, timeout=20) as client:
            while time.monotonic() < until:
                with contextlib.suppress(httpx.HTTPError):
                    await _hear(client)
                    await _ask(client)

    await asyncio.gather(_honest(base, seconds), *(repeat(token) for token in tokens * FILLERS))


@asynccontextmanager
async def _attacked(base: str, name: str, seconds: float) -> AsyncIterator[None]:
    """An attack goes on, by alex-morgan, who has nothing to do with the honest ones."""
    from app.client import demo_token
    from deploy.bench._abuse.attacks import Target, run

    token = await demo_token(base, "alex-morgan")
    spawning = multiprocessing.get_context("spawn")
    ready = spawning.Event()
    attacker = spawning.Process(target=run, args=(name, Target(base, token, 0.0), seconds + UNDER_WAY_S + 0.5, ready))
    attacker.start()
    await asyncio.to_thread(ready.wait, 60)
    await asyncio.sleep(UNDER_WAY_S)
    try:
        yield
    finally:
        await asyncio.to_thread(attacker.join, seconds + 10)
        if attacker.is_alive():
            attacker.kill()


async def _honest(base: str, seconds: float, beside: Callable[[], Any] | None = None) -> AttackTimes:
    """Two customers who mean well, for a while: one types within a call, one asks over HTTP."""
    from app.client import demo_token, line, session

    felt = AttackTimes()
    token = await demo_token(base, "imogen-hartley")
    async with contextlib.AsyncExitStack() as stack:
        headers = {"Authorization": f"Bearer {token}"}
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=base, headers=headers, timeout=10))
        if beside is not None:
            await stack.enter_async_context(beside())
        opened = await stack.enter_async_context(line(base, token, session("en-US"), live=False))
        until = time.monotonic() + seconds
        await asyncio.gather(
            _repeat(until, felt, felt.text, lambda: _ask(client), REQUEST_PAUSE_S),
            _repeat(until, felt, felt.call, _turns(opened), PAUSE_S),
        )
    return felt


async def _repeat(
    until: float, felt: AttackTimes, times: list[float], one: Callable[[], Awaitable[None]], pause_s: float
) -> None:
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            await one()
        except (httpx.HTTPError, OSError, TimeoutError, EOFError):
            felt.failed += 1
        times.append((time.monotonic() - began) * 1000)
        await asyncio.sleep(pause_s)


async def _hear(client: httpx.AsyncClient) -> None:
    kind = {"Content-Type": "audio/wav"}
    (await client.post("/v1/utterances?locale=en-US", content=wav(b""), headers=kind)).raise_for_status()


async def _ask(client: httpx.AsyncClient) -> None:
    (await client.post("/v1/text", json={"text": "what's my balance", "locale": "en-US"})).raise_for_status()


def _turns(opened: Any) -> Callable[[], Awaitable[None]]:
    from app.client import heard_out, typed

    events = opened.events()

    async def turn() -> None:
        await opened.send(typed("what's my balance"))
        async for event in events:
            if event["type"] == "response.done":
                await opened.send(heard_out(event["response"]["id"]))
                return
        raise EOFError("the call is over")

    return turn


async def _settled(base: str, service: int, before: Look, back: Callable[[Look, Look], bool]) -> Look:
    """What is held once every deadline has passed, or as soon as it is no more than before."""
    until = time.monotonic() + SETTLE_S
    while True:
        await _honest(base, 0.5)  # idle threads of a pool end when the next one is asked for
        now = await _look(base, service)
        if back(now, before) or time.monotonic() > until:
            return now
        await asyncio.sleep(1.0)


def _left_open(after: Look, before: Look) -> bool:
    """Whether nothing that was opened or begun is held any more."""
    return all(after[part] <= before[part] for part in ("fds", "tasks"))


def _back(after: Look, before: Look) -> bool:
    """Whether nothing at all is held any more."""
    ended = _left_open(after, before) and after["threads"] <= before["threads"] + LATE_WORKERS
    return ended and after["rss_mb"] <= RSS_RATIO * before["rss_mb"]


async def _look(base: str, service: int) -> Look:
    from deploy.bench.soak import metrics_of, process_of

    async with httpx.AsyncClient(base_url=base, timeout=10) as client:
        told = metrics_of((await client.get("/metrics")).text)
    return process_of(service) | {"tasks": told["tellerline_tasks"]}


def _cpu_s(process: int, *, ended: bool = False) -> float:
    """Processor time that a process has used, or its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    user, system = fields[13:15] if ended else fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _children_cpu_s(process: int) -> float:
    """And that of its children, those that have ended as well."""
    total = _cpu_s(process, ended=True)
    for child in Path(f"/proc/{process}/task/{process}/children").read_text().split():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += _cpu_s(int(child))
    return total


def _serving(base: str) -> int:
    """The child that was told to listen there."""
    told = f"TELLERLINE_PORT={base.rpartition(':')[2]}".encode()
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return next(int(child) for child in children if told in _environment(child))


def _environment(process: str) -> list[bytes]:
    """What a process was started with; one that has just ended has nothing left of it."""
    try:
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return []
