"""Plays the callers' dialogues over real WebSockets, typed or aloud."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from app.line import Line, Microphone, demo_token, heard_out, line, session, typed
from deploy.bench._callers.bank import customer_id
from deploy.bench._callers.caller import Caller, Talk
from deploy.bench._callers.data import Dialogues, Task
from deploy.bench._callers.hear import Answer, AnswerKind, Ear
from deploy.bench._callers.outcome import CODE, Outcome

LEAVE: Final = "Never mind."
"""Said after a task that was given up, so that the next begins afresh."""
_MOVED: Final = frozenset({"succeeded", "scheduled", "unknown", "submitted"})


@dataclass(slots=True)
class Call:
    """One call's end: what is said there, and the read-backs made in it."""

    base: str
    customer: str
    opened: Line
    ear: Ear
    orders: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def say(self, text: str) -> Answer:
        """Type a sentence, hear the reply out, and tell what it was."""
        await self.opened.send(typed(await self.code() if text == CODE else text))
        heard = Reply()
        async for event in self.opened.events():
            heard.take(event, self.orders)
            if event["type"] == "response.done":
                await self.opened.send(heard_out(event["response"]["id"]))
                break
        return heard.answer(self.ear, self.orders)

    async def code(self) -> str:
        """The one-time code, looked up."""
        async with httpx.AsyncClient(base_url=self.base) as client:
            answer = await client.get("/demo/code", params={"customer": self.customer})
            return str(answer.raise_for_status().json()["code"])


@dataclass(slots=True)
class Reply:
    """What came back to a sentence."""

    parts: list[str] = field(default_factory=list)
    read_back: dict[str, Any] | None = None
    moved: list[dict[str, Any]] = field(default_factory=list)
    decided: dict[str, Any] = field(default_factory=dict)

    def take(self, event: dict[str, Any], orders: dict[str, dict[str, Any]]) -> None:
        """An event; `orders` are the call's read-backs so far."""
        match event["type"]:
            case "tellerline.decision":
                self.decided = self.decided or event
            case "tellerline.readback":
                self.read_back = orders[event["proposal_id"]] = event
            case "tellerline.ledger" if event["state"] in _MOVED:
                self.moved.append(orders[event["proposal_id"]])
            case "response.output_text.done":
                self.parts.append(event["text"])

    def answer(self, ear: Ear, orders: dict[str, dict[str, Any]]) -> Answer:
        """All of it, as the caller takes it."""
        told = " ".join(self.parts)
        kinds = ear.kinds(told)
        if self.read_back is None and orders and AnswerKind.READ_BACK in kinds:  # said again, without a new event
            self.read_back = next(reversed(orders.values()))
        made = {name: self.decided.get(name) for name in ("intent", "rule")}
        return Answer(told, kinds, self.read_back, tuple(self.moved), route=self.decided.get("route") or "", **made)


@dataclass(frozen=True, slots=True)
class Aloud:
    """How callers speak: in which voice, and where an oracle is told what they say, if one listens."""

    voice: str
    notes: Path | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """A task as it went, and the transcript of its sentences with the answers in words."""

    dialogue: str
    bank: str
    change: bool
    outcome: Outcome
    heard: tuple[tuple[str, Answer], ...]


async def play(
    base: str, dialogues: Dialogues, numbers: Sequence[int], at_once: int, aloud: Aloud | None = None
) -> list[Played]:
    """Every one of these dialogues, and those with a transfer again with a change of mind in it; typed unless aloud."""
    ear, gate = Ear(), asyncio.Semaphore(at_once)

    async def one(number: int, change: bool) -> list[Played]:
        async with gate:
            return await _call(base, dialogues, number, change, ear, aloud)

    changing = [n for n in numbers if any(_changes(task) for task in dialogues.dialogues[n].tasks)]
    calls = [one(n, change=False) for n in numbers] + [one(n, change=True) for n in changing]
    return [played for made in await asyncio.gather(*calls) for played in made]


def _changes(task: Task) -> bool:
    return task.task == "transfer" and not task.changed


async def _call(
    base: str, dialogues: Dialogues, number: int, change: bool, ear: Ear, aloud: Aloud | None
) -> list[Played]:
    dialogue = dialogues.dialogues[number]
    customer = customer_id(number, changes=change)
    made: list[Played] = []
    async with opening(base, customer, ear, aloud) as call:
        for task in dialogue.tasks:
            own = change and _changes(task)
            caller = Caller(task, dialogues, change=own, seed=f"{dialogue.id}/{task.n}/{change}")
            heard = await _pursued(call, caller.talk())
            if own or not change:
                made.append(Played(dialogue.id, dialogue.bank, own, caller.outcome, heard))
            if heard[-1][1].kind is AnswerKind.HANDED_OVER:
                break
            if not caller.outcome.success:
                await call.say(LEAVE)
    return made


@asynccontextmanager
async def opening(base: str, customer: str, ear: Ear, aloud: Aloud | None) -> AsyncIterator[Call]:
    """A call, typed or spoken."""
    token = await demo_token(base, customer)
    if aloud is None:
        async with line(base, token, session("en-US"), live=False) as opened:
            yield Call(base, customer, opened, ear)
    else:
        from deploy.bench._callers.aloud import SpokenCall, Stamps

        stamps = Stamps()
        async with line(base, token, session("en-US"), Microphone(zlib.crc32(customer.encode()), stamps)) as opened:
            yield SpokenCall(base, customer, opened, ear, stamps=stamps, aloud=aloud)


async def _pursued(call: Call, talk: Talk) -> tuple[tuple[str, Answer], ...]:
    """A task's sentences with the answers to them."""
    heard: list[tuple[str, Answer]] = []
    said = next(talk)
    while True:
        answer = await call.say(said)
        heard.append((said, answer))
        try:
            said = talk.send(answer)
        except StopIteration:
            return tuple(heard)
