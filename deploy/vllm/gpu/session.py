"""One session on one H200 that yields every figure the endpoints promise: `python -m deploy.vllm.gpu.session …`.

`--payload DIR --out DIR` starts the servers side by side on the card from their profiles, full-size with random
weights, waits for them, and measures in the order of worth until the budget is spent. Every row is in OUT/session.json
and session.md as soon as it is known, so that a session cut off keeps what it had. `--detach` goes on in the
background; `--collect DIR` waits for such a session, `--within-s` at most, and copies what it has to DIR.

With --extraction URL (and --qna, --plain …) nothing is started and what runs there is measured: the rehearsal.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import sys
import tarfile
import time
from pathlib import Path

from deploy.vllm.gpu.order import chosen, needed
from deploy.vllm.gpu.record import GpuSession
from deploy.vllm.gpu.servers import NAMES, engine, servers
from deploy.vllm.sweep.payload import complete
from deploy.vllm.sweep.servers import Engine

START_S = 600.0
"""Servers that are not up by then are given up: what the slowest needs at a first start beside two others."""
APART_S = 2.0
RESERVE_S = 60.0
LEAST_S = 30.0
LOG_BYTES = 4 * 1024 * 1024
OURS = ("session.log", "session.md", "session.json")


async def steps(session: GpuSession, only: str) -> None:
    """Every step that fits; one step's fault or delay costs only its own rows."""
    from deploy.vllm.gpu.steps import RUN

    for step in chosen(only):
        absent = step.servers and not any(server in session.urls for server in step.servers)
        if absent or (session.left_s < step.needs_s and not session.quick):
            session.skipped.append(step.name)
            continue
        began = time.monotonic()
        try:
            async with asyncio.timeout(600 if session.quick else max(LEAST_S, min(2 * step.needs_s, session.left_s))):
                await RUN[step.name](session)
        except Exception as error:  # noqa: BLE001 - one step's fault must not cost the others' figures
            session.add(f"{step.name} failed", {"error": f"{type(error).__name__}: {error}"[:300]})
        taken = time.monotonic() - began
        session.add("seconds", {"step": step.name, "taken": taken, "left": session.left_s})
        print(f"{step.name}: {taken:.0f} s, {session.left_s:.0f} s left", flush=True)
    session.done = True
    session.save()


def wait_for(engines: dict[str, Engine], until: float) -> dict[str, str]:
    """The URLs of the servers that came up; those that did not are stopped, so that they disturb nothing."""
    began = time.monotonic()
    urls = {}
    for name, server in engines.items():
        patience = min(began + START_S, until - RESERVE_S) - time.monotonic()
        if server.ready(within_s=max(2.0, patience)):
            urls[name] = server.url
        else:
            server.stop()
        taken = time.monotonic() - began
        print(f"{name}: {'ready' if name in urls else 'given up'} after {taken:.0f} s", flush=True)
    return urls


def asked(given: argparse.Namespace) -> list[str]:
    """The servers that are asked for, or that the chosen steps ask."""
    return given.servers.split(",") if given.servers else needed(given.only)


def startable(given: argparse.Namespace) -> bool:
    """Whether all is there for those servers and for our client, before anything starts; told otherwise."""
    payload = Path(given.payload)
    every = servers(payload, given.out)
    return complete(payload, [every[name] for name in asked(given)])


def started(given: argparse.Namespace) -> dict[str, Engine]:
    """The servers, starting side by side."""
    engines = {}
    for name in asked(given):
        engines[name] = engine(name, given)
        time.sleep(APART_S)
    return engines


