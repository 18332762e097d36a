"""Names of which a recogniser heard a part, or everyday words: what all hypotheses have together tells who is meant."""

import pytest

from schemas.ids import EN_GB, JA_JP, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex, Searched

NAMES = (
    *("Alan Anderson", "Alan Gallagher", "Alan Gordon", "Alan Peters", "Alan Quill", "Alan Turner", "Beth Allen"),
    *("Josh Davies", "Aaron Davies", "Harriet Andrews", "Oliver Andrews", "Gavin Barnett", "Gavin Ali"),
    *("Gavin Shah", "Gavin Lord", "Gavin Moss", "Gavin Ray", "Iain Lloyd", "Rita Turner", "Maureen Marsh"),
    *("Alice Marsh", "Shane Hughes", "Mary Clark", "Thomas Johnson"),
)


@pytest.fixture(scope="module")
def index() -> PayeeIndex:
    return PayeeIndex.build([Payee(PayeeId(name), name) for name in NAMES])


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        (("Gavin", "Gavin Barnett", "Cavan", "Gavin timer", "gavan"), "Gavin Barnett"),
        (("Alan", "the Alan", "Alan turn", "Alan burner"), "Alan Turner"),
        (("Davies", "just Davies", "Davis"), "Josh Davies"),
        (("Andrews", "Harry Andrews", "and Andrews"), "Harriet Andrews"),
        (("Marsh", "morning Marsh", "Maureen"), "Maureen Marsh"),
    ],
)
def test_who_has_the_part_and_most_of_the_rest_comes_first(index: PayeeIndex, heard: tuple[str, ...], meant: str):
    match = index.lookup(heard, EN_GB)
    assert match is not None
    assert match.candidates[0].id == meant


def test_a_part_alone_is_anybodys_who_has_it(index: PayeeIndex):
    match = index.lookup(("Gavin",), EN_GB)
    assert match is not None
    assert match.outcome is not MatchOutcome.CLEAR
    assert {candidate.display_name.split()[0] for candidate in match.candidates} == {"Gavin"}


@pytest.mark.parametrize(
    ("heard", "meant"),
    [
        (("send twenty pounds to just davies",), "Josh Davies"),
        (("transfer ten pounds to morning marsh",), "Maureen Marsh"),
        (("pay ten pounds to have yet andrews", "pay ten pounds to harry yet andrews"), "Harriet Andrews"),
    ],
)
def test_everyday_words_before_a_name_may_belong_to_it(index: PayeeIndex, heard: tuple[str, ...], meant: str):
    match = index.find(heard, EN_GB)
    assert match is not None
    assert meant in [candidate.display_name for candidate in match.candidates[:2]]


@pytest.mark.parametrize(
    "said", ["how do i send money to another bank", "can i pay money into an atm", "i want to talk to a real person"]
)
def test_everyday_words_are_nobodys_name(index: PayeeIndex, said: str):
    match = index.find((said,), EN_GB)
    assert match is None or match.choice is None


def test_initials_that_only_a_further_hypothesis_has_are_none(index: PayeeIndex):
    match = index.lookup(("Rita Turner", "reeta Turner", "litre Turner", "I L Turner"), EN_GB)
    assert match is not None
    assert match.choice == "Rita Turner"
    assert index.lookup(("I L",), EN_GB).candidates[0].id == "Iain Lloyd"


def test_what_was_sought_is_remembered_where_it_is_asked_for(index: PayeeIndex):
    searched: Searched = {}
    first = index.find(("send ten pounds to shane hughes",), EN_GB, searched=searched)
    assert searched
    assert index.lookup(("shane hughes",), EN_GB, searched).choice == first.choice == "Shane Hughes"


def test_a_given_name_alone_is_told_by_its_kanji_where_a_whole_name_is_written_without_a_space():
    book = [
        Payee(PayeeId(name), name, kana=read) for name, read in (("高橋美咲", "タカハシミサキ"), ("林玲", "ハヤシレイ"))
    ]
    index = PayeeIndex.build([*book, Payee(PayeeId("denki"), "東都電力", kana="トウトデンリョク")])
    for said, meant in (("美咲に二万円送って", "高橋美咲"), ("玲さんに八千円お願いします", "林玲")):
        match = index.find((said,), JA_JP)
        assert match is not None
        assert match.choice == meant
    assert index.find(("東都に二万円送って",), JA_JP).choice is None
