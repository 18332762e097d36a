"""Words that no payee's name shares anything with."""

import pytest

from schemas.ids import EN_US, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex


@pytest.mark.parametrize(
    "text", ["please send $100 from account x to account y", "send fifty to q", "pay xyzzy", "send 5 to zzz qqq"]
)
def test_a_name_that_shares_nothing_with_the_book_is_nobody(text: str) -> None:
    index = PayeeIndex.build([Payee(PayeeId("1"), "Catherine Nguyen"), Payee(PayeeId("2"), "John Smith")])
    match = index.find([text], EN_US)
    assert match is None or match.outcome is MatchOutcome.NOBODY
