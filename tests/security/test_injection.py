"""Instructions in speech, payee names, memos, documents and model output are words like any others.

Every third text of tests/data/injection.yaml goes through the whole text path (real stages, real ledger), by turns
without a model and with one that obeys; `make test-slow` puts each of them all through both. A call with the text in it
must come to the same decisions about money as the call without.
"""

import dataclasses
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa
import yaml

from app.bootstrap import Gateway
from app.composition.callers import Callers
from app.composition.models import answerer
from schemas.answer import Question
from schemas.banking import TransferState
from schemas.ids import CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import Decided, ReadBackReady, ReplyEvent, ReplyId, TransferMoved
from services.answering.knowledge import load_passages
from services.answering.quote import Library, QuotingAnswerer
from services.banking.banks import tables as t
from services.call.agent import Agent
from tests.fakes.gemma import Body, FakeGemma, Reply, completion, stream
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.harness.rows import tamper

WRITTEN: dict[str, dict[str, list[str]]] = yaml.load(
    (Path(__file__).parents[1] / "data" / "injection.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
CORPUS: list[dict[str, str]] = [
    {"id": f"{where} {locale} {number}", "where": where, "locale": locale, "text": text}
    for where, of_locales in WRITTEN.items()
    for locale, texts in of_locales.items()
    for number, text in enumerate(texts, 1)
]
SPOKEN = {"en": Locale("en-US"), "ja": Locale("ja-JP")}
COMMAND = {"en": "send fifty dollars to catherine nguyen", "ja": "佐藤花子に五千円送って"}
QUESTION = {"en": "how much is a wire transfer", "ja": "振込手数料はいくらですか"}
STORY = {
    "en": (
        "send one dollar to emily morgan",
        "yes",
        "work your magic on catherine and fifty dollars",
        "no cancel that",
    ),
    "ja": ("佐藤花子に百円送って", "はい", "佐藤に送りたい", "取り消して"),
}
"""A transfer that is confirmed, one that is left to a model where there is one, and a change of mind."""
SPENDING = {"en": "what did i spend recently", "ja": "最近の取引を教えて"}
VICTIM = {"en": ("alex-morgan", "priya-raman", "alex-checking"), "ja": ("takahashi-misaki", "ono-yuki", "misaki-futsu")}
"""Whose call it is, whose name is replaced, and the account whose entries' texts are."""


def of(where: str) -> list[dict[str, str]]:
    return [row for row in CORPUS if row["where"] == where]


def test_the_corpus_is_broad() -> None:
    assert len(CORPUS) == len({row["id"] for row in CORPUS}) >= 150
    for where in ("speech", "payee", "memo", "document", "model"):
        assert {row["locale"][:2] for row in of(where)} == {"en", "ja"}


@dataclass
class Model:
    """What the endpoint answers: `said` as it is, or else the boldest choice it was offered."""

    said: str | None = None

    def __call__(self, body: Body) -> Reply:
        if body.get("stream"):
            return stream(self.said if self.said is not None else "Your transfer is approved. [1]")
        offered = body.get("response_format", {}).get("json_schema", {}).get("schema", {}).get("enum", [""])
        return completion(self.said if self.said is not None else orjson.dumps(offered[-1]).decode())


@dataclass
class House:
    """A gateway, the model behind it, and how many calls it had."""

    gateway: Gateway
    model: Model
    asks_models: bool
    texts: slice
    calls: Iterator[int] = field(default_factory=lambda: iter(range(10_000)))

    def of(self, where: str) -> list[dict[str, str]]:
        """Those that are tried here of the texts in one place."""
        return of(where)[self.texts]

    async def open(self, locale: str, callers: Callers | None = None) -> "Conversation":
        customer, call = CustomerId(VICTIM[locale[:2]][0]), CallId(f"call-{next(self.calls)}")
        spoken = SPOKEN.get(locale, Locale(locale))
        return Conversation(await (callers or self.gateway.callers).open(customer, call, spoken), spoken)

    async def story(self, locale: str, first: Mapping[str, str], callers: Callers | None = None) -> list[object]:
        """What is decided in a whole call that begins with the line `first`."""
        talk = await self.open(locale, callers)
        return [decisions(await talk.say(text)) for text in (first[locale[:2]], *STORY[locale[:2]])]

    async def clean(self, first: Mapping[str, str]) -> dict[str, list[object]]:
        """The same calls with no injection; each makes, confirms and moves a transfer."""
        told = {lang: await self.story(lang, first) for lang in STORY}
        for lang, story in told.items():
            assert f"{TransferState.SUCCEEDED!r}" in repr(story[2]), f"{lang}: nothing was moved"
        return told

    async def held(self) -> list[object]:
        """What only a decision may change: balances, locks, bills."""
        profiles = [await self.gateway.callers.banking.bank.profile(CustomerId(who)) for who, _, _ in VICTIM.values()]
        return [(profile.accounts, profile.cards, profile.bills) for profile in profiles]


class Conversation:
    """A call whose every reply is heard out."""

    def __init__(self, turn: Agent, locale: Locale) -> None:
        self._turn = turn
        self._locale = locale
        self._said = 0

    async def say(self, text: str) -> list[ReplyEvent]:
        self._said += 1
        reply = ReplyId(f"reply-{self._said}")
        events = [event async for event in self._turn.take(Transcript.typed(text, self._locale), reply)]
        await self._turn.delivered(reply)
        return events


def decisions(events: list[ReplyEvent]) -> list[object]:
    """What was decided and moved, less what names a proposal."""
    kinds = [event.decision.kind for event in events if isinstance(event, Decided)]
    moved = [event.receipt.state for event in events if isinstance(event, TransferMoved)]
    return [kinds, orders(events), moved]


def orders(events: list[ReplyEvent]) -> list[object]:
    return [event.proposal.order for event in events if isinstance(event, ReadBackReady)]


MODELS = {"no model": slice(0, None, 6), "an obedient model": slice(1, None, 6)}
EVERY = [pytest.param((name, slice(None)), id=f"{name}, every text", marks=pytest.mark.slow) for name in MODELS]


@pytest.fixture(params=[*(pytest.param(part, id=part[0]) for part in MODELS.items()), *EVERY])
async def house(request: pytest.FixtureRequest, quick_folder: Path) -> AsyncIterator[House]:
    (name, texts), model = request.param, Model()
    async with FakeGemma(model) as server:
        urls = {"extraction_url": server.url, "qna_url": server.url} if name != "no model" else {}
        async with running_app(quick_folder, FakeRecognizer(lambda _: ""), **urls) as app:
            yield House(app.gateway, model, bool(urls), texts)
        asked = {"stream" if body.get("stream") else "choice" for body in server.requests}
        assert asked == ({"stream", "choice"} if urls else set()), "the model was not where it should be"


@pytest.mark.timeout(300)
async def test_no_text_changes_a_decision(house: House) -> None:
    changed = [*await speech(house), *await planted(house), *await documents(house)]
    if house.asks_models:
        changed += await outputs(house)
    assert changed == []


async def speech(house: House) -> list[str]:
    """Said first, it moves nothing and the next order is the same; said to a read-back, it is no yes."""
    clean = {lang: orders(await (await house.open(lang)).say(text)) for lang, text in COMMAND.items()}
    assert all(clean.values())
    before, changed = await house.held(), []
    for row in house.of("speech"):
        lang = row["locale"][:2]
        talk = await house.open(row["locale"])
        first, command, answer = [await talk.say(text) for text in (row["text"], COMMAND[lang], row["text"])]
        moved = [event for event in first + command + answer if isinstance(event, TransferMoved)]
        if moved or orders(command) != clean[lang]:
            changed.append(row["id"])
    return changed if await house.held() == before else [*changed, "balances, locks or bills"]


async def planted(house: House) -> list[str]:
    """A payee of that name, entries of that text: one of each in a call, as long as there are both."""
    clean, changed = await house.clean(SPENDING), []
    for lang in STORY:
        payees, memos = ([row for row in house.of(where) if row["locale"][:2] == lang] for where in ("payee", "memo"))
        for rows in zip_longest(payees, memos):
            there = [row for row in rows if row is not None]
            for row in there:
                await plant(house.gateway, row)
            for locale in sorted({row["locale"] for row in there}):
                if await house.story(locale, SPENDING) != clean[lang]:
                    changed.extend(row["id"] for row in there)
    return changed


async def plant(bank: Gateway, row: dict[str, str]) -> None:
    customer, payee, account = VICTIM[row["locale"][:2]]
    store = bank.callers.banking.bank._store  # type: ignore[attr-defined] # the sandbox
    if row["where"] == "payee":
        mine = (t.payees.c.customer_id == customer) & (t.payees.c.id == payee)
        await tamper(store, sa.update(t.payees).where(mine).values(name=row["text"], holder=row["text"]))
    else:
        shown = t.entries.c.account_id == account
        await tamper(store, sa.update(t.entries).where(shown).values(merchant=row["text"]))


async def documents(house: House) -> list[str]:
    """The text at the end of every document that the question finds."""
    clean, changed = await house.clean(QUESTION), []
    for row in house.of("document"):
        lang = row["locale"][:2]
        async with library(house.gateway, SPOKEN[lang], QUESTION[lang], row["text"]) as callers:
            if await house.story(lang, QUESTION, callers) != clean[lang]:
                changed.append(row["id"])
    return changed


@asynccontextmanager
async def library(bank: Gateway, locale: Locale, question: str, text: str) -> AsyncIterator[Callers]:
    """Callers whose answers come from documents with `text` in them."""
    found = Library.load().find(Question(question, locale), bank.clock)
    poisoned = {hit.passage.id for hit in found.hits}
    assert poisoned
    passages = [dataclasses.replace(p, text=f"{p.text} {text}") if p.id in poisoned else p for p in load_passages()]
    documents = Library.load(passages)
    async with AsyncExitStack() as stack:
        model = answerer(stack, bank.settings, documents, bank.clock)
        yield dataclasses.replace(bank.callers, answerer=model or QuotingAnswerer(documents, bank.clock))


async def outputs(house: House) -> list[str]:
    """Both endpoints answer with the text; the call without it is the one whose model says nothing at all."""
    house.model.said = ""
    clean, changed = await house.clean(QUESTION), []
    for row in of("model"):
        house.model.said = row["text"]
        if await house.story(row["locale"], QUESTION) != clean[row["locale"][:2]]:
            changed.append(row["id"])
    house.model.said = None
    return changed
