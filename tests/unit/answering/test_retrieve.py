"""Search: filters before ranking, days as values, the knowledge base itself."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.answer import Question
from schemas.ids import EN_US, JA_JP, Locale
from services.answering.knowledge import Document, Passage, load_passages, passages_of
from services.answering.quote import Library
from services.answering.retrieve import Retriever
from services.answering.thresholds import thresholds
from services.answering.words import stem, words_of
from services.timing.clock import ManualClock

TODAY = date(2026, 11, 21)
PASSAGES = load_passages()
RETRIEVER = Retriever(PASSAGES)


def passage(
    name: str, text: str, product: str = "atm", since: str = "2026-01-01", until: str = "2027-12-31"
) -> Passage:
    return Passage(name, "guide", text, "en", product, date.fromisoformat(since), date.fromisoformat(until))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_knowledge_base_is_large_enough_and_tagged(language: str) -> None:
    mine = [p for p in PASSAGES if p.language == language and p.effective_from <= TODAY <= p.effective_to]
    assert len(mine) >= 60
    assert {"transfers", "cards", "atm", "branches", "accounts", "savings", "security"} <= {p.product for p in mine}
    assert {"fees", "limits", "hours", "atm", "cards", "products", "policies"} <= {
        p.id.partition("§")[0].removesuffix("-2026") for p in mine
    }


def test_only_what_is_in_force_is_found() -> None:
    old = passage("old", "The ATM fee is 2 dollars", until="2026-05-31")
    new = passage("new", "The ATM fee is 3 dollars", since="2026-06-01")
    retriever = Retriever([old, new])
    question = Question("What is the ATM fee?", EN_US)
    assert [h.passage.id for h in retriever.search(question, date(2026, 5, 31)).hits] == ["old"]
    assert [h.passage.id for h in retriever.search(question, date(2026, 6, 1)).hits] == ["new"]
    assert retriever.search(question, date(2025, 1, 1)).hits == ()


@pytest.mark.parametrize(
    ("zone", "hour", "found"),
    [("Asia/Tokyo", 14, "old"), ("Asia/Tokyo", 15, "new"), ("America/Los_Angeles", 30, "old"), ("UTC", 24, "new")],
)
def test_what_is_in_force_is_so_by_the_callers_own_day(zone: str, hour: int, found: str) -> None:
    old = passage("old", "The ATM fee is 2 dollars", until="2026-05-31")
    new = passage("new", "The ATM fee is 3 dollars", since="2026-06-01")
    clock = ManualClock(datetime(2026, 5, 31, tzinfo=UTC) + timedelta(hours=hour))
    hits = Library.load([old, new]).find(Question("What is the ATM fee?", EN_US, zone=zone), clock).hits
    assert [hit.passage.id for hit in hits] == [found]


def test_a_question_is_answered_by_what_is_about_its_subject() -> None:
    other = passage("atm", "At other banks' ATMs we charge a fee of 3 dollars for a withdrawal")
    question = Question("Is there a fee for sending money to other banks?", EN_US)
    assert Retriever([other]).search(question, TODAY).hits == ()
    assert RETRIEVER.search(question, TODAY).hits[0].passage.id == "fees-2026§2.1"


def test_last_years_fees_are_not_quoted() -> None:
    found = RETRIEVER.search(Question("What does an international transfer cost in the app?", EN_US), TODAY)
    assert found.hits[0].passage.id == "fees-2026§2.3"
    assert not [h for h in found.hits if h.passage.id.startswith("fees-2025")]
    then = RETRIEVER.search(Question("What does an international transfer cost in the app?", EN_US), date(2025, 6, 1))
    assert then.hits[0].passage.id == "fees-2025§1.1"


def test_a_product_narrows_the_search() -> None:
    found = RETRIEVER.search(Question("What is the fee?", EN_US, product="atm"), TODAY)
    assert found.hits
    assert {h.passage.product for h in found.hits} == {"atm"}


def test_languages_do_not_mix() -> None:
    found = RETRIEVER.search(Question("ATMの手数料", JA_JP), TODAY)
    assert {h.passage.language for h in found.hits} == {"ja"}
    assert RETRIEVER.search(Question("fee", Locale("fr-FR")), TODAY).hits == ()


def test_nothing_is_found_of_nothing() -> None:
    for text in ("", "the of and", "。。。", "xyzzy"):
        assert not thresholds().evidence.strong(RETRIEVER.search(Question(text, EN_US), TODAY))


@pytest.mark.parametrize(("word", "other"), [("cancelled", "cancel"), ("fees", "fee"), ("countries", "country"),
    ("closing", "close"), ("banks", "bank"), ("submitted", "submit"), ("passes", "pass")])  # fmt: skip
def test_forms_of_a_word_meet(word: str, other: str) -> None:
    assert stem(word) == stem(other)


def test_japanese_is_cut_into_pairs_and_katakana_words() -> None:
    assert words_of("ja").terms("信託業務のサービス") == ["信託", "託業", "業務", "サービス"]


@pytest.mark.parametrize(
    ("locale", "said", "other"),
    [
        ("en", "Your machine swallowed it", "the ATM ate it"),
        ("en", "same-day", "the same day"),
        ("en", "I can't remember the PIN", "forgot my pin"),
        ("ja", "お金をおろす手数料", "引き出すといくらかかりますか"),
        ("ja", "一日の上限", "1日の限度額"),
    ],
)
def test_what_is_said_differently_is_one_term(locale: str, said: str, other: str) -> None:
    words = words_of(locale)
    assert set(words.terms(said)) == set(words.terms(other))


def test_a_word_is_not_a_part_of_another() -> None:
    assert "暗証番号" in words_of("ja").terms("ピンを忘れた")
    assert "暗証番号" not in words_of("ja").terms("ピンクのカード")
    assert words_of("en").terms("feedlot") == ["feedlot"]


def test_amounts_are_no_terms_and_years_are() -> None:
    assert words_of("en").terms("2,000 dollars") == words_of("en").terms("dollars")
    assert "2019" in words_of("en").terms("the fee of 2019")
    assert words_of("ja").terms("十五万円") == []


def test_a_lone_kanji_of_no_passage_asks_for_nothing() -> None:
    found = RETRIEVER.search(Question("貸金庫の料金を訊ねたい", JA_JP), TODAY)
    assert found.coverage == 1.0


@given(st.text(max_size=500), st.sampled_from([EN_US, JA_JP]))
def test_any_question_can_be_asked(text: str, locale: Locale) -> None:
    found = RETRIEVER.search(Question(text, locale), TODAY)
    assert 0 <= found.coverage <= 1
    assert 0 <= found.margin <= 1
    assert [h.score for h in found.hits] == sorted((h.score for h in found.hits), reverse=True)


def test_a_document_is_validated() -> None:
    head = {
        "id": "x",
        "version": 1,
        "document": "x",
        "title": "the x",
        "language": "en",
        "effective_from": "2026-01-01",
    }
    clause = {"id": "1.1", "product": "atm", "text": "Withdrawing cash is free."}
    (only,) = passages_of(Document.model_validate(head | {"clauses": [clause]}))
    assert (only.id, only.effective_to) == ("x§1.1", date.max)
    for fault in ([clause, clause], [clause | {"id": "a"}], [clause | {"text": "x"}], [clause | {"extra": 1}]):
        with pytest.raises(ValueError, match="validation error"):
            Document.model_validate(head | {"clauses": fault})
