"""Canaries: marked names, numbers, codes, tokens and words go through real calls, and must be found in no sink.

Sinks: the log at its most talkative, metrics, error events and answers, close reasons, timings, the audit (rows and
exported head), recordings, and the database's bytes but for the sandbox's own tables, which are the bank. What a
caller's own events tell the caller is no sink.
"""

import asyncio
import inspect
import io
import itertools
import logging
import re
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import app.bootstrap
import app.transports.mobile
import services.banking.outbox
import services.banking.transfers
import services.interpretation.interpreter
import services.session.session
from app.auth.principal import Scope
from app.client import typed
from app.logs import OURS, configure, worth_a_line
from app.transports.events.encode import Encoder
from services.answering.quote import QuotingAnswerer
from services.banking.banks import tables as t
from services.banking.banks.sandbox import SandboxBank
from services.banking.ledger import SqlLedger
from services.banking.stepup import SecondFactor
from services.guard.redact import redactor
from services.record.audit import ChainedAudit
from services.response import PhraseBook
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import Caller, clip, line
from tests.harness.rows import tamper
from tests.harness.served import Served, served

ALEX = "alex-morgan"
SPOKEN = "send seventeen hundred thirteen dollars to wilhelmina vantongeren"
TYPED = "orville said my account number is 4929 1234 7777 0001, what did i spend recently"
CANARIES = (
    "zebulon", "quixworth", "wilhelmina", "vantongeren", "xanthippe", "emporium", "orville", "seventeen hundred",
    "4929123477770001", "7777 0001", "171300", "1,713", "1713",
)  # fmt: skip
ALL_OF_THEM = f"Zebulon Quixworth <{SPOKEN}> <{TYPED}> Xanthippe Emporium $1,713 171300 4929123477770001"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a process at DEBUG would have written."""
    written, root = io.StringIO(), logging.getLogger()
    loggers = [logging.getLogger(name) for name in (*OURS, "uvicorn.error")]
    levels, handlers = [each.level for each in (root, *loggers)], list(root.handlers)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", written)
        configure("DEBUG", redactor())
    yield written
    logging.captureWarnings(False)
    loggers[-1].removeFilter(worth_a_line)
    root.handlers[:] = handlers
    for each, level in zip((root, *loggers), levels, strict=True):
        each.setLevel(level)


@pytest.fixture(params=[0, 7], ids=["nothing kept", "words and sound kept"])
async def gateway(request: pytest.FixtureRequest, tmp_path: Path, log: io.StringIO) -> AsyncIterator[Served]:
    kept = {"transcript_days": request.param, "recording_days": request.param}
    async with served(tmp_path, FakeRecognizer(lambda _: SPOKEN), **kept) as running:
        await plant(running)
        yield running


async def plant(running: Served) -> None:
    """Give the customer and what is theirs names of their own."""
    store = running.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
    payee = (t.payees.c.customer_id == ALEX) & (t.payees.c.id == "catherine-nguyen")
    name = "Wilhelmina Vantongeren"
    memo = sa.update(t.entries).where(t.entries.c.account_id == "alex-checking")
    await tamper(
        store,
        sa.update(t.customers).where(t.customers.c.id == ALEX).values(name="Zebulon Quixworth"),
        sa.update(t.payees).where(payee).values(id="p-17", name=name, holder=name, aliases=[]),
        memo.values(merchant="Xanthippe Emporium"),
    )


@dataclass
class Sinks:
    """Everything that was written, said to machines, or refused."""

    secrets: list[str] = field(default_factory=lambda: list(CANARIES))
    texts: dict[str, str] = field(default_factory=dict)

    def add(self, sink: str, text: str) -> None:
        self.texts[sink] = self.texts.get(sink, "") + text + "\n"

    def hear(self, events: list[dict[str, Any]]) -> None:
        told = [event for event in events if event["type"] in {"error", "tellerline.timings"}]
        self.add("events", repr(told))

    async def gather(self, running: Served, log: io.StringIO, state: Path) -> None:
        async with httpx.AsyncClient(base_url=running.http) as client:
            self.add("metrics", (await client.get("/metrics")).text)
        self.add("log", log.getvalue())
        self.add("database", await asyncio.to_thread(rows, state / "tellerline.db"))
        self.add("recordings", await asyncio.to_thread(recorded, state / "recordings"))
        self.add("head", await asyncio.to_thread((state / "audit.head").read_text))

    def leaks(self) -> list[str]:
        """Each canary in each sink. Digits count only on their own: a hash has any."""
        found = []
        for sink, text in self.texts.items():
            for secret in self.secrets:
                around = r"(?<![0-9a-f.]){}(?![0-9a-f])" if secret.isdigit() else "{}"
                if match := re.search(around.format(re.escape(secret)), text.casefold()):
                    found.append(f"{secret} in {sink}: …{text[max(0, match.start() - 60) : match.end() + 20]}…")
        return found


def recorded(folder: Path) -> str:
    """Every name and byte of recorded calls."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return "".join(f"{path.relative_to(folder)}\n{path.read_bytes().decode('latin-1')}\n" for path in files)


