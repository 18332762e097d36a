"""Names already known to be names: answers to "who to?"."""

import pytest

from schemas.errors import TooLarge
from schemas.ids import EN_US, JA_JP, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import MAX_PAYEES, PayeeIndex

CLEAR, ASK, NOBODY = MatchOutcome.CLEAR, MatchOutcome.ASK, MatchOutcome.NOBODY


def names(match):
    return [str(c.id) for c in match.candidates[: match.plausible]]


@pytest.mark.parametrize(
    ("heard", "payee"),
    [
        ("Sean Nguyen", "sean"),
        ("SIOBHAN MURPHY", "siobhan"),
        ("Siobhán Murphy", "siobhan"),
        ("mr john smith", "smith"),
        ("Thames Water", "thames"),
        ("thames water ltd.", "thames"),
        ("maria garcia lopez", "maria"),
        ("maria lopez", "maria"),
        ("saitoh ken", "saito"),
    ],
)
def test_a_whole_name_said_exactly_is_clear(book: PayeeIndex, heard, payee):
    match = book.lookup([heard], EN_US)
    assert (match.outcome, match.choice, match.plausible) == (CLEAR, payee, 1)


@pytest.mark.parametrize(
    ("heard", "payee"),
    [
        ("サトウ ケン", "sato"),
        ("サトー ケン", "sato"),
        ("さとうけん", "sato"),
        ("ｻﾄｳｹﾝ", "sato"),
        ("佐藤健さん", "sato"),
        ("オオノ ハナコ", "ono"),
        ("大野花子様", "ono"),
        ("高崎桜", "takasaki"),
        ("髙﨑 桜", "takasaki"),
        ("ヤマダショウテン", "yamada"),
        ("(株)山田商店", "yamada"),
    ],
)
def test_japanese_writings_of_one_name(book: PayeeIndex, heard, payee):
    match = book.lookup([heard], JA_JP)
    assert (match.outcome, match.choice) == (CLEAR, payee)


@pytest.mark.parametrize("heard", ["sato ken", "satou ken", "satoh ken", "satō ken", "ken sato"])
def test_romaji_spellings_find_the_kana(book: PayeeIndex, heard):
    assert book.lookup([heard], EN_US).candidates[0].id == "sato"


def test_near_is_not_equal(book: PayeeIndex):
    match = book.lookup(["サイトウ ケン"], JA_JP)
    assert match.choice == "saito"


def test_long_vowels_tell_people_apart(book: PayeeIndex):
    assert book.lookup(["オノ ハナコ"], JA_JP).outcome is not CLEAR


def test_two_of_one_name_always_ask_and_can_be_told_apart(book: PayeeIndex):
    match = book.lookup(["anna lee"], EN_US)
    assert match.outcome is ASK
    assert names(match) == ["lee1", "lee2"]
    assert [c.told_apart_by for c in match.candidates[:2]] == ["ending 0 0 0 1", "ending 0 0 0 2"]


def test_same_sound_asks(book: PayeeIndex):
    homophones = PayeeIndex.build([Payee(PayeeId("a"), "John Reid"), Payee(PayeeId("b"), "Jon Reed")])
    assert homophones.lookup(["john reid"], EN_US).outcome is ASK


def test_a_hypothesis_that_is_someone_else_asks():
    index = PayeeIndex.build([Payee(PayeeId("a"), "John Reed"), Payee(PayeeId("b"), "Joan Reed")])
    assert index.lookup(["john reed", "joan reed"], EN_US).outcome is ASK


def test_one_plausible_payee_is_offered_alone(book: PayeeIndex):
    match = book.lookup(["shivon murfy"], EN_US)
    assert match.outcome in {ASK, CLEAR}
    assert names(match) == ["siobhan"]


def test_relationship(book: PayeeIndex):
    assert names(book.lookup(["my landlord"], EN_US)) == ["smith", "ono"]
    assert names(book.lookup(["大家さん"], JA_JP)) == ["smith", "ono"]
    assert book.lookup(["my dentist"], EN_US).outcome is NOBODY


@pytest.mark.parametrize(
    "heard",
    [
        "n g u y e n",
        "en gee you why ee en",
        "N as in November, G, U, Y, E, N",
        "november golf uniform yankee echo november",
    ],
)
def test_a_name_spelled_out_whole_is_clear(book: PayeeIndex, heard):
    match = book.lookup([heard], EN_US)
    assert (match.outcome, match.choice) == (CLEAR, "sean")


def test_a_name_spelled_in_part_is_asked(book: PayeeIndex):
    match = book.lookup(["N as in November, G, U"], EN_US)
    assert match.outcome is ASK
    assert names(match) == ["sean"]


