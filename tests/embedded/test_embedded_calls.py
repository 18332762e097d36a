"""Whole calls with a small real model behind both endpoints: whatever it answers, only what was said is read back."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.extraction import Fallback
from schemas.ids import EN_US, JA_JP, CallId, CustomerId, Locale
from schemas.transcript import Transcript
from schemas.turn import ReadBackReady, ReplyDone, ReplyEvent, ReplyId, ReplyText
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import RunningApp, running_app

pytestmark = pytest.mark.timeout(1800)
SAID = Path(__file__).parents[1] / "data/embedded/utterances.yaml"
CALLERS = {EN_US: CustomerId("alex-morgan"), JA_JP: CustomerId("takahashi-misaki")}
UTTERANCES = [
    (locale, row) for locale in CALLERS for row in yaml.load(SAID.read_text(encoding="utf-8"), yaml.CSafeLoader)[locale]
]
QUESTIONS = (
    ("What is the overdraft fee?", EN_US),
    ("What interest does the savings account pay?", EN_US),
    ("海外送金の手数料はいくらですか", JA_JP),
)
CALLS = count(1)
HONEST = {"answer.not_found", "answer.no_documents"}


@pytest.fixture
async def app(embedded: str, tmp_path: Path) -> AsyncIterator[RunningApp]:
    model = {"extraction_url": embedded, "qna_url": embedded, "extraction_deadline_s": 30.0}
    async with running_app(tmp_path, FakeRecognizer(lambda _seconds: ""), **model) as running:
        yield running


async def say(app: RunningApp, text: str, locale: Locale) -> list[ReplyEvent]:
    """The first words of a call of its own."""
    agent = await app.gateway.callers.open(CALLERS[locale], CallId(f"call-{next(CALLS)}"), locale)
    return [event async for event in agent.take(Transcript.typed(text, locale), ReplyId("reply-1"))]


def answered(events: list[ReplyEvent]) -> bool:
    """Whether the extraction model answered in time."""
    done = next(event for event in events if isinstance(event, ReplyDone))
    return any(use.purpose == "extract" and use.outcome in set(Fallback) for use in done.models)


def only_what_was_said(row: dict[str, Any], events: list[ReplyEvent]) -> None:
    orders = [event.proposal.order for event in events if isinstance(event, ReadBackReady)]
    for order in orders:
        assert order.amount.minor in row.get("amounts", ()), row["said"]
        assert order.payee_id in row.get("payees", ()), row["said"]
    assert any(isinstance(event, ReplyText) for event in events), f"{row['said']}: the caller is answered"


async def test_nothing_is_read_back_that_was_not_said(app: RunningApp) -> None:
    asked = 0
    for locale, row in UTTERANCES:
        events = await say(app, row["said"], locale)
        only_what_was_said(row, events)
        asked += answered(events)
    assert asked >= len(UTTERANCES) * 2 // 3, "the words are for a model"


async def test_an_answer_quotes_the_documents_or_is_the_honest_sentence(app: RunningApp) -> None:
    for text, locale in QUESTIONS:
        told = [event for event in await say(app, text, locale) if isinstance(event, ReplyText)]
        assert told
        assert all(each.citations or each.template in HONEST for each in told), text