def rows(path: Path) -> str:
    """Every row that is not the bank's own; the amount of a transfer is the ledger's to know, by its column."""
    database = sqlite3.connect(path)
    database.row_factory = sqlite3.Row
    names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
    ours = [name for name in names if not name.startswith("bank_")]
    found = [dict(row) for name in ours for row in database.execute(f"select * from {name}")]
    database.close()
    return repr([{key: value for key, value in row.items() if not key.endswith("_minor")} for row in found])


async def heard(call: Caller) -> str:
    """Wait until something was answered; the reply's id where one was given."""
    async with asyncio.timeout(15):
        while True:
            event = await call.next_event()
            if event["type"] == "response.done":
                return str(event["response"]["id"])
            if event["type"] == "error":
                return ""


async def story(running: Served, sinks: Sinks, *, whole: bool) -> None:
    """A call in which everything marked is said; `whole` when it must come to its good end."""
    headers = running.token(ALEX)
    sinks.secrets += headers["Authorization"].removeprefix("Bearer ").casefold().split(".")
    call: Caller | None = None
    try:
        async with connect(f"{running.calls}?name=orville", additional_headers=headers, compression=None) as socket:
            call = Caller(socket)
            agreed = {"type": "session.update", "session": {"tellerline": {"recording": True}}}
            await call.send(agreed)
            await call.next("session.updated")
            await call.say(line(0.3, clip("send_five_hundred"), 1.2))
            await played(call)
            await say(call, "yes")
            code = running.gateway.phone.shown(ALEX) if running.gateway.phone else None  # type: ignore[arg-type] # an id
            sinks.secrets += [code] if code else []
            for key in f"{code or 482913}#":
                await call.send({"type": "tellerline.dtmf", "digit": key})
            await played(call)
            assert not whole or call.of("tellerline.ledger")[-1]["state"] == "succeeded"
            for text in (TYPED, "how much is a wire transfer", "lock my debit card"):
                await say(call, text)
            await call.socket.send('{"type": "orville", "wilhelmina": "quixworth"}')
            await call.send({"type": "session.update", "session": {"orville": 1}})
            await heard(call)
            await heard(call)
            await call.socket.send(b"\xff" * 70_000)
            await heard(call)
    except ConnectionClosed as closed:
        sinks.add("close", repr(closed.rcvd))
    except InvalidStatus as denied:
        sinks.add("denial", repr(denied.response))
        assert not whole
    if call is not None:
        sinks.hear(call.heard)


async def say(call: Caller, text: str) -> None:
    await call.send(typed(text))
    await played(call)


async def played(call: Caller) -> None:
    if reply := await heard(call):
        await call.send({"type": "tellerline.playback", "response_id": reply, "state": "completed"})


async def test_a_call_leaves_no_canary_anywhere(gateway: Served, log: io.StringIO, tmp_path: Path) -> None:
    sinks = Sinks()
    await story(gateway, sinks, whole=True)
    async with asyncio.timeout(10):
        await gateway.gateway.admission.empty.wait()
    await sinks.gather(gateway, log, tmp_path)
    assert len(sinks.secrets) > len(CANARIES) + 3, "no code, or no token"
    assert sinks.leaks() == []
    assert (".sealed" in sinks.texts["recordings"]) is (gateway.gateway.settings.recording_days > 0)
    raw = b"".join(await asyncio.to_thread(lambda: [path.read_bytes() for path in tmp_path.glob("tellerline.db*")]))
    for words in (SPOKEN, "orville", "7777 0001", *sinks.secrets[len(CANARIES) :]):
        assert words.encode() not in raw.lower(), f"{words} in the database's bytes"


