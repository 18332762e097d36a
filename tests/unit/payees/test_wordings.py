"""What may have been said where a name is not clear."""

from schemas.ids import EN_US, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex
from services.payees.written import WrittenNames

BOOK = PayeeIndex.build(
    [
        Payee(PayeeId("jasbir"), "Jasbir"),
        Payee(PayeeId("jerry"), "Jerry Smith"),
        Payee(PayeeId("kate"), "Katherine Newman", aliases=("Kate",)),
        Payee(PayeeId("hugh"), "Hugh Smith"),
    ]
)


def worded(text: str) -> tuple[str, ...]:
    match = BOOK.find([text], EN_US)
    assert match is not None
    assert match.outcome is MatchOutcome.ASK
    return BOOK.wordings(text, match)


def test_a_candidate_stands_where_the_name_was_heard() -> None:
    assert "send thirty dollars to jasbir please" in worded("send thirty dollars to jaspier please")


def test_a_part_of_a_name_stands_only_where_it_was_heard_so() -> None:
    assert "pay jerry smith ten dollars" in worded("pay jarry ten dollars")
    assert "pay hugh smith ten dollars" in worded("pay view smith ten dollars")
    assert all(each.count(" ") >= 4 for each in worded("pay view smith ten dollars"))


def test_a_figure_in_a_name_is_no_number() -> None:
    names = WrittenNames([Payee(PayeeId("o2"), "O2")])
    assert names.reaching_over("pay 2 to O2 now", [(4, 5), (10, 11)]) == [(9, 11)]
