"""Live calls through two pipelines at once: what differs is kept with the recording, and nobody's call hears of it."""

import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from app.auth.principal import Scope
from app.cli import main
from app.composition.keys import audit_keys
from app.qa.replay.playing.shadowed import ShadowedRecording, shadowed_calls
from app.recordings.live import Recordings
from app.retention import erase
from app.shadow import line as shadow_line
from app.shadow.line import ShadowLine
from schemas.ids import EN_US, CallId, CustomerId
from schemas.transcript import Decode
from schemas.turn import ReplyId
from services.audio.files import read_file
from services.ports import TurnHandler
from services.record.audit import ChainedAudit
from services.record.heads import FileHead
from services.store import Store
from services.timing.clock import SystemClock
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app
from tests.harness.other_rules import other_rules
from tests.harness.until import until

AUDIO = Path(__file__).parents[1] / "audio/send_five_hundred.opus"
SPOKEN = "send five hundred dollars"
"""What is said there."""
HEARD = (SPOKEN, "to catherine nguyen", "yes")
SEND = ("send five hundred dollars to catherine nguyen", "yes")
TALK = ("what's my balance", "send forty dollars to catherine nguyen", "make it fifty", "yes", "lock my card")
pytestmark = pytest.mark.timeout(100)


@pytest.fixture(autouse=True)
def its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share the machine with others: what gives way to all of them would never come to its turn."""
    monkeypatch.setattr(shadow_line, "PRIORITY", ())


@asynccontextmanager
async def shadowed_app(folder: Path, **settings: object) -> AsyncIterator[RunningApp]:
    async with running_app(folder / "state", FakeRecognizer(lambda _: ""), recording_days=7, **settings) as app:
        await until(lambda: line(app).other is not None, 60)
        yield app


def line(app: RunningApp) -> ShadowLine:
    assert app.gateway.shadow is not None
    return app.gateway.shadow


async def call(
    app: RunningApp,
    said: Sequence[str],
    name: str,
    *,
    agreed: bool = True,
    then: Callable[[TurnHandler, Recordings], Awaitable[object]] | None = None,
) -> None:
    """A call in which all of `said` is said and every reply heard; the shadow hears the sound of what is SPOKEN."""
    gateway, words = app.gateway, list(said)
    recordings = Recordings(gateway.settings.recordings, SystemClock(), audit_keys(gateway.settings), line(app).call)
    ears = recordings.recognizer(FakeRecognizer(lambda _: words[0]))
    handler = await recordings.opener(gateway.callers.open)(CustomerId("alex-morgan"), CallId(name), EN_US)
    await recordings.consent(CallId(name), agreed)
    for number in range(len(said)):
        samples = read_file(AUDIO.read_bytes()) if words[0] == SPOKEN else np.zeros(1_600, np.float32)
        heard = handler.interpret(await ears.transcribe(samples, EN_US, Decode.FINAL, wordings=handler.wordings))
        words.pop(0)
        if len(samples) == 1_600:  # the fake hears what is said there; the shadow would hear nothing
            recordings._shelf.take(*heard.transcript.decodes)
        reply = ReplyId(f"r{number}")
        async for _ in handler.take(heard.transcript, reply):
            pass
        await handler.delivered(reply)
    if then is not None:
        await then(handler, recordings)
    await handler.close()


def kept(app: RunningApp) -> list[ShadowedRecording]:
    return shadowed_calls(app.gateway.settings.recordings, audit_keys(app.gateway.settings))


def counted(app: RunningApp, name: str) -> str:
    found = [one for one in app.gateway.metrics.exposition().decode().splitlines() if one.startswith(name)]
    return " ".join(found)


async def test_what_differs_is_kept_told_counted_and_erased(tmp_path: Path) -> None:
    async with shadowed_app(tmp_path, shadow_rules=other_rules(tmp_path)) as app:
        await call(app, SEND, "one")
        await call(app, SEND, "unasked", agreed=False)
        await until(lambda: kept(app) and kept(app)[0].record.left)
        (found,) = kept(app)
        (turn,) = found.record.turns
        amounts = [value["amount_minor"] for value in turn.differs["slot amount"]]  # type: ignore[call-overload, index]
        assert (turn.turn, amounts, found.record.left) == (1, [50_000, 55_000], "parted")
        assert turn.money
        assert counted(app, 'tellerline_shadow_differs_total{value="slot amount"}').endswith(" 1.0")
        folder = app.gateway.settings.recordings / "one"
        assert b"amount" not in (folder / "shadow.json.sealed").read_bytes()

        shown = await app.client.get("/v1/recordings/shadow", headers=app.token("ann", Scope.QA))
        assert shown.status_code == 200, shown.text
        assert (shown.json()["compared"], shown.json()["differ"]) == (1, 1)
        assert shown.json()["turns"][0]["differs"]["slot amount"][1]["amount_minor"] == 55_000
        assert (await app.client.get("/v1/recordings/shadow", headers=app.token("ann"))).status_code == 403
        state = {"TELLERLINE_STATE_DIR": str(app.gateway.settings.state_dir)}
        told = CliRunner(env=state).invoke(main, ["replay", "shadowed"])
        assert (told.exit_code, "1 differ in slot amount" in told.output) == (1, True), told.output

        keys, clock, store = audit_keys(app.gateway.settings), SystemClock(), Store(app.gateway.settings.database)
        chain = ChainedAudit(store, keys, FileHead(app.gateway.settings.state_dir / "audit.head"))
        assert await erase(chain, keys, CustomerId("alex-morgan"), folder.parent, clock) == 1
        await store.close()
        assert not list(folder.parent.rglob("*shadow*"))


async def test_the_same_pipeline_makes_the_same_of_every_turn_and_may_die(tmp_path: Path) -> None:
    async with shadowed_app(tmp_path, shadow_asr_model="bundled") as app:

        async def back(_: TurnHandler, recordings: Recordings) -> None:
            await recordings.consent(CallId("taken back"), False)

        async def killed(_: TurnHandler, __: Recordings) -> None:
            os.killpg(line(app).process.pid, signal.SIGKILL)
            await until(lambda: line(app).other is None)

        await call(app, TALK[:2], "taken back", then=back)
        await call(app, TALK, "typed")
        await call(app, HEARD, "spoken")
        await until(lambda: [one.record.compared for one in kept(app)] == [len(HEARD), len(TALK)])
        assert not [turn for one in kept(app) for turn in one.record.turns]
        assert counted(app, 'tellerline_shadow_turns_total{result="differs"}') == ""
        await call(app, TALK[:1], "bereft", then=killed)
        await call(app, TALK, "alone")
        reasons = counted(app, "tellerline_shadow_left_total")
        assert {"consent taken back", "broke off", "not there"} <= set(re.findall('"([^"]+)"', reasons))
        assert {one.call.head.call for one in kept(app) if one.record.compared} == {"typed", "spoken"}
