"""Instructions in speech, payee names and memos are words like any others: they change no decision and move nothing."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import sqlalchemy as sa

from app.bootstrap import Gateway
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import Decided, ReadBackReady, ReplyEvent, ReplyId, TransferMoved
from services.act import bank_tables as t
from services.turn import Turn
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app

CORPUS: list[dict[str, Any]] = [
    orjson.loads(line) for line in (Path(__file__).parents[1] / "data" / "injection.jsonl").read_bytes().splitlines()
]
CALLERS = {"en-US": CustomerId("alex-morgan"), "ja-JP": CustomerId("takahashi-misaki")}
COMMAND = {"en-US": "send fifty dollars to catherine nguyen", "ja-JP": "佐藤花子に五千円送って"}
BASE = (
    "what's my balance", "send fifty dollars to catherine nguyen", "no cancel that", "what did i spend recently",
    "send ten dollars to john porter", "lock my debit card",
)  # fmt: skip


def of(*where: str) -> list[dict[str, Any]]:
    return [row for row in CORPUS if row["where"] in where]


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with running_app(tmp_path, FakeRecognizer(lambda _seconds: "")) as app:
        yield app.gateway


class Conversation:
    """A call whose every reply is heard out."""

    def __init__(self, turn: Turn, locale: str) -> None:
        self._turn = turn
        self._locale = Locale(locale)
        self._said = 0

    async def say(self, text: str) -> list[ReplyEvent]:
        self._said += 1
        reply = ReplyId(f"reply-{self._said}")
        events = [event async for event in self._turn.take(Transcript.typed(text, self._locale), reply)]
        await self._turn.delivered(reply)
        return events


async def call(bank: Gateway, locale: str, name: str) -> Conversation:
    return Conversation(await bank.callers.open(CALLERS[locale], CallId(name), Locale(locale)), locale)


async def held(bank: Gateway, locale: str) -> tuple[object, ...]:
    """Everything a decision could change: balances, locks, bills."""
    profile = await bank.callers.hands.bank.profile(CALLERS[locale])
    return profile.accounts, profile.cards, profile.bills


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_spoken_instructions_move_nothing(bank: Gateway) -> None:
    before = {locale: await held(bank, locale) for locale in CALLERS}
    for row in of("speech"):
        talk = await call(bank, row["locale"], row["id"])
        events = await talk.say(row["text"])
        assert not [event for event in events if isinstance(event, TransferMoved)], row["id"]
        await talk.say(COMMAND[row["locale"]])
        answered = await talk.say(row["text"])
        assert not [event for event in answered if isinstance(event, TransferMoved)], f"{row['id']} taken for a yes"
        assert await held(bank, row["locale"]) == before[row["locale"]], row["id"]


def decisions(events: list[ReplyEvent]) -> list[object]:
    """What was decided, less what names a proposal."""
    decided = [event.decision for event in events if isinstance(event, Decided)]
    orders = [event.proposal.order for event in events if isinstance(event, ReadBackReady)]
    return [[decision.kind for decision in decided], orders]


async def story(bank: Gateway, name: str) -> list[object]:
    talk = await call(bank, "en-US", name)
    return [decisions(await talk.say(text)) for text in BASE]


async def plant(bank: Gateway, row: dict[str, Any]) -> None:
    """Put the text where the bank's data would carry it."""
    store = bank.callers.hands.bank._store  # type: ignore[attr-defined] # the sandbox
    async with store.write("test.plant") as connection:
        if row["where"] == "payee":
            mine = (t.payees.c.customer_id == "alex-morgan") & (t.payees.c.id == "priya-raman")
            await connection.execute(sa.update(t.payees).where(mine).values(name=row["text"], holder=row["text"]))
        else:
            newest = t.entries.c.account_id == "alex-checking"
            await connection.execute(sa.update(t.entries).where(newest).values(merchant=row["text"]))


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_planted_text_changes_no_decision(bank: Gateway) -> None:
    clean = await story(bank, "clean")
    for row in of("payee", "memo"):
        await plant(bank, row)
        assert await story(bank, row["id"]) == clean, row["id"]
