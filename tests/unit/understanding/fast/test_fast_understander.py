"""Understanding by hand-made spans: slots with evidence, vetoes, ties, doubt, what is named in vain."""

from dataclasses import replace
from datetime import date

import pytest

from schemas.banking import Account, Bill, Card
from schemas.ids import EN_US, JA_JP, AccountId, BillId, CardId, Locale, PayeeId, RuleId
from schemas.intent import Annotation, Context, Intent, Route, SlotName, Understood
from schemas.money import Money
from schemas.payee import MatchOutcome, PayeeCandidate, PayeeMatch
from schemas.span import MoneyValue, Span, SpanKind
from schemas.transcript import Hypothesis, Transcript
from services.understanding.fast import Understander

ONE = Money(100, "USD")
CONTEXT = Context(
    accounts=(
        Account(AccountId("checking"), "Everyday Checking", "0001", ONE, ONE),
        Account(AccountId("savings"), "savings", "0002", ONE, ONE),
    ),
    cards=(Card(CardId("debit"), "debit card", "0003", locked=False),),
    bills=(Bill(BillId("power"), "electricity", PayeeId("p9"), ONE, date(2026, 12, 1)),),
)


def heard(
    text: str,
    money: str = "",
    payee: str = "",
    outcome: MatchOutcome = MatchOutcome.CLEAR,
    locale: Locale = EN_US,
    hypotheses: tuple[Hypothesis, ...] = (),
) -> Annotation:
    transcript = Transcript.typed(text, locale)
    if hypotheses:
        transcript = replace(transcript, hypotheses=hypotheses)
    spans = ()
    if money:
        start = text.index(money)
        value = MoneyValue(5000, "USD")
        spans = (Span(SpanKind.MONEY, money, start, start + len(money), value, RuleId("money@1")),)
    match = None
    if payee:
        start = text.index(payee)
        clear = outcome is MatchOutcome.CLEAR
        found = (PayeeCandidate(PayeeId("p1"), payee, "", 0.98),) if outcome is not MatchOutcome.NOBODY else ()
        match = PayeeMatch(
            payee, start, start + len(payee), found, outcome, PayeeId("p1") if clear else None, len(found)
        )
    return Annotation(transcript, spans, match)


def understand(text: str, *, context: Context = CONTEXT, locale: Locale = EN_US, **parts: object) -> Understood:
    return Understander.for_locale(locale).understand(heard(text, locale=locale, **parts), context)  # type: ignore[arg-type]


def test_slots_carry_the_words_behind_them() -> None:
    text = "Please send $50 to Ann from savings"
    found = understand(text, money="$50", payee="Ann")
    assert (found.intent, found.route, found.missing) == (Intent.TRANSFER_MONEY, Route.FAST, ())
    assert found.slots.amount is not None
    assert found.slots.payee is not None
    assert found.slots.source is not None
    for slot, words in ((found.slots.amount, "$50"), (found.slots.payee, "Ann"), (found.slots.source, "savings")):
        assert slot.evidence.surface == words
        assert text[slot.evidence.start : slot.evidence.end] == words
    assert found.slots.amount.value == MoneyValue(5000, "USD")
    assert found.rule is not None
    assert found.rule.startswith("intents.en.transfer_money.")


def test_an_amount_is_never_a_wildcard() -> None:
    found = understand("send heaps to ann", payee="ann")
    assert found.slots.amount is None
    assert found.route is not Route.FAST or SlotName.AMOUNT in found.missing


@pytest.mark.parametrize(
    ("text", "veto"),
    [
        ("why did you send fifty to ann", "veto.question"),
        ("don't send fifty to ann", "veto.negation"),
        ("i sent fifty to ann", "veto.past"),
        ("send fifty to ann if she asks", "veto.conditional"),
        ("my boss told me to send fifty to ann", "veto.reported"),
        ("send fifty to ann every month", "veto.recurring"),
    ],
)
def test_vetoes_stop_money(text: str, veto: str) -> None:
    found = understand(text, money="fifty", payee="ann")
    assert found.intent is not Intent.TRANSFER_MONEY
    assert veto in found.vetoes


