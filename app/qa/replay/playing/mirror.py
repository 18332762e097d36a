"""The other side of live calls: each open at a bank of its own, taking the turns that its gateway tells of.

What comes in are lines of JSON, each with so many `bytes` behind it (a turn's samples, or what is known of the caller);
what goes out are lines of JSON. Nothing is written anywhere else, and all of a call is forgotten when it is over.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any, Final

import numpy as np
import orjson

from app.qa.rehearsal import Rehearsal
from app.qa.replay.playing.house import recognizer_id
from app.qa.replay.playing.player import ReplayClock
from app.qa.replay.provenance import code_hash
from app.recordings.concluded import concluded
from app.recordings.facts import CallerFacts
from app.recordings.files import RecordedMove, RecordedTurn
from app.settings import read_settings
from rules.load import ruleset_hash
from schemas.errors import TellerlineError
from schemas.ids import CustomerId, Locale, ProposalId
from schemas.transcript import Decode, Source, Transcript
from schemas.turn import ReplyEvent, ReplyId
from services.ports import Recognizer, TurnHandler

MOST_CALLS: Final = 64
"""Open at once."""
TURN_S: Final = 120.0
_SHORT: Final = 12


@dataclass(slots=True)
class MirroredCall:
    """A call that goes on, and what closes it."""

    locale: Locale
    clock: ReplayClock
    handler: TurnHandler
    closing: AsyncExitStack
    proposals: dict[ProposalId, RecordedMove] = field(default_factory=dict)
    replies: set[ReplyId] = field(default_factory=set)


class Mirror:
    """Takes messages in order; a call that fails is left, the others go on."""

    def __init__(self, rehearsal: Rehearsal, recognizer: Recognizer) -> None:
        self._rehearsal = rehearsal
        self._recognizer = recognizer
        self._calls: dict[str, MirroredCall] = {}

    async def take(self, asked: Mapping[str, Any], body: bytes) -> dict[str, Any] | None:
        """What is to be answered, if anything."""
        name = str(asked["call"])
        try:
            async with asyncio.timeout(TURN_S):
                if "open" in asked:
                    return await self._open(name, asked, body)
                if (call := self._calls.get(name)) is not None:
                    return await self._taken(name, call, asked, body)
        except TimeoutError:
            return await self._left(name, "timed_out")
        except TellerlineError as error:
            return await self._left(name, error.code)
        except Exception:  # noqa: BLE001 - a fault in one call is no other's
            return await self._left(name, "internal_fault")
        return None

    async def close(self) -> None:
        """Forget every call."""
        for name in tuple(self._calls):
            await self._left(name, "")

    async def _open(self, name: str, asked: Mapping[str, Any], body: bytes) -> dict[str, Any] | None:
        if len(self._calls) >= MOST_CALLS:
            return {"call": name, "left": "behind"}
        facts = CallerFacts.model_validate_json(body)
        clock, locale = ReplayClock(datetime.fromisoformat(asked["at"])), Locale(asked["open"])
        async with AsyncExitStack() as stack:
            opened = self._rehearsal.opened(CustomerId(facts.customer), locale, clock, (facts,))
            call = await stack.enter_async_context(opened)
            self._calls[name] = MirroredCall(locale, clock, call.handler, stack.pop_all())
        return None

    async def _taken(
        self, name: str, call: MirroredCall, asked: Mapping[str, Any], body: bytes
    ) -> dict[str, Any] | None:
        if "turn" in asked:
            return {"call": name, "turn": asked["turn"], "there": await self._turn(call, asked, body)}
        if "over" in asked:
            await self._left(name, "")
        elif "silence" in asked:
            call.replies.add(ReplyId(asked["silence"]))
            await _all(call.handler.silence(ReplyId(asked["silence"])))
        elif (reply := ReplyId(asked["heard"])) in call.replies:
            await (call.handler.delivered if asked["whole"] else call.handler.interrupted)(reply)
        return None

    async def _turn(self, call: MirroredCall, asked: Mapping[str, Any], body: bytes) -> dict[str, Any]:
        at, reply, handler = datetime.fromisoformat(asked["at"]), ReplyId(asked["reply"]), call.handler
        call.clock.advance(max((at - call.clock.now()).total_seconds(), 0.0))
        if asked["sound"]:
            samples = np.frombuffer(body, np.float32)
            heard = await self._recognizer.transcribe(samples, call.locale, Decode.FINAL, wordings=handler.wordings)
            transcript = handler.interpret(heard).transcript
        else:
            transcript = Transcript.typed(asked["text"], call.locale)
        call.replies.add(reply)
        events = await _all(handler.take(transcript, reply))
        found = concluded(events, call.proposals, withheld=False)
        source = Source.SPEECH if asked["sound"] else transcript.source
        turn = RecordedTurn(turn=asked["turn"], at=at, source=source, text=transcript.text, **found)
        return turn.model_dump(mode="json", exclude_defaults=True)

    async def _left(self, name: str, why: str) -> dict[str, Any]:
        call = self._calls.pop(name, None)
        if call is not None:
            with suppress(Exception):  # what failed may fail again as it ends
                await call.closing.aclose()
        return {"call": name, "left": why}


async def _all(events: Any) -> list[ReplyEvent]:
    return [event async for event in events]


async def mirror(given: IO[bytes], taken: IO[bytes], asr_model: str) -> None:
    """Answer what comes, until nothing more does. An empty `asr_model` is the settings' own."""

    def tell(answer: Mapping[str, Any]) -> None:
        taken.write(orjson.dumps(answer) + b"\n")
        taken.flush()

    settings = read_settings()
    if asr_model:
        settings = settings.model_copy(update={"asr_model": asr_model})
    from services.asr import load

    try:
        recognizer = load(settings.asr_model, workers=1, device=settings.asr_device)
        await recognizer.warm_up()
    except (TellerlineError, ValueError, RuntimeError) as error:
        tell({"fault": f"{settings.asr_model}: {error}"})
        return
    rehearsal = Rehearsal(settings)
    calls = Mirror(rehearsal, recognizer)
    rules, code = ruleset_hash()[:_SHORT], code_hash()[:_SHORT]
    tell({"other": f"{recognizer_id(settings)}, rules {rules}, code {code}"})
    try:
        while line := await asyncio.to_thread(given.readline):
            asked = orjson.loads(line)
            body = await asyncio.to_thread(given.read, asked["bytes"])
            if (answer := await calls.take(asked, body)) is not None:
                tell(answer)
    finally:
        await calls.close()
        await rehearsal.close()
        await recognizer.close()
