"""Plays the callers' dialogues over real WebSockets, typed or aloud."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from app.client import Microphone, demo_token, line, session
from deploy.bench._callers.aloud import Aloud, FrameStamps, SpokenCall
from deploy.bench._callers.bank import customer_id
from deploy.bench._callers.call import TypedCall
from deploy.bench._callers.caller import SimulatedCaller, Talk
from deploy.bench._callers.data import CallerTask, Dialogues
from deploy.bench._callers.hear import AnswerKind, ReplyClassifier, ReplyHeard
from deploy.bench._callers.outcome import TaskOutcome

LEAVE: Final = "Never mind."
"""Said after a task that was given up, so that the next begins afresh."""


@dataclass(frozen=True, slots=True)
class PlayedTask:
    """A task as it went, and the transcript of its sentences with the answers in words."""

    dialogue: str
    bank: str
    change: bool
    outcome: TaskOutcome
    heard: tuple[tuple[str, ReplyHeard], ...]


async def play(
    base: str, dialogues: Dialogues, numbers: Sequence[int], at_once: int, aloud: Aloud | None = None
) -> list[PlayedTask]:
    """Every one of these dialogues, and those with a transfer again with a change of mind in it; typed unless aloud."""
    ear, gate = ReplyClassifier(), asyncio.Semaphore(at_once)

    async def one(number: int, change: bool) -> list[PlayedTask]:
        async with gate:
            return await _call(base, dialogues, number, change, ear, aloud)

    changing = [n for n in numbers if any(_changes(task) for task in dialogues.dialogues[n].tasks)]
    calls = [one(n, change=False) for n in numbers] + [one(n, change=True) for n in changing]
    return [played for made in await asyncio.gather(*calls) for played in made]


def _changes(task: CallerTask) -> bool:
    return task.task == "transfer" and not task.changed


async def _call(
    base: str, dialogues: Dialogues, number: int, change: bool, ear: ReplyClassifier, aloud: Aloud | None
) -> list[PlayedTask]:
    dialogue = dialogues.dialogues[number]
    customer = customer_id(number, changes=change)
    made: list[PlayedTask] = []
    async with opening(base, customer, ear, aloud) as call:
        for task in dialogue.tasks:
            own = change and _changes(task)
            caller = SimulatedCaller(task, dialogues, change=own, seed=f"{dialogue.id}/{task.n}/{change}")
            heard = await _pursued(call, caller.talk())
            if own or not change:
                made.append(PlayedTask(dialogue.id, dialogue.bank, own, caller.outcome, heard))
            if heard[-1][1].kind is AnswerKind.HANDED_OVER:
                break
            if not caller.outcome.success:
                await call.say(LEAVE)
    return made


@asynccontextmanager
async def opening(base: str, customer: str, ear: ReplyClassifier, aloud: Aloud | None) -> AsyncIterator[TypedCall]:
    """A call, typed or spoken."""
    token = await demo_token(base, customer)
    if aloud is None:
        async with line(base, token, session("en-US"), live=False) as opened:
            yield TypedCall(base, customer, opened, ear)
    else:
        stamps = FrameStamps()
        async with line(base, token, session("en-US"), Microphone(zlib.crc32(customer.encode()), stamps)) as opened:
            yield SpokenCall(base, customer, opened, ear, stamps=stamps, aloud=aloud)


async def _pursued(call: TypedCall, talk: Talk) -> tuple[tuple[str, ReplyHeard], ...]:
    """A task's sentences with the answers to them."""
    heard: list[tuple[str, ReplyHeard]] = []
    said = next(talk)
    while True:
        answer = await call.say(said)
        heard.append((said, answer))
        try:
            said = talk.send(answer)
        except StopIteration:
            return tuple(heard)