def test_ways_of_asking_are_no_vetoes() -> None:
    for text in (
        "could you send fifty to ann",
        "i was wondering if you could send fifty to ann",
        "if you don't mind send fifty to ann",
        "send fifty to ann when you get a chance",
    ):
        assert understand(text, money="fifty", payee="ann").intent is Intent.TRANSFER_MONEY, text


def test_what_is_named_in_vain_is_never_taken_for_another() -> None:
    gas = understand("pay my gas bill")
    assert (gas.intent, gas.slots.bill, gas.missing) == (Intent.BILL_PAYMENT, None, (SlotName.BILL,))
    assert [m.slot for m in gas.unresolved] == [SlotName.BILL]
    plumber = understand("send fifty to my plumber", money="fifty")
    assert plumber.intent is Intent.TRANSFER_MONEY
    assert [(m.slot, m.evidence.surface) for m in plumber.unresolved] == [(SlotName.PAYEE, "plumber")]
    account = understand("what is the balance of my wells fargo account")
    assert account.slots.account is None
    assert [m.slot for m in account.unresolved] == [SlotName.ACCOUNT]


def test_a_name_seen_by_the_grammar_alone_is_looked_up() -> None:
    asked: list[str] = []

    def find(name: str) -> PayeeMatch:
        asked.append(name)
        return PayeeMatch(name, 0, len(name), (), MatchOutcome.CLEAR, PayeeId("p7"))

    said = heard("send fifty to zed", money="fifty")
    found = Understander.for_locale(EN_US).understand(said, CONTEXT, find)
    assert asked == ["zed"]
    assert found.slots.payee is not None
    assert (found.slots.payee.value, found.unresolved) == ("p7", ())


def test_near_ties_are_left_to_the_caller() -> None:
    found = understand("send fifty to ann", money="fifty", payee="ann", outcome=MatchOutcome.ASK)
    assert found.slots.payee is None
    assert found.missing == (SlotName.PAYEE,)
    assert found.payees is not None


def test_doubt_lowers_confidence() -> None:
    text = "send fifty to ann"
    clear = understand(text, money="fifty", payee="ann")
    poor = understand(text, money="fifty", payee="ann", hypotheses=(Hypothesis(text, -1.5),))
    torn = understand(
        text, money="fifty", payee="ann", hypotheses=(Hypothesis(text, 0.0), Hypothesis("lend fifteen to dan", 0.0))
    )
    assert poor.confidence < clear.confidence
    assert torn.confidence < clear.confidence
    awful = understand(text, money="fifty", payee="ann", hypotheses=(Hypothesis(text, -2.4),))
    assert awful.route is Route.EXTRACT


def test_two_commands_in_one_breath() -> None:
    found = understand("freeze my debit card and then send fifty to ann", money="fifty", payee="ann")
    assert found.intent is Intent.CARD_LOCK
    assert found.then is not None
    assert found.then.intent is Intent.TRANSFER_MONEY
    assert found.then.slots.payee is not None


def test_answers_count_only_where_something_was_asked() -> None:
    assert understand("fifty", money="fifty").intent is None
    asked = replace(CONTEXT, asked=SlotName.AMOUNT)
    assert understand("fifty", money="fifty", context=asked).intent is Intent.INFORM


@pytest.mark.parametrize("text", ["", "   ", "?!", "😀", "a" * 5000, "send " * 300, "\u202e\u0000", "送" * 900])
@pytest.mark.parametrize("locale", [EN_US, JA_JP])
def test_any_text_is_survived(text: str, locale: Locale) -> None:
    found = understand(text, locale=locale)
    assert found.intent not in {Intent.TRANSFER_MONEY, Intent.BILL_PAYMENT} or found.slots.amount is None


def test_words_slip_but_names_do_not() -> None:
    assert understand("whats my acount balanse").intent is Intent.BALANCE_INQUIRY
    slipped = understand("send fifty to trasnfer", money="fifty")
    assert slipped.slots.payee is None


def test_japanese_without_spaces() -> None:
    text = "普通預金の残高を教えてください"
    found = understand(text, locale=JA_JP, context=Context(accounts=(Account(AccountId("f"), "普通", "1", ONE, ONE),)))
    assert found.intent is Intent.BALANCE_INQUIRY
    assert found.slots.account is not None
    assert found.slots.account.evidence.surface.startswith("普通")
