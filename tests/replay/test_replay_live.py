"""`--realtime`: cases over a real socket, to the real dialogue and ledger; only the ear is a fake."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from fastapi import FastAPI, WebSocket

from app.qa.rehearsal import Rehearsal
from app.qa.replay.judging.judge import judge
from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import MoneyMove
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.live import LiveSpec
from app.qa.replay.playing.run import replay
from app.qa.replay.records.record import TurnResult
from app.settings import Settings
from app.transports.live.deps import CallDeps
from app.transports.live.lease import Admitted
from app.transports.mobile import router
from schemas.ids import CallId, CustomerId, Locale
from services.guard.admission import Admission
from services.guard.shares import Allowance, Shares
from services.observability.metrics import Metrics
from services.ports import TurnHandler
from services.timing.clock import ManualClock, SystemClock
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import vad
from tests.harness.listening import listening

AUDIO = Path(__file__).parent.parent / "audio"
NOW = datetime(2026, 1, 15, 17, 0, tzinfo=UTC)


@asynccontextmanager
async def gateway(hears: str) -> AsyncIterator[str]:
    """The calls' route with rehearsed calls behind it; yields its base URL."""
    rehearsal, metrics = Rehearsal(Settings()), Metrics()
    async with AsyncExitStack() as calls:

        async def customer(websocket: WebSocket) -> Admitted:
            return Admitted(CustomerId(websocket.headers["authorization"].removeprefix("Bearer ")))

        async def verify(token: str) -> Admitted:
            return Admitted(CustomerId(token))

        async def handler(who: CustomerId, _call: CallId, locale: Locale) -> TurnHandler:
            return await calls.enter_async_context(rehearsal.call(who, locale, ManualClock(NOW)))

        recognizer = FakeRecognizer(lambda _seconds: hears)
        app = FastAPI()
        deps = CallDeps(
            Admission(4, metrics),
            Shares(Allowance(), time.monotonic),
            customer,
            handler,
            recognizer,
            vad(),
            SystemClock(),
            metrics,
            verify,
            lambda _call, _agreed: None,
        )
        app.include_router(router(deps))
        async with listening(app) as port:
            yield f"http://127.0.0.1:{port}"
    await rehearsal.close()


async def played(folder: Path, turns: list[dict[str, object]], hears: str = "") -> list[TurnResult]:
    line = {"id": "a", "locale": "en-US", "customer": "alex-morgan", "turns": turns}
    (folder / "m.jsonl").write_text(json.dumps(line))
    async with gateway(hears) as url:
        spec = LiveSpec(url, "alex-morgan")
        return list(await asyncio.to_thread(replay, readers.load(folder / "m.jsonl"), spec, folder / "out"))


async def test_a_transfer_over_the_wire(tmp_path: Path) -> None:
    fifty = MoneyMove(amount_minor=5000, currency="USD", payee="catherine-nguyen", source="alex-checking")
    slots = {"payee": "catherine-nguyen", "amount": {"amount_minor": 5000, "currency": "USD"}, "digits": "withheld"}
    expect = {"decision": "confirm", "slots": slots, "reply": "confirm.transfer"}
    typed = [{"text": "send fifty dollars to Catherine Nguyen", "expect": expect}, {"text": "yes"}, {"text": "yes"}]
    asked, booked, again = (result.record for result in await played(tmp_path, typed))
    assert (asked.intent, asked.decision, asked.route, asked.proposal) == ("transfer_money", "confirm", "fast", fifty)
    assert [span.kind for span in asked.spans] == ["money"]
    assert judge(asked).right, asked
    assert set(judge(asked).slots) == {"payee", "amount"}, "digits stay off the wire"
    assert booked.money == (fifty,)
    assert again.money == ()


async def test_the_wire_is_judged_as_the_process_is(tmp_path: Path) -> None:
    said = [
        "send fifty dollars to Catherine Nguyen",
        "yes",
        "what's my balance",
        "move a hundred dollars from checking to savings",
        "yes",
        "lock my card",
        "what did I spend at Trader Joe's last month",
        "blue green sideways",
    ]
    turns: list[dict[str, object]] = [{"text": words} for words in said]
    heard = [result.record for result in await played(tmp_path, turns)]
    line = {"id": "a", "locale": "en-US", "customer": "alex-morgan", "turns": turns, "now": NOW.isoformat()}
    (tmp_path / "same.jsonl").write_text(json.dumps(line))
    manifest = readers.load(tmp_path / "same.jsonl")
    spec = PipelineSpec.of(Settings(), manifest)
    inside = [r.record for r in await asyncio.to_thread(replay, manifest, spec, tmp_path / "inside")]
    judged = ("intent", "slots", "missing", "route", "decision", "outcome", "proposal", "money", "reply")
    for wire, process in zip(heard, inside, strict=True):
        assert {n: getattr(wire, n) for n in judged} == {n: getattr(process, n) for n in judged}


async def test_speech_over_the_wire(tmp_path: Path) -> None:
    clip = AUDIO / "balance.opus"
    (tmp_path / "said.opus").write_bytes(clip.read_bytes())
    (result,) = await played(tmp_path, [{"audio": "said.opus"}], hears="what's my balance")
    assert (result.record.heard, result.record.intent) == ("what's my balance", "balance_inquiry")
    assert result.timing.audio_s > 0
    assert result.timing.total_ms > 0


async def test_no_gateway_is_an_error_on_record(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(json.dumps({"id": "a", "locale": "en-US", "text": "hi"}))
    manifest = readers.load(tmp_path / "m.jsonl")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        (result,) = await asyncio.to_thread(replay, manifest, LiveSpec(url), tmp_path / "out")
    assert result.record.error == "dependency_failed"
