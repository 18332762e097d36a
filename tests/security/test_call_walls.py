"""Non-interference of whole calls: whatever another customer has, says or does, a caller's own call stays the same."""

from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from app.bootstrap import Gateway
from schemas.decision import Execute, SubmitTransfer
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import Decided, ReadBackReady, ReplyDone, ReplyId, TransferMoved
from services.banking.banks import tables as t
from services.call.agent import Agent
from tests.fakes.gemma import Body, FakeGemma, Reply, completion, stream
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.rows import tamper

ANN, BOB = CustomerId("alex-morgan"), CustomerId("imogen-hartley")
STORY = (
    "what's my balance", "work your magic on catherine and fifty dollars", "send fifty dollars to catherine nguyen",
    "yes", "how much is a wire transfer", "what did i spend recently", "who can i pay", "lock my debit card",
)  # fmt: skip


def boldest(body: Body) -> Reply:
    """A model that takes the last choice it is offered."""
    if body.get("stream"):
        return stream("A wire costs 25 dollars. [1]")
    return completion(orjson.dumps(body["response_format"]["json_schema"]["schema"]["enum"][-1]).decode())


async def open_call(bank: Gateway, who: CustomerId, name: str) -> Agent:
    return await bank.callers.open(who, CallId(name), Locale("en-US"))


async def say(turn: Agent, number: int) -> list[Any]:
    """What a line of the story leads to, less identifiers and timings."""
    reply = ReplyId(f"reply-{number}")
    events = [event async for event in turn.take(Transcript.typed(STORY[number], Locale("en-US")), reply)]
    await turn.delivered(reply)
    return [shown(event) for event in events]


def shown(event: Any) -> Any:
    match event:
        case ReadBackReady(proposal):
            return [proposal.order, proposal.verification, proposal.step_up_required]
        case Decided(_, Execute(SubmitTransfer())):
            return "submits what was read back"
        case TransferMoved(receipt):
            return [receipt.state, receipt.reason]
        case ReplyDone(awaits=awaits):
            return awaits
    return event


async def call(folder: Path, *, beside: bool) -> tuple[bytes, bytes]:
    """Ann's call as bytes, and what the model was sent during it; `beside` it Bob changes all he has and calls too."""
    async with FakeGemma(boldest) as server:
        urls = {"extraction_url": server.url, "qna_url": server.url}
        async with running_app(folder, FakeRecognizer(lambda _: ""), **urls) as app:
            bank, told, sent = app.gateway, [], []
            other = None
            if beside:
                await change(bank)
                other = await open_call(bank, BOB, "bob")
            mine = await open_call(bank, ANN, "ann")
            for number in range(len(STORY)):
                if other is not None:
                    await say(other, number)
                before = len(server.requests)
                told.append(await say(mine, number))
                sent.append(list(server.requests)[before:])
    return repr(told).encode(), orjson.dumps(sent)


async def change(bank: Gateway) -> None:
    """Bob's payees get the names of Ann's, his accounts, entries and limits other figures."""
    store = bank.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
    named = {"oliver-hartley": "Catherine Nguyen", "siobhan-murphy": "Cathy", "stephen-clarke": "Katherine Newman"}
    renamed = (
        sa.update(t.payees)
        .where((t.payees.c.customer_id == BOB) & (t.payees.c.id == payee))
        .values(name=name, holder=name, aliases=["Catherine"])
        for payee, name in named.items()
    )
    entries = sa.update(t.entries).where(t.entries.c.account_id == "imogen-current")
    await tamper(
        store,
        *renamed,
        sa.update(t.limits).where(t.limits.c.customer_id == BOB).values(per_day=1),
        sa.update(t.cards).where(t.cards.c.customer_id == BOB).values(name="debit card"),
        entries.values(merchant="Somebody Quite Else"),
    )


async def test_a_call_is_the_same_bytes_whatever_another_customer_does(quick_folder: Path) -> None:
    alone = await call(quick_folder / "alone", beside=False)
    beside = await call(quick_folder / "beside", beside=True)
    assert alone == beside
    assert b"catherine-nguyen" in alone[0]
    assert b"succeeded" in alone[0]
    assert len(alone[1]) > 500, "the model was asked"
    assert b"hartley" not in beside[0] + beside[1]
