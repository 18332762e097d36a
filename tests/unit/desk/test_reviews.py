"""Two people, and the steps from a machine's label to a settled one."""

from datetime import UTC, datetime

import pytest
from pydantic import JsonValue

from app.qa.desk.agreement import agreement, by_field, pair_of
from app.qa.desk.reviews import MAX_ENTRIES, Review, ReviewAction, ReviewEntry, ReviewState, read_labels
from app.qa.replay.manifests.manifest import Expectation, MoneyMove
from schemas.errors import MalformedMessage, WrongState

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
BALANCE, LOCK = Expectation(intent="balance_inquiry"), Expectation(intent="card_lock")


def said(by: str, labels: Expectation = BALANCE, action: str = "review") -> ReviewEntry:
    return ReviewEntry(by=by, at=NOON, action=ReviewAction(action), labels=labels)


def after(*entries: ReviewEntry) -> Review:
    review = Review()
    for entry in entries:
        review = review.after(entry)
    return review


@pytest.mark.parametrize(
    ("entries", "state"),
    [
        ((), "machine"),
        ((said("ann"),), "reviewed"),
        ((said("ann"), said("ann", LOCK)), "reviewed"),
        ((said("ann"), said("bob")), "settled"),
        ((said("ann"), said("bob", LOCK)), "disputed"),
        ((said("ann", LOCK), said("ann"), said("bob")), "settled"),
        ((said("ann"), said("bob", LOCK), said("ann", LOCK, "settle")), "settled"),
        ((said("ann"), said("bob", LOCK), said("bob", BALANCE, "settle")), "settled"),
        ((said("ann"), said("bob", LOCK), said("cleo", Expectation(intent="help"), "settle")), "settled"),
    ],
)
def test_steps(entries: tuple[ReviewEntry, ...], state: str) -> None:
    assert after(*entries).state == state


@pytest.mark.parametrize(
    ("entries", "last", "why"),
    [
        ((), said("ann", action="settle"), "machine has nothing to settle"),
        ((said("ann"),), said("bob", action="settle"), "reviewed has nothing to settle"),
        ((said("ann"), said("bob", LOCK)), said("bob", LOCK, "settle"), "party to a dispute"),
        ((said("ann"), said("bob", LOCK)), said("ann", BALANCE, "settle"), "party to a dispute"),
        ((said("ann"), said("bob", LOCK)), said("ann", Expectation(intent="help"), "settle"), "party to a dispute"),
        ((said("ann"), said("bob", LOCK)), said("cleo"), "disputed takes no further review"),
        ((said("ann"), said("bob")), said("cleo"), "settled takes no further review"),
        ((said("ann"), said("bob")), said("cleo", action="settle"), "settled has nothing to settle"),
        ((said("ann"),) * MAX_ENTRIES, said("ann"), "at most"),
    ],
)
def test_steps_that_are_refused(entries: tuple[ReviewEntry, ...], last: ReviewEntry, why: str) -> None:
    review = after(*entries)
    with pytest.raises(WrongState, match=why):
        review.after(last)


def test_a_second_look_is_blind() -> None:
    review = after(said("ann"))
    assert review.shown_to("ann").entries
    assert not review.shown_to("bob").entries
    assert review.shown_to("bob").state is ReviewState.REVIEWED
    assert len(review.after(said("bob", LOCK)).shown_to("bob").entries) == 2


def test_labels_hold_where_nobody_disagrees() -> None:
    assert after(said("ann")).labels == BALANCE
    assert after(said("ann"), said("bob", LOCK)).labels is None
    assert after(said("ann"), said("bob", LOCK), said("ann", LOCK, "settle")).labels == LOCK
    assert Review().labels is None


def test_white_space_and_capitals_are_no_dispute() -> None:
    one, other = Expectation(transcript="Send  it"), Expectation(transcript="send it")
    assert after(said("ann", one), said("bob", other)).state is ReviewState.SETTLED
    money = Expectation(money=(MoneyMove(amount_minor=1, currency="USD"),))
    more = Expectation(money=(MoneyMove(amount_minor=10, currency="USD"),))
    assert after(said("ann", money), said("bob", more)).state is ReviewState.DISPUTED
    assert after(said("ann", money), said("bob", Expectation(money=()))).state is ReviewState.DISPUTED


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"intnet": "help"}, "unknown field 'intnet': did you mean intent?"),
        ({"intent": "balance_enquiry"}, "did you mean balance_inquiry?"),
        ({"payee": "catherine-nguyem"}, "did you mean catherine-nguyen?"),
        ({"slots": {"payee": "nobody-at-all"}}, "unknown payee"),
        ({"slots": {"amuont": 1}}, "did you mean amount?"),
        ({"decision": "maybe"}, "unknown decision"),
        ({"by_machine": ["intent"]}, "unknown field 'by_machine'"),
        ({"money": "fifty"}, "labels can't be read: money"),
        ({}, "names a field"),
        ({"intent": None}, "names a field"),
    ],
)
def test_labels_that_mean_nothing(labels: dict[str, JsonValue], why: str) -> None:
    with pytest.raises(MalformedMessage, match=why.replace("?", r"\?")):
        read_labels(labels, frozenset({"catherine-nguyen", "grace-lee"}))


def test_agreement_by_hand() -> None:
    """Cohen's own shape: 20 yes-yes, 15 no-no, 5 and 10 apart: po 0.7, pe 0.5."""
    pairs = [("y", "y")] * 20 + [("n", "n")] * 15 + [("y", "n")] * 5 + [("n", "y")] * 10
    found = agreement(pairs)
    assert (found.pairs, found.same) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [([], None), ([("a", "a")] * 9, None), ([("a", "a"), ("b", "b")], 1.0), ([("a", "b"), ("b", "a")], -1.0)],
)
def test_agreement_at_its_ends(pairs: list[tuple[str, str]], kappa: float | None) -> None:
    assert agreement(pairs).kappa == kappa


def test_agreement_counts_what_two_people_said_before_it_was_settled() -> None:
    reviews = [
        after(said("ann")),  # one person
        after(said("ann", LOCK), said("ann"), said("bob")),
        after(said("ann"), said("bob", LOCK), said("ann", LOCK, "settle")),
        after(said("bob", LOCK), said("ann", LOCK)),
    ]
    pairs = [pair for review in reviews if (pair := pair_of(review)) is not None]
    assert "lock" not in str(pairs), "what was said is not kept in memory"
    found = by_field(pairs)["intent"]
    assert (found.pairs, found.same) == (3, pytest.approx(2 / 3))
    assert found.kappa == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert by_field(pairs)["payee"].pairs == 0
