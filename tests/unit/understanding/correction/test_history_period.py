"""Of a history, the days are those that were: the last of a name, up to today where they only begin."""

import pytest

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.player import ConversationPlayer, PlayTally
from schemas.decision import Confirm, Execute, ReadTransactions


@pytest.mark.parametrize(
    ("customer", "said", "since", "until"),
    [
        ("alex-morgan", "what did I spend on monday", "2026-11-16", "2026-11-16"),
        ("alex-morgan", "what did I buy on the 15th", "2026-11-15", "2026-11-15"),
        ("alex-morgan", "how much came in since october", "2026-10-01", "None"),
        ("alex-morgan", "what have I spent since the first of november", "2026-11-01", "None"),
        ("alex-morgan", "what did I spend before november", "None", "2026-10-31"),
        ("alex-morgan", "what did I spend up to november 5th", "None", "2026-11-05"),
        ("alex-morgan", "what came in between october and november", "2026-10-01", "2026-11-30"),
        ("alex-morgan", "transactions from october 1st until october 20th", "2026-10-01", "2026-10-20"),
        ("takahashi-misaki", "月曜に何に使った", "2026-11-16", "2026-11-16"),
        ("takahashi-misaki", "10月以降の入金を教えて", "2026-10-01", "None"),
        ("takahashi-misaki", "10月1日から10月20日までの取引を教えて", "2026-10-01", "2026-10-20"),
    ],
)
def test_days_that_were(customer: str, said: str, since: str, until: str) -> None:
    _, decisions = ConversationPlayer.of(customer).call(PlayTally()).play(Turn(say=said))
    read = [d.action for d in decisions if isinstance(d, Execute) and isinstance(d.action, ReadTransactions)]
    assert [(str(each.filter.since), str(each.filter.until)) for each in read] == [(since, until)]


@pytest.mark.parametrize("said", ["give ken back his forty he lent me on sunday", "send dave the 30 he lent me friday"])
def test_a_day_on_which_it_was_lent_is_none_of_the_order(said: str) -> None:
    _, decisions = ConversationPlayer.of("alex-morgan").call(PlayTally()).play(Turn(say=said))
    assert [d.order.on for d in decisions if isinstance(d, Confirm)][-1:] == [None]
