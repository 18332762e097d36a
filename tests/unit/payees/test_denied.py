"""Names that are said not to be meant, and relationships in place of names."""

import pytest

from schemas.ids import EN_US, JA_JP, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import PayeeIndex

BOOK = (
    Payee(PayeeId("emily"), "Emily Morgan", relationship="friend"),
    Payee(PayeeId("priya"), "Priya Raman", relationship="sister-in-law"),
    Payee(PayeeId("marcus"), "Marcus Bell", relationship="brother-in-law"),
    Payee(PayeeId("jo"), "Jo Bell", relationship="older brother"),
    Payee(PayeeId("hanako"), "佐藤 花子", kana="サトウ ハナコ", relationship="友人"),
    Payee(PayeeId("megumi"), "佐藤 恵", kana="サトウ メグミ", relationship="妹"),
    Payee(PayeeId("ken"), "斉藤 健", kana="サイトウ ケン", relationship="義理の兄"),
    Payee(PayeeId("power"), "青空電力", kana="アオゾラデンリョク", aliases=("電力会社",)),
)


@pytest.fixture(scope="module")
def index() -> PayeeIndex:
    return PayeeIndex.build(BOOK)


@pytest.mark.parametrize(
    ("said", "payee"),
    [
        ("not emily, priya", "priya"),
        ("not emily priya", "priya"),
        ("not emily morgan priya raman", "priya"),
        ("priya not emily", "priya"),
        ("not to emily, to priya", "priya"),
        ("its not emily its priya", "priya"),
        ("to priya raman instead of emily morgan", "priya"),
        ("send it to jo bell rather than marcus bell", "jo"),
        ("to marcus bell instead", "marcus"),
        ("not my friend, my brother", "jo"),
    ],
)
def test_the_other_one_is_meant(index: PayeeIndex, said, payee):
    match = index.find([said], EN_US)
    assert (match.outcome, match.choice) == (MatchOutcome.CLEAR, payee)


@pytest.mark.parametrize(
    ("said", "payee"),
    [
        ("佐藤花子じゃなくて斉藤さんに千円", "ken"),
        ("佐藤花子さんじゃなくて斉藤に", "ken"),
        ("佐藤花子さんではなく斉藤さんに", "ken"),
        ("斉藤さんの代わりに佐藤恵さんに", "megumi"),
    ],
)
def test_the_other_one_is_meant_in_japanese(index: PayeeIndex, said, payee):
    match = index.find([said], JA_JP)
    assert (match.outcome, match.choice) == (MatchOutcome.CLEAR, payee)


@pytest.mark.parametrize(
    ("said", "locale"),
    [
        ("佐藤花子さんじゃなくて", JA_JP),
        ("斉藤さんではありません", JA_JP),
    ],
)
def test_nobody_is_named_by_who_is_not_meant(index: PayeeIndex, said, locale):
    assert index.find([said], locale) is None


@pytest.mark.parametrize("said", ["not emily", "no not emily morgan"])
def test_who_alone_is_denied_is_shown_but_never_chosen(index: PayeeIndex, said):
    match = index.find([said], EN_US)
    assert (match.outcome, match.choice) == (MatchOutcome.ASK, None)


@pytest.mark.parametrize(
    ("said", "heard", "payee", "locale"),
    [
        ("send fifty to my friend", "my friend", "emily", EN_US),
        ("send fifty to my brother in law", "my brother in law", "marcus", EN_US),
        ("send fifty to my brother-in-law", "my brother-in-law", "marcus", EN_US),
        ("send ten to my brother", "my brother", "jo", EN_US),
        ("my sister in law", "my sister in law", "priya", EN_US),
        ("義理の兄に千円送って", "義理の兄", "ken", JA_JP),
        ("お義兄さんに千円送って", "お義兄", "ken", JA_JP),
        ("妹に千円送って", "妹", "megumi", JA_JP),
    ],
)
def test_relationships_stand_for_names(said, heard, payee, locale):
    ours = [p for p in BOOK if p.kana] if locale is JA_JP else [p for p in BOOK if not p.kana]
    match = PayeeIndex.build(ours).find([said], locale)
    assert (match.heard, match.outcome, match.choice) == (heard, MatchOutcome.CLEAR, payee)


def test_her_is_whom_the_book_has_so_and_him_nobody():
    index = PayeeIndex.build([Payee(PayeeId("mio"), "森 澪", kana="モリ ミオ", relationship="彼女")])
    assert index.find(["あ、彼女にだった"], JA_JP).choice == "mio"
    assert index.find(["彼に千円送って"], JA_JP) is None


def test_friends_of_either_language_are_friends(index: PayeeIndex):
    match = index.find(["友達に千円送って"], JA_JP)
    assert match.outcome is MatchOutcome.ASK
    assert {c.id for c in match.candidates} == {"emily", "hanako"}


def test_a_broader_word_means_the_narrower_relationships():
    brothers = [Payee(PayeeId("a"), "Al Ray", relationship="兄"), Payee(PayeeId("b"), "Bo Day", relationship="弟")]
    index = PayeeIndex.build(brothers)
    assert {c.id for c in index.lookup(["my brother"], EN_US).candidates} == {"a", "b"}
    assert index.lookup(["お兄さん"], JA_JP).choice == "a"
    assert index.lookup(["弟"], JA_JP).choice == "b"


def test_a_relationship_before_a_name_tells_two_of_one_name_apart(index: PayeeIndex):
    match = index.find(["友達の佐藤さんに千円送って"], JA_JP)
    assert match.candidates[0].id == "hanako"
    assert match.candidates[0].score > 0.9
