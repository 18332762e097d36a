"""The cases of Autobahn's fuzzing client, by number, over our own stack; its client itself runs on Python 2 alone."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.gate import doorman
from tests.harness.echo import Raw, echo, frame, raw

CASES: list[dict[str, Any]] = [
    {"case": number, "close": 1000, "send": case.get("echo"), "expect": case.get("echo", ())} | case
    for number, case in yaml.load(
        (Path(__file__).parents[1] / "data" / "autobahn.yaml").read_text(), yaml.CSafeLoader
    ).items()
]
OPCODES = {"cont": 0, "text": 1, "binary": 2, "close": 8, "ping": 9, "pong": 10}
CHAPTERS = sorted({case["case"].partition(".")[0] for case in CASES}, key=int)
AT_ONCE = 8
THOUSANDS = "9"
"""Autobahn's own measurements: of each kind the smallest and the largest here, all of them in long runs."""
GOODBYE = frame(8, b"\x03\xe8")


def payload(given: dict[str, Any]) -> bytes:
    if "hex" in given:
        return bytes.fromhex(given["hex"])
    return str(given.get("text", "")).encode() or b"*" * given.get("size", 0)


def opcode(given: dict[str, Any]) -> int:
    return OPCODES.get(given["op"], given["op"])


def frames(given: list[dict[str, Any]]) -> list[bytes]:
    sent = []
    for one in given:
        whole = frame(opcode(one), payload(one), fin=one.get("fin", True), reserved=one.get("rsv", 0))
        sent += [whole[:14] if one.get("head") else whole] * one.get("times", 1)
    return sent


async def send(client: Raw, case: dict[str, Any]) -> None:
    sent = frames(case["send"])
    if chop := case.get("chop"):
        whole = b"".join(sent)
        sent = [whole[at : at + chop] for at in range(0, len(whole), chop)]
    with contextlib.suppress(ConnectionError):
        for piece in sent:
            await client.send(piece)


async def play(port: int, case: dict[str, Any]) -> str:
    """What differs from what the case expects; empty where nothing does."""
    wanted = [(opcode(one), payload(one)) for one in case["expect"] for _ in range(one.get("times", 1))]
    closes = case["close"] if isinstance(case["close"], list) else [case["close"]]
    async with raw(port) as client:
        await client.shake()
        says_goodbye = case["close"] == 1000 and not any(one["op"] == "close" for one in case["send"])
        sending = asyncio.create_task(send(client, case))
        if not wanted and says_goodbye:
            await sending
            await client.send(GOODBYE)
        got: list[tuple[int, bytes]] = []
        while (one := await client.frame()) is not None:
            got.append(one)
            if len(got) == len(wanted) and says_goodbye:
                await client.send(GOODBYE)
            if one[0] == OPCODES["close"]:
                break
        await client.over(within_s=5)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    code = None
    if got and got[-1][0] == OPCODES["close"]:
        code = int.from_bytes(got[-1][1][:2], "big") if got[-1][1] else 1005
        got.pop()
    if code not in closes:
        return f"{case['case']}: closed with {code}, not {closes}"
    if got == wanted or (not case.get("strict", True) and got == wanted[: len(got)]):
        return ""
    return f"{case['case']}: {len(got)} frames, not the {len(wanted)} that were to come"


@pytest.mark.parametrize(
    ("chapter", "whole"),
    [*((chapter, chapter != THOUSANDS) for chapter in CHAPTERS), pytest.param(THOUSANDS, True, marks=pytest.mark.slow)],
)
async def test_cases_of_a_chapter(chapter: str, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "PARSING_S", 1.0)  # what it holds up is judged by the floods; here it only waits
    monkeypatch.setattr("app.gate.lobby.SURPLUS_S", 1.0)
    cases = [case for case in CASES if case["case"].partition(".")[0] == chapter]
    cases = cases if whole else [case for case in cases if case["case"].rpartition(".")[2] in {"1", "6"}]
    turns = asyncio.Semaphore(AT_ONCE)
    async with echo() as port:

        async def one(case: dict[str, Any]) -> str:
            async with turns:
                return await play(port, case)

        wrong = [said for said in await asyncio.gather(*(one(case) for case in cases)) if said]
    assert wrong == []


async def test_compression_is_never_agreed_to() -> None:
    async with echo() as port, raw(port) as client:
        offer = "permessage-deflate; client_max_window_bits; server_no_context_takeover, permessage-deflate"
        head = await client.shake(f"Sec-WebSocket-Extensions: {offer}\r\n")
        assert head.split()[1] == b"101"
        assert b"extensions" not in head.lower()
        await client.send(frame(1, b"*" * 16_384))
        assert await client.frame() == (1, b"*" * 16_384)