def detach(arguments: list[str], out: Path) -> int:
    """The same session as a process group of its own."""
    (out / "session.json").unlink(missing_ok=True)
    rest = [argument for argument in arguments if argument != "--detach"]
    command = [sys.executable, "-m", "deploy.vllm.gpu.session", *rest]
    log = (os.POSIX_SPAWN_OPEN, 1, str(out / "session.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    both: list[tuple[object, ...]] = [log, (os.POSIX_SPAWN_DUP2, 1, 2)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=both, setsid=True)  # noqa: TID251 - inherited
    (out / "session.pid").write_text(str(pid), encoding="ascii")
    print(f"session {pid} writes to {out}")
    return 0


def finished(out: Path) -> bool:
    """Whether the detached session has all its rows, be its servers still ending; or is over without them."""
    written = out / "session.json"
    if written.is_file() and json.loads(written.read_text(encoding="utf-8"))["done"]:
        return True
    pid = (out / "session.pid").read_text(encoding="ascii")
    stat = Path("/proc") / pid / "stat"
    return not stat.is_file() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def collect(out: Path, to: Path, within_s: float) -> int:
    """Copy what the session has once it is over or the time is up; 0 when it is over, 3 while it goes on.

    The logs are one archive, so that few files are fetched however many servers there are.
    """
    until = time.monotonic() + within_s
    while time.monotonic() < until and not finished(out):
        time.sleep(1)
    to.mkdir(parents=True, exist_ok=True)
    for name in OURS:
        if (out / name).is_file():
            (to / name).write_bytes((out / name).read_bytes())
    with tarfile.open(to / "logs.tar.gz", "w:gz") as archive:
        for path in sorted(out.glob("*.log")):
            end = path.read_bytes()[-LOG_BYTES:]
            named = tarfile.TarInfo(path.name)
            named.size = len(end)
            archive.addfile(named, io.BytesIO(end))
    for name in OURS[:2]:
        if (out / name).is_file():
            print((out / name).read_text(encoding="utf-8", errors="replace")[-5000:])
    return 0 if finished(out) else 3


def options(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--payload", default="", help="vLLM's packages and the models, see README.md")
    parser.add_argument("--out", type=Path, default=Path("out/gpu"))
    parser.add_argument("--python", default="python3", help="the interpreter that runs vLLM")
    parser.add_argument("--budget-s", type=float, default=1200.0)
    for name in NAMES:
        parser.add_argument(f"--{name}", default="", metavar="URL")
    parser.add_argument("--tokenizer", type=Path, default=None, help="a tokenizer.json, where --payload has none")
    parser.add_argument("--only", default="", help="steps, comma-separated")
    parser.add_argument("--servers", default="", help=f"which to start, of {','.join(NAMES)}; else what the steps ask")
    parser.add_argument("--quick", action="store_true", help="few requests, no skipping: a rehearsal")
    parser.add_argument("--detach", action="store_true", help="go on in the background")
    parser.add_argument("--collect", type=Path, default=None, help="copy a detached session's results here")
    parser.add_argument("--within-s", type=float, default=300.0, help="how long --collect waits")
    given = parser.parse_args(arguments)
    if unknown := set(filter(None, given.servers.split(","))) - set(NAMES):
        parser.error(f"no such server: {', '.join(sorted(unknown))}")
    try:
        chosen(given.only)
    except ValueError as error:
        parser.error(str(error))
    return given


def measure(given: argparse.Namespace, urls: dict[str, str], pids: dict[str, int], until: float) -> None:
    """All steps against what runs at `urls`."""
    tokenizer = given.tokenizer or Path(given.payload) / "models" / "e4b" / "tokenizer.json"
    session = GpuSession(given.out, urls, until, given.quick, tokenizer if tokenizer.is_file() else None, pids)
    asyncio.run(steps(session, given.only))
    print((given.out / "session.md").read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    """Run the session; 1 where no server could be measured."""
    given = options(arguments)
    given.out = given.out.absolute()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.collect:
        return collect(given.out, given.collect, given.within_s)
    urls = {name: url for name in NAMES if (url := getattr(given, name))}
    if not urls and not startable(given):
        return 1
    if given.detach:
        return detach(arguments, given.out)
    until = time.monotonic() + given.budget_s
    engines = {} if urls else started(given)
    try:
        urls |= wait_for(engines, until)
        if not urls:
            print((given.out / f"{next(iter(engines))}.log").read_text(errors="replace")[-4000:])
            return 1
        pids = {name: pid for name, server in engines.items() if name in urls and (pid := server.pid) is not None}
        measure(given, urls, pids, until)
    finally:
        for server in engines.values():
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
