"""A small book in which most things that go wrong can."""

import pytest

from schemas.ids import PayeeId
from schemas.payee import Payee
from services.payees import PayeeIndex

BOOK = (
    Payee(PayeeId("sean"), "Sean Nguyen", bank="Chase", account_last4="1234"),
    Payee(PayeeId("smith"), "John Smith", relationship="landlord", bank="HSBC"),
    Payee(PayeeId("smyth"), "Jon Smyth", bank="Barclays"),
    Payee(PayeeId("thames"), "Thames Water Ltd"),
    Payee(PayeeId("maria"), "María García López", aliases=("Mom",)),
    Payee(PayeeId("siobhan"), "Siobhan Murphy"),
    Payee(PayeeId("cath"), "Catherine Jones"),
    Payee(PayeeId("lee1"), "Anna Lee", bank="Chase", account_last4="0001"),
    Payee(PayeeId("lee2"), "Anna Lee", bank="Chase", account_last4="0002"),
    Payee(PayeeId("sato"), "佐藤 健", kana="サトウ ケン", bank="みずほ銀行"),
    Payee(PayeeId("saito"), "斉藤 健", kana="サイトウ ケン", bank="三井住友銀行"),
    Payee(PayeeId("ono"), "大野 花子", kana="オオノ ハナコ", relationship="大家"),
    Payee(PayeeId("takasaki"), "髙﨑 桜", kana="タカサキ サクラ"),
    Payee(PayeeId("yamada"), "株式会社山田商店", kana="カ）ヤマダショウテン"),
)


@pytest.fixture(scope="session")
def book() -> PayeeIndex:
    return PayeeIndex.build(BOOK)
