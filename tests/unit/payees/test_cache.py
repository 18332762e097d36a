"""Indexes kept between calls."""

from datetime import date

from schemas.ids import EN_US, CustomerId, PayeeId
from schemas.payee import Payee
from services.payees import IndexCache, PayeeIndex, content_version

MINE, YOURS = CustomerId("mine"), CustomerId("yours")
BOOK = [Payee(PayeeId("1"), "John Smith"), Payee(PayeeId("2"), "Anna Lee")]


def test_the_same_version_is_built_once():
    cache = IndexCache()
    assert cache.get(MINE, BOOK, "1") is cache.get(MINE, BOOK, "1")


def test_another_version_replaces_the_former():
    cache = IndexCache()
    first = cache.get(MINE, BOOK, "1")
    assert cache.get(MINE, BOOK[:1], "2") is not first
    assert cache.peek(MINE, "1") is None
    assert len(cache) == 1


def test_customers_never_share_even_with_equal_books_and_versions():
    cache = IndexCache()
    assert cache.get(MINE, BOOK, "1") is not cache.get(YOURS, BOOK, "1")
    assert cache.peek(CustomerId("other"), "1") is None


def test_the_least_recently_used_goes_first():
    cache = IndexCache(max_books=2)
    for customer in ("a", "b"):
        cache.get(CustomerId(customer), BOOK, "1")
    cache.peek(CustomerId("a"), "1")
    cache.get(CustomerId("c"), BOOK, "1")
    assert cache.peek(CustomerId("b"), "1") is None
    assert cache.peek(CustomerId("a"), "1") is not None


def test_all_books_together_are_bounded():
    cache = IndexCache(max_payees=3)
    cache.get(MINE, BOOK, "1")
    cache.get(YOURS, BOOK, "1")
    assert len(cache) == 1


def test_forgetting():
    cache = IndexCache()
    cache.get(MINE, BOOK, "1")
    cache.forget(MINE)
    cache.forget(MINE)
    assert len(cache) == 0


def test_the_version_changes_with_what_is_indexed():
    seen = {
        content_version(BOOK),
        content_version(BOOK, date(2026, 3, 4)),
        content_version(BOOK[:1]),
        content_version([Payee(PayeeId("1"), "John Smith", aliases=("Johnny",)), BOOK[1]]),
        content_version([Payee(PayeeId("1"), "John Smith", relationship="boss"), BOOK[1]]),
    }
    assert len(seen) == 5
    assert content_version(BOOK) == content_version(list(BOOK))


def test_recently_paid_come_first_among_equals():
    today = date(2026, 3, 4)
    book = [
        Payee(PayeeId("old"), "Maria Silva", bank="A", last_paid=date(2024, 1, 1)),
        Payee(PayeeId("new"), "Maria Souza", bank="B", last_paid=date(2026, 3, 1)),
    ]
    match = PayeeIndex.build(book, today).lookup(["maria"], EN_US)
    assert [c.id for c in match.candidates] == ["new", "old"]