@pytest.mark.parametrize("heard", ["shawn n g u y e n", "n g u y e n shawn", "nguyen n g u y e n"])
def test_a_name_spelled_beside_the_rest_of_it_is_clear(book: PayeeIndex, heard):
    match = book.lookup([heard], EN_US)
    assert (match.outcome, match.choice) == (CLEAR, "sean")


@pytest.mark.parametrize("others", [[], ["amina win"]])
def test_a_family_name_spelled_beside_another_given_name_is_asked(book: PayeeIndex, others):
    match = book.lookup([*others, "amina n g u y e n"], EN_US)
    assert (match.outcome, match.choice) == (ASK, None)
    assert names(match) == ["sean"]


def test_initials(book: PayeeIndex):
    match = book.lookup(["t w"], EN_US)
    assert match.outcome is ASK
    assert "thames" in names(match)


def test_strangers_are_nobody(book: PayeeIndex):
    for heard in ("barack obama", "wilhelmina throckmorton", "zoltan kovacs"):
        match = book.lookup([heard], EN_US)
        assert match.outcome is NOBODY
        assert match.choice is None
        assert match.plausible == 0


def test_nothing_heard_is_none(book: PayeeIndex):
    assert book.lookup([], EN_US) is None
    assert book.lookup(["", "  "], EN_US) is None


def test_an_empty_book_knows_nobody():
    match = PayeeIndex.build([]).lookup(["john smith"], EN_US)
    assert match.outcome is NOBODY
    assert match.candidates == ()


def test_a_book_over_the_bound_is_refused():
    with pytest.raises(TooLarge):
        PayeeIndex.build([Payee(PayeeId(str(n)), f"Payee {n}") for n in range(MAX_PAYEES + 1)])


@pytest.mark.parametrize(
    "heard", ["", " ", "!!!", "ー", "、", "1234", "\ud83d\ude00", "a" * 5000, "ン", "の" * 500, "( )", "'"]
)
def test_odd_input_never_fails(book: PayeeIndex, heard):
    for locale in (EN_US, JA_JP):
        book.lookup([heard, heard[::-1]], locale)
        book.find([heard, heard[::-1]], locale)


def test_answers_are_reproducible(book: PayeeIndex):
    heard = ["send fifty to shawn wynn", "send fifty to john win"]
    assert book.find(heard, EN_US) == book.find(heard, EN_US)


def test_scores_are_probabilities(book: PayeeIndex):
    match = book.lookup(["jon smith", "john smyth"], EN_US)
    scores = [c.score for c in match.candidates]
    assert scores == sorted(scores, reverse=True)
    assert 0 <= sum(scores) <= 1.0001


@pytest.mark.parametrize("heard", ["佐藤", "佐藤健"])
def test_a_stored_reading_without_a_sound_is_no_reading(heard):
    index = PayeeIndex.build([Payee(PayeeId("odd"), heard, kana="ッ")])
    match = index.lookup([heard], JA_JP)
    assert match is None or match.choice in {None, "odd"}


@pytest.mark.parametrize(
    ("heard", "choice"),
    [
        (["maria kostellano", "maria castellano", "maria kostelano"], "Maria Castellano"),
        (["can sato", "kensato", "kanzato", "canceato"], "Ken Sato"),
        (["maria kostner", "maria costner", "maria kosner"], None),
        (["daniel okonor", "daniel okoner"], None),
        (["alli", "oli", "allie", "ally"], None),
    ],
)
def test_a_name_written_as_it_was_heard_is_chosen_where_it_is_like_one_payee_alone(heard, choice):
    home = ("Maria Castellano", "David O'Connor", "Emily Morgan", "Ken Sato", "Priya Raman", "Oliver Hartley")
    book = [Payee(PayeeId(name), name, aliases=("Ollie",) * (name == "Oliver Hartley")) for name in home]
    match = PayeeIndex.build(book).lookup(heard, EN_US)
    assert match is not None
    assert match.choice == choice


@pytest.mark.parametrize(("heard", "payee"), [("聡", "satoshi"), ("さとし", "satoshi"), ("誠", "makoto")])
def test_a_short_name_in_kanji_is_read_as_in_the_whole_one(heard, payee):
    son = Payee(PayeeId("makoto"), "岡本誠", kana="オカモトマコト", aliases=("誠",))
    neighbour = Payee(PayeeId("satoshi"), "山本聡", kana="ヤマモトサトシ")
    assert PayeeIndex.build([son, neighbour]).lookup([heard], JA_JP).choice == payee
