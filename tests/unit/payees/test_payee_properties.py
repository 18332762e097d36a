"""What holds for every book and whatever is heard."""

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.ids import EN_US, JA_JP, PayeeId
from schemas.payee import MatchOutcome, Payee
from services.payees import MAX_CANDIDATES, PayeeIndex

_GIVEN = ("sean", "shawn", "anna", "maria", "jo", "may", "not", "ken", "catherine")
_FAMILY = ("smith", "smyth", "nguyen", "lee", "law", "sato", "ono", "garcía", "o'brien")
_KANA = ("サトウ", "サイトウ", "オオノ", "オノ", "タナカ", "ケン", "ユキ", "ユウキ", "イチロウ")
_KANJI = ("佐藤", "斉藤", "大野", "小野", "田中", "健", "結希", "勇樹", "一郎", "髙﨑")
_AROUND = (
    "send fifty to",
    "my",
    "not",
    "instead of",
    ",",
    "tomorrow",
    "さんに千円",
    "じゃなくて",
    "㈱",
    "n as in november",
)

text = st.text(max_size=40)
piece = st.sampled_from((*_GIVEN, *_FAMILY, *_KANA, *_KANJI, *_AROUND)) | text
heard = st.lists(st.lists(piece, max_size=6).map(" ".join) | st.lists(piece, max_size=5).map("".join), max_size=5)
latin = st.builds(lambda g, f: f"{g} {f}".title(), st.sampled_from(_GIVEN), st.sampled_from(_FAMILY))
payee = st.builds(
    lambda name, kana, alias, relationship: (name, kana, alias, relationship),
    latin | st.lists(st.sampled_from(_KANJI), min_size=1, max_size=2).map(" ".join) | text,
    st.just("") | st.lists(st.sampled_from(_KANA), min_size=1, max_size=2).map(" ".join) | text,
    st.lists(text | latin, max_size=2).map(tuple),
    st.sampled_from(("", "friend", "兄", "brother-in-law")) | text,
)
books = st.lists(payee, max_size=6).map(
    lambda rows: [
        Payee(PayeeId(f"p{place}"), name, kana=kana, aliases=alias, relationship=relationship)
        for place, (name, kana, alias, relationship) in enumerate(rows)
    ]
)
locales = st.sampled_from((EN_US, JA_JP))


@given(books, heard, locales)
@settings(max_examples=250, deadline=None, derandomize=True)
def test_no_input_raises_and_every_answer_is_well_formed(book, utterances, locale):
    index = PayeeIndex.build(book)
    known = {p.id for p in book}
    for match in (index.find(utterances, locale), index.lookup(utterances, locale)):
        if match is None:
            continue
        assert utterances[0][match.start : match.end] == match.heard
        assert len(match.candidates) <= MAX_CANDIDATES
        assert 0 <= match.plausible <= 3
        assert {c.id for c in match.candidates} <= known
        scores = [c.score for c in match.candidates]
        assert scores == sorted(scores, reverse=True)
        assert all(0.0 <= score <= 1.0 for score in scores)
        assert (match.choice is not None) == (match.outcome is MatchOutcome.CLEAR)
        assert match.choice is None or match.choice == match.candidates[0].id


@given(books, heard, locales)
@settings(max_examples=120, deadline=None, derandomize=True)
def test_the_same_book_and_words_give_the_same_answer(book, utterances, locale):
    first, second = PayeeIndex.build(book), PayeeIndex.build(list(book))
    assert first.find(utterances, locale) == second.find(utterances, locale)


@given(books, heard, locales, st.randoms(use_true_random=False))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_the_order_of_the_book_chooses_nobody(book, utterances, locale, random):
    shuffled = list(book)
    random.shuffle(shuffled)
    one = PayeeIndex.build(book).lookup(utterances, locale)
    other = PayeeIndex.build(shuffled).lookup(utterances, locale)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert (one.outcome, one.choice) == (other.outcome, other.choice)


@given(latin)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_two_of_one_name_are_always_asked_about(name):
    book = [Payee(PayeeId("a"), name, bank="Chase"), Payee(PayeeId("b"), name, bank="HSBC")]
    match = PayeeIndex.build(book).lookup([name.lower()], EN_US)
    assert match.outcome is MatchOutcome.ASK
    assert [c.told_apart_by for c in match.candidates] == ["Chase", "HSBC"]
