"""`--realtime`: the same cases over a running gateway, at the pace of speech, as an app would call.

Turns are judged as in process, but for the one slot that the wire keeps to itself: digits, which may be a code. The
gateway's clock and books are its own, so decisions are not byte-identical with those in process.
"""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter
from websockets.exceptions import WebSocketException

from app.client import Line, granted, heard_out, key, line, session, typed
from app.qa.replay.manifests.manifest import Case, Expectation, Manifest, MoneyMove
from app.qa.replay.playing.collect import LOST_ORDER, NOTHING_HEARD, waterfall
from app.qa.replay.playing.player import sound_record, source_of
from app.qa.replay.provenance import UNKNOWN, endpoint
from app.qa.replay.records.journal import RunHead
from app.qa.replay.records.record import (
    SCORE_DIGITS,
    CandidateRecord,
    PayeeSearchRecord,
    SpanRecord,
    TurnRecord,
    TurnResult,
    TurnTiming,
)
from app.qa.replay.sound.audio import decode
from app.recordings.concluded import MAY_HAVE_MOVED
from rules.bank import usual_customer
from schemas.audio import SAMPLE_RATE
from schemas.errors import DependencyFailed, WrongState
from services.timing import SystemClock

TURN_S: Final = 60.0
"""A turn that takes longer is given up."""
SETTLE_S: Final = 0.3
"""Between a reply's delivery and the caller's next words."""
WITHHELD: Final = frozenset({"digits"})
"""Slots whose values stay off the wire."""
_ENDS: Final = frozenset({"response.done", "tellerline.turn.discarded"})
_SPANS: Final = TypeAdapter(tuple[SpanRecord, ...])


@dataclass(frozen=True, slots=True)
class LiveSpec:
    """A gateway at `url` (http://…). `token` is a caller's; without one the demo's own issuer is asked for it.

    `version` and `ruleset` are the gateway's, where it tells them: never those of the tree that plays.
    """

    url: str
    token: str = ""
    version: str = UNKNOWN
    ruleset: str = UNKNOWN
    begun: str = field(default_factory=lambda: SystemClock().now().isoformat())
    """Of no two runs the same: a caller can't know whether a gateway is still what it was, so none is resumed."""

    def head(self, manifest: Manifest, corpus: str) -> RunHead:
        """What the run was played against, as far as a caller can know."""
        return RunHead(
            manifest=manifest.digest(),
            ruleset=self.ruleset,
            recognizer=UNKNOWN,
            models=UNKNOWN,
            tellerline=self.version,
            mode=f"real time over {endpoint(self.url)}",
            corpus=corpus,
            cases=len(manifest.cases),
            code=UNKNOWN,
            settings={"begun": self.begun},
        )

    def weights(self) -> dict[str, str]:
        """None that a caller knows of."""
        return {}

    def prepare(self) -> None:
        """Nothing is composed here."""

    async def open(self) -> "LivePlayer":
        """A player."""
        return LivePlayer(self)


@dataclass(slots=True)
class _Turn:
    """What the wire said of one turn."""

    heard: str = ""
    update: dict[str, Any] = field(default_factory=dict)
    money: list[MoneyMove] = field(default_factory=list)
    moments: dict[str, float] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)


class LivePlayer:
    """Calls the gateway: one WebSocket a case."""

    def __init__(self, spec: LiveSpec) -> None:
        self._spec = spec

    async def play(self, case: Case, base: Path) -> tuple[TurnResult, ...]:
        """All turns of one call. Raises Unauthenticated, WrongState, DependencyFailed: the gateway does not answer."""
        if case.facts is not None:
            raise WrongState("a case with facts of its own is played in process: a gateway has a bank of its own")
        token = self._spec.token or await granted(self._spec.url, case.customer or usual_customer(case.locale) or "")
        proposals: dict[str, MoneyMove] = {}
        results = []
        try:
            async with line(self._spec.url, token, session(case.locale)) as opened:
                for number in range(1, len(case.turns) + 1):
                    await asyncio.sleep(case.turns[number - 1].after_s + SETTLE_S)
                    played = await _turn(opened, case, number, base, proposals)
                    made = {"ruleset": "" if self._spec.ruleset == UNKNOWN else self._spec.ruleset[:16]}
                    results.append(played.model_copy(update={"record": played.record.model_copy(update=made)}))
        except (OSError, WebSocketException) as error:
            raise DependencyFailed(f"the gateway went away: {type(error).__name__}") from error
        return tuple(results)

    async def close(self) -> None:
        """Nothing is held between calls."""