REFUSED: tuple[tuple[str, str, dict[str, Any] | None], ...] = (
    ("POST", "/v1/text?wilhelmina=1", {"text": TYPED, "locale": "quixworth"}),
    ("POST", "/v1/text", {"text": 5, "locale": "en-US", "vantongeren": "orville"}),
    ("POST", "/v1/text", {"text": "x", "locale": "en-US", "now": "wilhelmina"}),
    ("POST", "/v1/text", {"text": "x", "locale": "en-US", "payees": [{"id": "x", "name": ["wilhelmina"]}]}),
    ("POST", "/v1/utterances?locale=quixworth", None),
    ("POST", "/v1/utterances?locale=en-US&rate=orville", None),
    ("GET", "/v1/replays/wilhelmina", None),
    ("GET", "/wilhelmina/vantongeren?orville=7777", None),
    ("POST", "/demo/token?customer=quixworth", None),
    ("DELETE", "/v1/text", None),
)


async def test_a_refusal_repeats_nothing(tmp_path: Path, log: io.StringIO) -> None:
    sinks = Sinks()
    async with served(tmp_path, FakeRecognizer(lambda _: SPOKEN)) as running, httpx.AsyncClient() as client:
        people = ({}, running.token(ALEX), running.token("qa", Scope.QA), {"Authorization": "Bearer wilhelmina"})
        for (method, path, body), who in itertools.product(REFUSED, people):
            headers = who | {"X-Orville": "orville", "Content-Type": "application/json" if body else "audio/quixworth"}
            answer = await client.request(method, running.http + path, json=body, headers=headers)
            assert 400 <= answer.status_code < 500
            sinks.add("answer", answer.text)
        sinks.add("metrics", (await client.get(f"{running.http}/metrics")).text)
    sinks.add("log", log.getvalue())
    assert sinks.leaks() == []


STAGES: dict[str, tuple[Any, str]] = {
    "recogniser": (FakeRecognizer, "transcribe"),
    "message": (app.transports.mobile, "parse_client_event"),
    "interpret": (services.interpretation.interpreter, "interpret"),
    "decide": (services.session.session, "decide"),
    "profile": (SandboxBank, "profile"),
    "payees": (SandboxBank, "payees"),
    "verification": (SandboxBank, "verify_payee"),
    "transactions": (SandboxBank, "transactions"),
    "propose": (SqlLedger, "propose"),
    "delivered": (SqlLedger, "delivered"),
    "confirm": (SqlLedger, "confirm"),
    "second factor": (SecondFactor, "begin"),
    "code": (SecondFactor, "verify"),
    "reconciler": (services.banking.transfers, "expire"),
    "outbox": (services.banking.outbox, "claim"),
    "audit": (ChainedAudit, "append"),
    "answer": (QuotingAnswerer, "answer"),
    "speech": (PhraseBook, "say"),
    "wire": (Encoder, "encode"),
}
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: RuntimeError(ALL_OF_THEM),
    lambda: KeyError(ALL_OF_THEM),
    lambda: sa.exc.OperationalError(f"select '{ALL_OF_THEM}'", {"name": ALL_OF_THEM}, ValueError(ALL_OF_THEM)),
    lambda: UnicodeDecodeError("utf-8", ALL_OF_THEM.encode(), 0, 1, ALL_OF_THEM),
)


def failing(original: Any, error: Exception) -> Callable[..., Any]:
    """What fails in the original's place, where it is awaited when that is."""

    def fail(*_: object, **__: object) -> None:
        raise error

    async def fail_later(*_: object, **__: object) -> None:
        raise error

    return fail_later if inspect.iscoroutinefunction(original) else fail


@pytest.mark.timeout(300)
async def test_a_fault_in_any_stage_shows_its_kind_and_no_canary(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    sinks = Sinks()
    for every_s in ("RECONCILE_EVERY_S", "RECORD_EVERY_S"):
        monkeypatch.setattr(app.bootstrap, every_s, 0.2)
    async with served(tmp_path, FakeRecognizer(lambda _: SPOKEN)) as running:
        await plant(running)
        for number, (owner, name) in enumerate(STAGES.values()):
            error = ERRORS[number % len(ERRORS)]()
            with monkeypatch.context() as patched:
                patched.setattr(owner, name, failing(getattr(owner, name), error))
                await story(running, sinks, whole=False)
                async with asyncio.timeout(10):
                    await running.gateway.admission.empty.wait()
        await sinks.gather(running, log, tmp_path)
        assert sinks.leaks() == []
        assert "background work failed" in log.getvalue()
        await story(running, sinks, whole=False)
    for kind in ("RuntimeError", "KeyError", "OperationalError", "UnicodeDecodeError"):
        assert kind in log.getvalue()
