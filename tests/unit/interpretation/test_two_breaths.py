"""An amount that comes in two breaths is put together or asked about, whatever lies between them; never half of it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from app.bootstrap import Gateway
from deploy.bench._answers.said import AnswerCase
from deploy.bench.answers import in_audio_time
from schemas.ids import CallId, CustomerId, Locale
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app
from tests.unit.test_pipeline import Talk

DATA = yaml.load((Path(__file__).parents[2] / "data/two_breaths.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
CASES = [
    pytest.param(locale, one["customer"], kind, case, id=" … ".join(case["said"]))
    for locale, one in DATA.items()
    for kind in ("amounts", "plain")
    for case in one[kind]
]
FIRST_WORDS = {"en-US": "what's my balance", "ja-JP": "残高を教えて"}
QUESTION = ("?", "か。", "どうぞ。")
READ_BACK = {"en-US": ("I'll send ",), "ja-JP": ("お振り込みします", "お振り替えします")}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bank(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with running_app(tmp_path_factory.mktemp("bank"), FakeRecognizer(lambda _seconds: "")) as app:
        yield app.gateway


def said_as(whole: float, locale: str) -> re.Pattern[str]:
    """The amount as replies say it."""
    units, cents = divmod(round(whole * 100), 100)
    if locale == "ja-JP":
        return re.compile(rf"(?<![\d,]){units:,}円")
    return re.compile(rf"(?<![\d,]){units:,} dollars" + (f" and {cents} cents" if cents else "(?! and)"))


def judge(replies: list[str], locale: str, kind: str, case: dict[str, Any]) -> None:
    whole = said_as(case["whole"], locale)
    read_back = [text for text in replies if any(mark in text for mark in READ_BACK[locale])]
    last = (
        read_back[-1] if read_back and read_back[-1] is replies[-1] else ""
    )  # one before it was cut, or changed since
    assert not last or whole.search(last), f"half an amount was read back: {last}"
    if kind == "plain" and not case.get("asks"):
        assert read_back or not whole.search(replies[-1]), f"asked about what is plain: {replies}"
    if kind == "amounts":
        known = any(whole.search(text) for text in replies)
        assert known or replies[-1].rstrip().endswith(QUESTION), f"the whole was lost: {replies}"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("locale", "customer", "kind", "case"), CASES)
async def test_each_breath_a_turn(bank: Gateway, locale: str, customer: str, kind: str, case: dict[str, Any]) -> None:
    talk = Talk(await bank.callers.open(CustomerId(customer), CallId("call"), Locale(locale)), Locale(locale))
    replies = []
    for words in case["said"]:
        await talk.say(words)
        replies.append(talk.words)
    await talk.turn.close(hung_up=True)  # nothing is left to be taken up by the next call
    judge(replies, locale, kind, case)


def of(locale: str) -> list[tuple[str, dict[str, Any]]]:
    return [(kind, case) for kind in ("amounts", "plain") for case in DATA[locale][kind]]


@pytest.mark.parametrize(("third", "pause_s"), [(0, 0.3), (1, 0.9), (2, 1.7)])
@pytest.mark.parametrize("locale", list(DATA))
async def test_any_pause_between_the_breaths(locale: str, third: int, pause_s: float) -> None:
    """Each case with one of the pauses; with every one below."""
    await after_a_pause(locale, pause_s, of(locale)[third::3])


@pytest.mark.slow
@pytest.mark.parametrize("pause_s", [0.3, 0.6, 0.9, 1.3, 1.7])
@pytest.mark.parametrize("locale", list(DATA))
async def test_every_pause_between_the_breaths(locale: str, pause_s: float) -> None:
    await after_a_pause(locale, pause_s, of(locale))


async def after_a_pause(locale: str, pause_s: float, wanted: list[tuple[str, dict[str, Any]]]) -> None:
    spoken = [
        AnswerCase(
            FIRST_WORDS[locale],
            locale,
            DATA[locale]["customer"],
            "some:voice",
            kind,
            " | ".join(case["said"]),
            pause_s,
            moves=False,
            unseen=False,
        )
        for kind, case in wanted
    ]
    for (kind, case), answered in zip(wanted, await in_audio_time(spoken), strict=True):
        assert answered.times_moved == 0
        judge(list(answered.replies), locale, kind, case)