async def _turn(opened: Line, case: Case, number: int, base: Path, proposals: dict[str, MoneyMove]) -> TurnResult:
    """Say one utterance, follow it to the end of its reply, and report the reply as heard."""
    said = case.turns[number - 1]
    audio_s, begin, decoded = 0.0, time.perf_counter(), None
    if said.audio is not None:
        decoded = await asyncio.to_thread(decode, source_of(said, base))
        audio_s = len(decoded.samples) / SAMPLE_RATE
        opened.say(decoded.samples)
    elif said.dtmf is not None:
        for digit in said.dtmf:
            await opened.send(key(digit))
    else:
        await opened.send(typed(said.text or ""))
    heard = _Turn(heard=said.text or said.dtmf or "")
    if decoded is not None:
        heard.update["sound"] = sound_record(said, decoded)
    async with asyncio.timeout(TURN_S + audio_s):
        async for event in opened.events():
            if _note(event, heard, proposals):
                break
    if event["type"] == "response.done":
        await opened.send(heard_out(event["response"]["id"]))
    return _result(case, number, heard, audio_s, time.perf_counter() - begin)


def _note(event: dict[str, Any], turn: _Turn, proposals: dict[str, MoneyMove]) -> bool:
    """Take an event in; whether it ends the turn."""
    match event["type"]:
        case "conversation.item.input_audio_transcription.completed":
            turn.heard = event["transcript"]
        case "tellerline.spans":
            turn.update["spans"] = _SPANS.validate_python(event["spans"])
        case "tellerline.payees":
            turn.update["payee"] = _payees(event)
        case "tellerline.decision":
            _decision(event, turn.update)
        case "tellerline.readback" | "tellerline.ledger":
            _money(event, turn, proposals)
        case "response.output_text.done" | "response.done":
            _reply(event, turn.update)
        case "tellerline.timings":
            turn.moments, turn.stages = event["moments"], event["stages"]
        case "error":
            turn.update["error"], turn.update["reason"] = event["error"]["code"], event["error"].get("message", "")
        case "tellerline.turn.discarded":
            turn.heard, turn.update["decision"] = "", NOTHING_HEARD
    return event["type"] in _ENDS


def _money(event: dict[str, Any], turn: _Turn, proposals: dict[str, MoneyMove]) -> None:
    if event["type"] == "tellerline.readback":
        move = MoneyMove(
            amount_minor=event["amount_minor"],
            currency=event["currency"],
            payee=event["payee_id"],
            to_account=event["to_account"],
            source=event["source"],
        )
        turn.update["proposal"] = proposals[event["proposal_id"]] = move
    elif event["state"] in MAY_HAVE_MOVED:
        turn.money.append(proposals.get(event["proposal_id"], LOST_ORDER))


def _reply(event: dict[str, Any], update: dict[str, Any]) -> None:
    if event["type"] == "response.done":
        update.setdefault("reply", event["response"]["metadata"].get("template"))
    else:
        update["spoken"] = event["text"]


def _decision(event: dict[str, Any], update: dict[str, Any]) -> None:
    if event["reply"] is not None:
        update["reply"] = event["reply"]
    if "decision" in update:
        if event["decision"] != update["decision"]:
            update["outcome"] = event["decision"]
        return
    kept = ("decision", "intent", "route", "rule", "slots")
    update |= {name: event[name] for name in kept} | {"missing": tuple(event["missing"])}
    update["confidence"] = round(event["confidence"], SCORE_DIGITS)


def _payees(event: dict[str, Any]) -> PayeeSearchRecord:
    candidates = tuple(
        CandidateRecord(id=c["id"], name=c["name"], score=round(c["score"], SCORE_DIGITS)) for c in event["candidates"]
    )
    return PayeeSearchRecord(
        heard=event["heard"], start=0, end=0, candidates=candidates, outcome=event["outcome"], choice=event["choice"]
    )


def _result(case: Case, number: int, heard: _Turn, audio_s: float, took_s: float) -> TurnResult:
    said = case.turns[number - 1]
    record = TurnRecord(
        case=case.id,
        turn=number,
        locale=case.locale,
        tags=case.tags,
        audio=said.audio,
        expect=_judged(said.expect),
        heard=heard.heard,
        money=tuple(heard.money),
    ).model_copy(update=heard.update)
    answered_ms = heard.moments.get("response_sent", (took_s - audio_s) * 1_000)
    timing = TurnTiming(
        case=case.id,
        turn=number,
        audio_s=round(audio_s, 3),
        total_ms=round(answered_ms, 3),
        stages=waterfall((name, ms) for name, ms in heard.stages.items() if name != "total"),
    )
    return TurnResult(record=record, timing=timing)


def _judged(expect: Expectation | None) -> Expectation | None:
    """What should have happened, less what the wire does not say."""
    if expect is None or expect.slots is None:
        return expect
    return expect.model_copy(update={"slots": {k: v for k, v in expect.slots.items() if k not in WITHHELD}})
