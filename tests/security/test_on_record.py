"""What decided is on record: rule and rules' version, model and prompt, spans and scores; and nothing that was said."""

from pathlib import Path

import orjson
import sqlalchemy as sa

from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import Decided, Normalized, ReplyId
from services.record import tables as t
from services.store import Store
from tests.fakes.gemma import Body, FakeGemma, Reply, completion
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.rows import rows

EN = Locale("en-US")


def boldest(body: Body) -> Reply:
    """A model that takes the last choice it is offered."""
    return completion(orjson.dumps(body["response_format"]["json_schema"]["schema"]["enum"][-1]).decode())


async def test_a_turn_says_by_what_it_was_decided(quick_folder: Path) -> None:
    async with (
        FakeGemma(boldest) as server,
        running_app(quick_folder, FakeRecognizer(lambda _: ""), extraction_url=server.url) as app,
    ):
        for text in ("send fifty dollars to catherine nguyen", "work your magic on catherine and fifty dollars"):
            call = await app.gateway.callers.open(CustomerId("alex-morgan"), CallId(text[:4]), EN)
            async for _ in call.take(Transcript.typed(text, EN), ReplyId(text[:4])):
                pass
        store = app.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
        turns = sa.select(t.records.c.facts).where(t.records.c.event == "turn").order_by(t.records.c.seq)
        stored = [row.facts for row in await rows(store, turns)]
    plain, extracted = (orjson.loads(facts) for facts in stored)
    assert plain["rule"].startswith("intents.en.transfer_money")
    assert plain["models"] == []
    assert {span["kind"] for span in plain["spans"]} == {"money"}
    assert plain["payees"][0]["score"] > 0.5
    assert len(plain["rules"]) >= 12
    (model,) = extracted["models"]
    assert (model["purpose"], model["model"], model["outcome"]) == ("extract", "google/gemma-4-E4B-it", "ok")
    assert "@" in model["prompt"]
    assert not [word for word in ("fifty", "magic", "dollars", "Catherine") if word in "".join(stored)]


async def test_a_turn_that_is_cut_is_on_record_as_far_as_it_came(quick_folder: Path) -> None:
    async with running_app(quick_folder, FakeRecognizer(lambda _: "")) as app:
        call = await app.gateway.callers.open(CustomerId("alex-morgan"), CallId("c"), EN)
        for text, seen in (("what's my balance", Decided), ("send fifty dollars to catherine nguyen", Normalized)):
            told = call.take(Transcript.typed(text, EN), ReplyId(text))
            async for event in told:
                if isinstance(event, seen):
                    break
            await told.aclose()  # type: ignore[attr-defined] # a generator, as every turn's
        store = app.gateway.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
        turns = sa.select(t.records.c.facts).where(t.records.c.event == "turn").order_by(t.records.c.seq)
        decided, seen_only = (orjson.loads(row.facts) for row in await rows(store, turns))
    assert (decided["outcome"], decided["finished"]) == ("execute", False)
    assert (seen_only["outcome"], seen_only["finished"]) == ("none", False)
    assert seen_only["intent"] == "transfer_money"


async def test_what_became_of_a_transfer_is_on_record_when_the_gateway_has_ended(quick_folder: Path) -> None:
    async with running_app(quick_folder, FakeRecognizer(lambda _: "")) as app:
        call = await app.gateway.callers.open(CustomerId("alex-morgan"), CallId("c"), EN)
        for reply, text in enumerate(("send fifty dollars to catherine nguyen", "yes")):
            async for _ in call.take(Transcript.typed(text, EN), ReplyId(str(reply))):
                pass
            await call.delivered(ReplyId(str(reply)))
    store = Store(f"sqlite:///{quick_folder / 'tellerline.db'}")
    moved = sa.select(t.records.c.event, t.records.c.facts).where(t.records.c.event.like("transfer.%"))
    [record] = await rows(store, moved)
    await store.close()
    assert (record.event, orjson.loads(record.facts)["recovered"]) == ("transfer.succeeded", False)
