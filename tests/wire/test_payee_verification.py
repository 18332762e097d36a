"""What the payee's bank says of the name shapes the read-back, and what a yes then leads to; in both languages."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from app.client import typed
from services.banking.banks import tables as t
from services.store import Store
from tests.harness.calls import calling, gateway, heard

SILENT = None


@dataclass(frozen=True)
class Words:
    """One language's order, its payee, a name close to the payee's, what is said of each outcome, and what counts."""

    customer: str
    payee: str
    order: str
    yes: str
    name: str
    close: str
    warnings: tuple[str, ...]
    code_asked: str
    named: str


ENGLISH = Words(
    "alex-morgan", "katherine-newman", "send fifty dollars to katherine newman", "yes", "Katherine Newman",
    "Katharine Newman",
    ("is close to Katherine Newman, but not the same", "Careful: the name on that account is not Katherine Newman",
     "I could not check the name on that account"),
    "approve in the app",
    "send it",
)  # fmt: skip
JAPANESE = Words(
    "takahashi-misaki", "tanaka-ichiro", "大家さんに三千円送金して", "はい", "ﾀﾅｶ ｲﾁﾛｳ", "タナカ イチロオ",
    ("受取口座の名義が、ご登録のタナカ イチロウ様と一部異なります",
     "受取口座の名義が、ご登録のタナカ イチロウ様と異なります",
     "受取口座の名義は確認できておりません"),
    "アプリをご確認のうえ、承認",
    "振り込む",
)  # fmt: skip
LANGUAGES = pytest.mark.parametrize(("locale", "words"), [("en-US", ENGLISH), ("ja-JP", JAPANESE)])


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Store]:
    """The application's database, while it runs."""
    store = Store(f"sqlite:///{tmp_path / 'tellerline.db'}")
    yield store
    await store.close()


async def held_by(bank: Store, words: Words, holder: str | None) -> None:
    """From now on the payee's bank names this holder; null: it does not answer."""
    mine = (t.payees.c.customer_id == words.customer) & (t.payees.c.id == words.payee)
    assert await bank.execute("test.holder", sa.update(t.payees).where(mine).values(holder=holder)) == 1


@LANGUAGES
async def test_each_outcome_is_heard_in_the_read_back(locale: str, words: Words, bank: Store, tmp_path: Path) -> None:
    close, stranger, silent = words.warnings
    async with gateway(tmp_path) as running, calling(running, words.customer, locale) as call:
        for holder, outcome, warning in (
            (words.name, "match", ""),
            (words.close, "close_match", close),
            ("Somebody Else", "no_match", stranger),
            (SILENT, "unavailable", silent),
        ):
            await held_by(bank, words, holder)
            await call.send(typed(words.order))
            said = await heard(call)
            assert call.of("tellerline.readback")[-1]["verification"] == outcome
            assert [w for w in words.warnings if w in said] == [warning] * bool(warning), said


@LANGUAGES
async def test_a_strangers_account_needs_the_deed_named_and_a_second_factor(
    locale: str, words: Words, bank: Store, tmp_path: Path
) -> None:
    async with gateway(tmp_path) as running, calling(running, words.customer, locale) as call:
        await held_by(bank, words, "Somebody Else")
        await call.send(typed(words.order))
        await heard(call)
        await call.send(typed(words.yes))
        assert words.named in await heard(call)
        await call.send(typed(words.named))
        assert words.code_asked in await heard(call)
        assert not call.of("tellerline.ledger")


@LANGUAGES
async def test_a_name_that_can_not_be_checked_can_still_be_paid(
    locale: str, words: Words, bank: Store, tmp_path: Path
) -> None:
    async with gateway(tmp_path) as running, calling(running, words.customer, locale) as call:
        await held_by(bank, words, SILENT)
        await call.send(typed(words.order))
        await heard(call)
        await call.send(typed(words.yes))
        await heard(call)
        assert [event["state"] for event in call.of("tellerline.ledger")] == ["succeeded"]
