"""Runs the demonstration: starts the service, plays every call, and judges each by its manifest."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import httpx
from rich.console import Console

from app.client import Event, Line, granted, heard_out, line, session
from app.demo.manifest import FOLDER, DemoUtterance, RecordedCall, manifest
from app.demo.show import SpokenLength, show
from schemas.audio import Samples
from schemas.errors import NotFound
from services.audio.files import read_file

START_S: Final = 120.0
"""Longest wait for the service to be ready."""
ASK_EVERY_S: Final = 0.1
SPEAKING_S: Final = 120.0
"""Longest wait for an event: a voice that has just been loaded, on a busy machine, is slow."""
_PER_MINUTE: Final = tuple(f"TELLERLINE_{what}_PER_MINUTE" for what in ("CALLS", "REQUESTS", "CONNECTIONS"))


SoundOf = Callable[[DemoUtterance], Samples]
"""The sound of what a caller says."""


@contextmanager
def service(*command: str, **settings: str) -> Iterator[str]:
    """A service of our own on a free port with fresh state; yields its base URL.

    `command` is what Python is given to run it; `tellerline serve` where nothing is. A few customers call as a crowd
    would, so that none has a bound of its own unless `settings` (environment variables) say so.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="tellerline-") as state:
        environment = os.environ | {  # noqa: TID251 - handed on to the child
            "TELLERLINE_PORT": str(port),
            "TELLERLINE_STATE_DIR": state,
            "TELLERLINE_LOG_LEVEL": "WARNING",
            "TELLERLINE_ENVIRONMENT": "demo",
            "TELLERLINE_DATABASE_URL": "",
        }
        environment |= dict.fromkeys(_PER_MINUTE, "1000000") | {"TELLERLINE_CALLS_PER_CUSTOMER": "1000"} | settings
        run = [sys.executable, *(command or ("-m", "app.cli", "serve"))]
        process = subprocess.Popen(run, env=environment)  # noqa: S603 - our own interpreter and modules
        try:
            base = f"http://127.0.0.1:{port}"
            _await_ready(base, process)
            yield base
        finally:
            process.terminate()
            process.wait(timeout=40)


def _await_ready(base: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + START_S
    with httpx.Client(timeout=START_S) as client:
        while process.poll() is None and time.monotonic() < until:
            with suppress(httpx.ConnectError):
                if client.get(f"{base}/readyz").is_success:
                    return
            time.sleep(ASK_EVERY_S)
    raise SystemExit("the service did not start")


class _Verdict:
    """What a call came to, against its manifest."""

    def __init__(self, call: RecordedCall) -> None:
        self._call = call
        self._decided: list[Event] = []
        self._read_back: Event | None = None
        self._settled: Event | None = None

    def note(self, event: Event) -> None:
        if event["type"] == "tellerline.readback":
            self._read_back = event
        elif event["type"] == "tellerline.ledger":
            self._settled = event

    def turn(self, decision: Event | None) -> None:
        self._decided.append(decision or {"decision": "nothing", "intent": None})

    def faults(self) -> list[str]:
        found = [
            f"turn {number}: {got['decision']} {got['intent']}, expected {said.expect.decision} {said.expect.intent}"
            for number, (said, got) in enumerate(zip(self._call.turns, self._decided, strict=False), 1)
            if got["decision"] != said.expect.decision or got["intent"] != said.expect.intent
        ]
        if len(self._decided) < len(self._call.turns):
            found.append(f"only {len(self._decided)} of {len(self._call.turns)} turns were answered")
        return found + self._money_faults()

    def _money_faults(self) -> list[str]:
        wanted, read, settled = self._call.booked, self._read_back, self._settled
        if wanted is None:
            return [f"money moved: {settled}"] if settled else []
        if read is None or settled is None:
            return ["the transfer was not booked"]
        got = (settled["state"], read["amount_minor"], read["currency"], read["payee_id"])
        expected = (wanted.state, wanted.amount_minor, wanted.currency, wanted.payee)
        return [] if got == expected else [f"booked {got}, expected {expected}"]


def recorded(said: DemoUtterance) -> Samples:
    """The recording of an utterance."""
    return read_file((FOLDER / said.audio).read_bytes())


async def _answered(opened: Line, said: DemoUtterance, sound_of: SoundOf, console: Console, verdict: _Verdict) -> None:
    """Say one utterance and follow what the service makes of it until its reply is over."""
    opened.say(sound_of(said))
    decision: Event | None = None
    sound = SpokenLength()
    async for event in opened.events(SPEAKING_S):
        show(console, event)
        sound.note(event)
        if event["type"] == "tellerline.decision":
            decision = event
        elif decision is not None:
            verdict.note(event)
        if event["type"] == "response.done":
            if event["response"]["status"] == "cancelled":  # the caller went on: it is taken with what follows
                decision = None
                continue
            sound.show(console)
            await opened.send(heard_out(event["response"]["id"]))
            if decision is None:  # a word on what became of an earlier call's order
                continue
            verdict.turn(decision)
            return


async def play(base: str, call: RecordedCall, token: str, console: Console, sound_of: SoundOf = recorded) -> list[str]:
    """Play one call at a service, as the customer whose token it is; what was not as its manifest says."""
    console.rule(f"{call.title}  ({call.locale})", align="left")
    verdict = _Verdict(call)
    try:
        async with line(base, token, session(call.locale, spoken=True)) as opened:
            for said in call.turns:
                await _answered(opened, said, sound_of, console, verdict)
    except TimeoutError:
        return [*verdict.faults(), "the service fell silent"]
    return verdict.faults()


def _chosen(only: list[str] | None) -> list[RecordedCall]:
    calls = {call.id: call for call in manifest().calls}
    for name in only or ():
        if name not in calls:
            raise NotFound(f"no call {name}: there are {', '.join(calls)}")
    return [calls[name] for name in only or calls]


async def _play(base: str, call: RecordedCall, console: Console) -> list[str]:
    return await play(base, call, await granted(base, call.customer), console)


def run(*, url: str | None = None, only: list[str] | None = None) -> bool:
    """Play every call, or `only` those, at `url` or at a service started for it; whether all ended as they must.

    Raises NotFound.
    """
    console = Console(highlight=False)
    failed = 0
    calls = _chosen(only)

    def play_all(base: str) -> None:
        nonlocal failed
        for call in calls:
            faults = asyncio.run(_play(base, call, console))
            failed += bool(faults)
            for fault in faults:
                console.print(f"  [red]not as expected:[/] {fault}", markup=True)
            if not faults:
                console.print("  [green]as expected[/]")

    if url:
        play_all(url)
    else:
        with service() as base:
            play_all(base)
    console.rule(f"{len(calls) - failed} of {len(calls)} calls ended as their manifest says")
    return not failed
