"""An amount whose currency nobody named is in the account's, or in the caller's own; one without accounts has that."""

from dataclasses import replace

import pytest

from schemas.banking import Account
from schemas.decision import Clarify, Decision, Execute, ReadTransactions, Refuse
from schemas.ids import EN_GB, EN_US, JA_JP, AccountId, Locale, PayeeId
from schemas.intent import Intent
from schemas.money import Money
from schemas.span import MoneyValue
from services.dialogue.advance import advance
from services.dialogue.errands import offer_of
from services.dialogue.events import Facts
from services.dialogue.phases import Memory, Task
from tests.harness.dialogue import FACTS

NAKED = MoneyValue(5000, None)
EITHER = (NAKED, MoneyValue(1500, None))


def having(*accounts: Account, locale: Locale = EN_US) -> Facts:
    return replace(FACTS, profile=replace(FACTS.profile, accounts=accounts), locale=locale)


def decided(task: Task, facts: Facts) -> Decision:
    return advance(Memory(), task, facts)[1]


def listed(facts: Facts, account: AccountId | None = None) -> Money | None:
    decision = decided(Task(Intent.RECENT_TRANSACTIONS, account=account, at_least=NAKED), facts)
    assert isinstance(decision, Execute)
    assert isinstance(decision.action, ReadTransactions)
    return decision.action.filter.at_least


@pytest.mark.parametrize(("locale", "own"), [(EN_US, "USD"), (EN_GB, "GBP"), (JA_JP, "JPY")])
def test_a_caller_without_accounts(locale: Locale, own: str) -> None:
    facts, order = having(locale=locale), Task(Intent.TRANSFER_MONEY, amounts=EITHER, payee=PayeeId("ann"))
    which = decided(order, facts)
    assert isinstance(which, Clarify)
    assert which.reply.params["amounts"] == tuple(Money(each.amount_minor, own) for each in EITHER)
    alone = replace(order, amounts=(NAKED,))
    assert offer_of(alone, facts).params["amount"] == Money(5000, own)
    assert listed(facts) == Money(5000, own)
    for each in Intent:
        assert decided(replace(alone, intent=each, payee=None, bill=None), facts) is not None
    assert isinstance(decided(alone, facts), Clarify | Refuse)


def test_an_account_in_another_currency() -> None:
    pounds, yen = Money(100_000, "GBP"), Money(100_000, "JPY")
    one, other = Account(AccountId("pounds"), "main", "0001", pounds, pounds), AccountId("yen")
    facts = having(one, Account(other, "yen", "0002", yen, yen))
    assert [listed(facts, each) for each in (None, one.id, other)] == [
        Money(5000, "GBP"),
        Money(5000, "GBP"),
        Money(50, "JPY"),
    ]
