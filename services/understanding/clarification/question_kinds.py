"""The questions that patterns ask for, by their names: what each is read as, and where it may be asked."""

from typing import Final, NamedTuple

from schemas.intent import Intent, Topic


class QuestionKind(NamedTuple):
    """What a pattern of this name asks. `bills`: how many are named; one too few, and it is the one just told."""

    intent: Intent
    topic: str = ""
    when: str = "idle"
    bills: tuple[int, ...] = (0,)
    days: int = 0


FURTHER: Final = QuestionKind(Intent.RECENT_TRANSACTIONS, "", Intent.RECENT_TRANSACTIONS)
KINDS: Final = {
    "that_much": QuestionKind(Intent.INFORM, Topic.THAT_MUCH, "order"),
    "enough": QuestionKind(Intent.BALANCE_INQUIRY, Topic.ENOUGH, "any", (0, 1, 2)),
    "left_if_paid": QuestionKind(Intent.BALANCE_INQUIRY, Topic.LEFT, "billed", (0, 1, 2), 1),
    "sum_due": QuestionKind(Intent.BILL_INQUIRY, Topic.TOTAL, "idle", (2,)),
    "first_of": QuestionKind(Intent.BILL_INQUIRY, Topic.FIRST, "idle", (2,)),
    "first_paid": QuestionKind(Intent.BILL_PAYMENT, "", "idle", (2,)),
    "first_due": QuestionKind(Intent.BILL_PAYMENT, "", Intent.BILL_INQUIRY),
    "due_of_it": QuestionKind(Intent.BILL_INQUIRY, "", "billed", (0, 1), 1),
    "due_then": QuestionKind(Intent.BILL_INQUIRY, Topic.WHETHER, "billed", (0, 1), 1),
    "largest_due": QuestionKind(Intent.BILL_INQUIRY),
    "paid_yet": QuestionKind(Intent.BILL_INQUIRY, Topic.WHETHER, "billed"),
    "others_due": QuestionKind(Intent.BILL_INQUIRY, Topic.OTHERS, "billed"),
    "paid_last": QuestionKind(Intent.RECENT_TRANSACTIONS, "", "idle", (1,), 2),
    "paid_then": QuestionKind(Intent.RECENT_TRANSACTIONS, "", "billed", (0, 1), 1),
    "owed_now": QuestionKind(Intent.BILL_PAYMENT, "", "idle", (0,), 1),
    "limit_asked": QuestionKind(Intent.QNA, "", "any", days=1),
    "sum_at_once": QuestionKind(Intent.QNA, "", "any", days=1),
    "limit_again": QuestionKind(Intent.QNA, "", Intent.QNA, days=1),
    "charged": QuestionKind(Intent.RECENT_TRANSACTIONS),
    "may_send": QuestionKind(Intent.QNA, "", "any", days=1),
    "arrives": QuestionKind(Intent.QNA, "", "any"),
    "of_all_told": FURTHER,
    "of_some_size": FURTHER,
    "last_time": FURTHER,
    "one_before": FURTHER,
    "stretch_before": FURTHER,
    "others": QuestionKind(Intent.RECENT_TRANSACTIONS, "", Intent.RECENT_TRANSACTIONS, days=1),
    "of_history": FURTHER,
    "last_of_it": FURTHER,
    "due_now": QuestionKind(Intent.BILL_INQUIRY, "", Intent.BILL_INQUIRY),
    "balance_now": QuestionKind(Intent.BALANCE_INQUIRY, days=1),
    "that_card": QuestionKind(Intent.CARD_LOCK, Topic.WHETHER, Intent.CARD_LOCK),
    "new_card": QuestionKind(Intent.QNA, "", Intent.CARD_LOCK),
    "as_then": QuestionKind(Intent.TRANSFER_MONEY, "", Intent.RECENT_TRANSACTIONS, days=1),
    "last_few": QuestionKind(Intent.RECENT_TRANSACTIONS),
    "income_asked": QuestionKind(Intent.RECENT_TRANSACTIONS, Topic.RECEIVED, days=1),
    "come_in_then": QuestionKind(Intent.RECENT_TRANSACTIONS, Topic.WHETHER, Intent.RECENT_TRANSACTIONS, days=1),
    "same_history": FURTHER,
    "that_shop": FURTHER,
    "cost_then": QuestionKind(Intent.RECENT_TRANSACTIONS),
    "told_shop": QuestionKind(Intent.RECENT_TRANSACTIONS, Topic.TOTAL, days=1),
    "come_from": QuestionKind(Intent.RECENT_TRANSACTIONS, Topic.RECEIVED, days=1),
    "next_income": QuestionKind(Intent.RECENT_TRANSACTIONS, Topic.NEXT),
}
UNLIKE_ORDERS: Final = frozenset(
    {"limit_asked", "first_paid", "sum_due", "last_few", "as_then", "enough", "due_then", "sum_at_once"}
)
UNREAD: Final = frozenset({"arrives", "of_all_told"})
"""Only where no rule has read the words."""
TOPICS: Final = {"most": Topic.LARGEST, "least": Topic.SMALLEST, "out": Topic.SPENT, "came": Topic.RECEIVED}
BOUNDS: Final = {"over": "at_least", "under": "at_most"}
SHOPS: Final = frozenset({"same_history", "that_shop", "cost_then", "charged"})
ONE: Final = frozenset({"one_before", "of_history", "last_of_it", "paid_last", "paid_then"})
COUNTS: Final = frozenset({"last_few", "income_asked"})
"""Where a number is how many are asked for."""
PAID, OWED, DUE, EVERY = "paid_then", "owed_now", "due_of_it", "every"
INCOME, COME, SUM, NOW = "income_asked", "come_in_then", "total", "balance_now"
OTHERS: Final = "others"
AS_SAID: Final = "limit_again"
"""Where "in a day" is no date."""
SHOP, FROM, NEXT = "told_shop", "come_from", "next_income"
CREDITS: Final = frozenset({INCOME, COME, FROM, NEXT})
DATED: Final = frozenset({PAID, INCOME, SHOP, FROM, OTHERS})
"""Of the days that are named."""
HISTORIES: Final = frozenset({None, Intent.QNA, Intent.RECENT_TRANSACTIONS, Intent.BALANCE_INQUIRY})
"""What the words may have been read as, where they ask for credits or what was spent at a shop."""
OF_ANY: Final = frozenset({PAID, OWED})
"""Of a bill of nobody's here as well, or of that alone."""
