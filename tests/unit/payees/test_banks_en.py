"""A bank said beside a name tells namesakes apart, and nothing else is taken for one."""

import pytest

from schemas.ids import EN_US, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex

BOOK = [
    Payee(id=PayeeId("harbour"), name="John Porter", bank="Harbour Federal"),
    Payee(id=PayeeId("cedar"), name="John Porter", bank="Cedar Bank"),
    Payee(id=PayeeId("electric"), name="Harbour Electric", bank="Cedar Bank"),
    Payee(id=PayeeId("ken"), name="Ken Sato", bank="First Bank"),
]


def found(said: str) -> tuple[MatchOutcome, PayeeId | None]:
    match = PayeeIndex.build(BOOK).find([said], EN_US)
    return (match.outcome, match.choice) if match is not None else (MatchOutcome.NOBODY, None)


@pytest.mark.parametrize(
    ("said", "who"),
    [
        ("send fifty to john porter at cedar bank", "cedar"),
        ("send fifty to john porter at cedar", "cedar"),
        ("send fifty to john porter with harbour tomorrow", "harbour"),
        ("send fifty to john porter who banks with Harbour Federal", "harbour"),
        ("pay the cedar bank john porter twenty", "cedar"),
        ("john porter, harbour", "harbour"),
        ("pay harbour electric", "electric"),
    ],
)
def test_a_bank_tells_namesakes_apart(said: str, who: str) -> None:
    assert found(said) == (MatchOutcome.CLEAR, PayeeId(who))


@pytest.mark.parametrize("said", ["send fifty to john porter", "send fifty to john porter from cedar bank"])
def test_no_bank_beside_the_name_asks_which(said: str) -> None:
    assert found(said) == (MatchOutcome.ASK, None)


def test_a_name_at_a_bank_that_is_not_theirs_is_asked_about() -> None:
    assert found("send fifty to ken sato at cedar bank") == (MatchOutcome.ASK, None)


@pytest.mark.parametrize(
    ("bank", "said", "heard"),
    [
        ("Cedar Savings", "ann bell at cedar savings", "ann bell at cedar savings"),
        ("Cedar Savings", "ann bell at cedar \u017favings", "ann bell"),
        (" ", "ann bell", "ann bell"),
    ],
)
def test_a_letter_that_is_another_banks_and_blanks_are_no_bank(bank: str, said: str, heard: str) -> None:
    match = PayeeIndex.build([Payee(id=PayeeId("ann"), name="Ann Bell", bank=bank)]).find(
        [f"send fifty to {said}"], EN_US
    )
    assert match is not None
    assert (match.outcome, match.choice, match.heard) == (MatchOutcome.CLEAR, "ann", heard)


def test_a_word_of_every_sentence_is_no_banks_name() -> None:
    assert found("send fifty to ken sato at first") == (MatchOutcome.CLEAR, PayeeId("ken"))
