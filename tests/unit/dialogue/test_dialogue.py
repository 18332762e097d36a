"""The reducer: what binds a yes, what voids it, and what is come back to."""

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.banking import Account, Transaction, TransactionFilter, TransferOrder, TransferState
from schemas.consent import Consent
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    Handoff,
    ReadPayees,
    ReadTransactions,
    Refuse,
    Reply,
    SubmitTransfer,
)
from schemas.extraction import Extraction, Fallback
from schemas.ids import EN_GB, EN_US, JA_JP, AccountId, BillId, Locale, PayeeId, ProposalId, RuleId
from schemas.intent import Intent, Route, SlotName, Understood
from schemas.money import Money
from schemas.payee import Payee
from schemas.span import MoneyValue
from schemas.stepup import Challenge
from schemas.transfer import TransferReceipt
from services.dialogue import (
    ActionDone,
    ActionFailed,
    Changing,
    DialogueState,
    Event,
    Proposed,
    ReadbackDelivered,
    Reading,
    Silence,
    StepUpFailed,
    StepUpPassed,
    StepUpStarted,
    TransferSettled,
    UserUtterance,
    decide,
    voided,
)
from services.dialogue.advance import advance
from services.dialogue.errands import offer_of
from services.dialogue.phases import Task
from services.dialogue.state import Memory
from services.response import speak
from tests.harness.dialogue import (
    FACTS,
    NOTHING_MADE_OF_IT,
    NOW,
    PAYEES,
    PROFILE,
    RULE,
    SEND,
    YES,
    dollars,
    heard_in,
    proposal,
    read_back,
    run,
    said,
)


def test_an_order_holds_everything_the_caller_agrees_to() -> None:
    _, order = read_back()
    assert order == TransferOrder(AccountId("checking"), PayeeId("ann"), 3, Money(5000, "USD"))


def test_yes_counts_only_after_the_readback_was_delivered() -> None:
    state, _ = read_back()
    early, [again] = run(YES, state=state)
    assert isinstance(again, Confirm)
    assert isinstance(early.phase, Reading)
    _, [submit] = run(YES, state=run(ReadbackDelivered(ProposalId("p1")), state=state)[0])
    assert submit == Execute(SubmitTransfer(ProposalId("p1"), Consent("p1", RULE)))


def test_delivery_of_another_proposal_does_not_count() -> None:
    state, _ = read_back()
    _, [decision] = run(YES, state=run(ReadbackDelivered(ProposalId("p0")), state=state)[0])
    assert not isinstance(decision, Execute)


def test_a_seal_for_another_order_is_not_read() -> None:
    state, [decision] = run(SEND)
    assert isinstance(decision, Confirm)
    other = replace(decision.order, amount=Money(9_999, "USD"))
    after, [answer] = run(Proposed(proposal(other)), state=state)
    assert isinstance(answer, Clarify)
    assert after.proposal is None


@pytest.mark.parametrize(
    "event",
    [
        said(Intent.CORRECT, amount=dollars(60)),
        said(Intent.CANCEL),
        said(Intent.DENY),
        said(Intent.START_OVER),
        said(Intent.BALANCE_INQUIRY),
        said(Intent.TRANSFER_MONEY, amount=dollars(5), payee=PayeeId("bob")),
        said(Intent.HUMAN_HANDOFF),
        UserUtterance("how much is the fee", Understood(Intent.QNA, route=Route.QNA)),
    ],
)
def test_anything_but_yes_voids(event: Event) -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), state=state)
    after, _ = run(event, state=state)
    assert voided(state, after)
    _, [decision] = run(YES, state=after)
    assert not isinstance(decision, Execute)


@pytest.mark.parametrize("consent", [None, Consent("p2", RULE), Consent("person", RULE), Consent("", RULE)])
def test_a_yes_to_nothing_or_to_something_else_does_nothing(consent: Consent | None) -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), state=state)
    meant = Understood(Intent.CONFIRM, route=Route.FAST, confidence=0.99, consent=consent)
    after, decision = decide(state, UserUtterance("fine", meant), FACTS)
    assert isinstance(decision, Clarify), "asked about once, clearly"
    assert decision.reply.id == "consent.transfer"
    again, decision = decide(after, UserUtterance("fine", meant), FACTS)
    assert isinstance(decision, Confirm), "then it is read back again"
    assert isinstance(again.phase, Reading)


def test_what_was_refused_is_not_read_back_as_it_was() -> None:
    state, _ = read_back()
    state, [_, asked] = run(ReadbackDelivered(ProposalId("p1")), said(Intent.DENY), state=state)
    assert isinstance(asked, Clarify)
    assert asked.reply.id == "ask.what_to_change"
    aside, _ = run(said(Intent.RECIPIENT_LOOKUP), state=state)
    listed = ActionDone(ReadPayees((PayeeId("ann"),)))
    after, [decision] = run(listed, state=aside)
    assert isinstance(decision, Clarify), "what to change is asked again"
    assert isinstance(after.phase, Changing)


def test_yes_to_going_on_goes_on() -> None:
    state, order = read_back()
    asked = UserUtterance("how much is the fee", Understood(Intent.QNA, route=Route.QNA))
    for before in ((), (said(Intent.DENY),), (said(Intent.DENY), YES)):
        waiting, _ = run(ReadbackDelivered(ProposalId("p1")), *before, asked, state=state)
        made: list[Decision] = []
        for _ in range(3):
            waiting, [decision] = run(YES, state=waiting)
            made.append(decision)
            if isinstance(decision, Confirm):
                break
        assert made[-1] == Confirm(order), "no question comes again and again"


def test_a_doubtful_yes_is_asked_again() -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), state=state)
    after, [decision] = run(said(Intent.CONFIRM, confidence=0.6), state=state)
    assert isinstance(decision, Confirm)
    assert isinstance(after.phase, Reading)


def test_that_bill_is_the_one_just_asked_about() -> None:
    asked = said(Intent.BILL_INQUIRY, bill=BillId("power"))
    that = said(Intent.BILL_PAYMENT)
    named = replace(that, understood=replace(that.understood, rule=RuleId("intents.ja.bill_payment.that@2")))
    _, [_, decision] = run(asked, named)
    assert isinstance(decision, Confirm)
    assert decision.order.bill_id == "power"
    _, [_, which] = run(asked, that)
    assert isinstance(which, Clarify), "bills in general may be any of them"


def test_no_open_bill_is_left_out_of_the_list() -> None:
    [power, *_] = FACTS.profile.bills
    bills = tuple(replace(power, id=BillId(name), name=name) for name in ("water", "gas", "phone", "card"))
    facts = replace(FACTS, profile=replace(FACTS.profile, bills=bills))
    _, decision = decide(DialogueState(), said(Intent.BILL_INQUIRY), facts)
    assert all(bill.name in repr(decision) for bill in bills)


def test_those_who_were_paid_last_are_told_first() -> None:
    paid = {"bob": date(2026, 11, 1), "grid": date(2026, 11, 3), "ann": None, "eve": None, "cid": date(2026, 11, 1)}
    book = {PayeeId(i): Payee(PayeeId(i), i.title(), last_paid=day) for i, day in paid.items()}
    _, decision = decide(DialogueState(), said(Intent.RECIPIENT_LOOKUP), replace(FACTS, payees=book))
    assert decision == Execute(ReadPayees(tuple(map(PayeeId, ("grid", "bob", "cid", "ann", "eve")))))


def test_payees_in_a_history_are_called_as_they_sound_where_names_are_read() -> None:
    book = {PayeeId("h"): Payee(PayeeId("h"), "佐藤 花子", kana="さとう はなこ")}
    rows = (Transaction("1", AccountId("checking"), date(2026, 11, 3), Money(-500, "USD"), "佐藤 花子"),)
    done = ActionDone(ReadTransactions(TransactionFilter()), transactions=rows)
    for locale, name in ((JA_JP, "さとう はなこ"), (EN_US, "佐藤 花子")):
        _, decision = decide(DialogueState(), done, replace(FACTS, payees=book, locale=locale))
        assert isinstance(decision, Answer)
        assert name in speak(decision.reply or Reply(RuleId("")), locale)


def test_a_model_never_says_yes() -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), state=state)
    for intent in (Intent.CONFIRM, Intent.INFORM, Intent.CORRECT, None):
        extraction = Extraction(intent, None, None, False, Fallback.OK, "m", "1", 1.0)
        _, [decision] = run(UserUtterance("yes", Understood(None, route=Route.EXTRACT), extraction), state=state)
        assert not isinstance(decision, Execute)


def chose(intent: Intent, amount: MoneyValue | None = None, *, sure: bool = True) -> UserUtterance:
    extraction = Extraction(intent, amount, None, not sure, Fallback.OK, "m", "1", 1.0)
    return UserUtterance("words", Understood(None, route=Route.EXTRACT), extraction)


def test_a_model_may_answer_what_was_asked() -> None:
    state, _ = run(said(Intent.TRANSFER_MONEY, payee=PayeeId("ann")))
    assert state.asked is SlotName.AMOUNT
    _, [decision] = run(chose(Intent.INFORM, dollars(50)), state=state)
    assert isinstance(decision, Confirm)
    assert decision.order.amount.minor == 5000


def test_a_model_may_give_up_what_is_at_hand_when_it_is_sure() -> None:
    state, _ = run(said(Intent.TRANSFER_MONEY, payee=PayeeId("ann")))
    doubted, [asked] = run(chose(Intent.CANCEL, sure=False), state=state)
    assert doubted.task is not None
    assert isinstance(asked, Clarify)
    after, [decision] = run(chose(Intent.CANCEL), state=state)
    assert after.task is None
    assert isinstance(decision, Answer)


def test_a_model_s_cancel_with_nothing_at_hand_is_a_question() -> None:
    _, [decision] = run(chose(Intent.CANCEL))
    assert isinstance(decision, Answer)
    assert decision.question == "words"


def test_what_a_model_doubts_is_offered_not_done() -> None:
    _, [decision] = run(chose(Intent.BALANCE_INQUIRY, sure=False))
    assert isinstance(decision, Clarify)
    _, [done] = run(chose(Intent.BALANCE_INQUIRY))
    assert isinstance(done, Execute)


def test_what_a_model_extracts_is_read_back_like_anything_else() -> None:
    extraction = Extraction(Intent.TRANSFER_MONEY, dollars(50), PayeeId("ann"), True, Fallback.OK, "m", "1", 1.0)
    _, [decision] = run(UserUtterance("words", Understood(None, route=Route.EXTRACT), extraction))
    assert isinstance(decision, Confirm)
    assert decision.proposal is None


def test_an_amount_heard_two_ways_is_asked_about_whichever_a_model_takes() -> None:
    extraction = Extraction(Intent.TRANSFER_MONEY, dollars(60), PayeeId("ann"), True, Fallback.OK, "m", "1", 1.0)
    two_ways = replace(extraction, readings=(dollars(16),))
    state, [asked] = run(UserUtterance("words", Understood(None, route=Route.EXTRACT), two_ways))
    assert isinstance(asked, Clarify)
    assert (asked.reply.id, len(asked.choices)) == ("ask.amount_which", 2)
    _, [decision] = run(said(Intent.INFORM, amount=dollars(16)), state=state)
    assert isinstance(decision, Confirm)
    assert decision.order.amount.minor == 1600


@pytest.mark.parametrize(
    ("slots", "reply"),
    [
        ({"amount": dollars(0), "payee": PayeeId("ann")}, "problem.amount_positive"),
        ({"amount": MoneyValue(-500, "USD"), "payee": PayeeId("ann")}, "problem.amount_positive"),
        ({"amount": dollars(900), "payee": PayeeId("ann")}, "problem.limit"),
        ({"amount": MoneyValue(500, "EUR"), "payee": PayeeId("ann")}, "problem.currency"),
        ({"amount": dollars(5), "payee": PayeeId("gone")}, "problem.payee_gone"),
        (
            {"amount": dollars(5), "source": AccountId("savings"), "target": AccountId("savings")},
            "problem.same_account",
        ),
    ],
)
def test_policy_refuses_before_the_ledger(slots: dict[str, object], reply: str) -> None:
    _, [decision] = run(said(Intent.TRANSFER_MONEY, **slots))
    assert isinstance(decision, Clarify)
    assert decision.reply.id == reply


def test_funds_are_checked() -> None:
    poor = replace(PROFILE.accounts[0], available=Money(100, "USD"))
    facts = replace(FACTS, profile=replace(PROFILE, accounts=(poor, PROFILE.accounts[1])))
    _, decision = decide(DialogueState(), SEND, facts)
    assert isinstance(decision, Clarify)
    assert decision.reply.id == "problem.funds"


def test_step_up_then_the_same_proposal() -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), YES, state=state)
    state, [asked] = run(StepUpStarted(Challenge("1", "p1", "the app", NOW)), state=state)
    assert isinstance(asked, Clarify)
    _, [again] = run(StepUpFailed(), state=state)
    assert isinstance(again, Clarify)
    _, [given_up] = run(StepUpFailed(final=True), state=state)
    assert isinstance(given_up, Answer)
    _, [submit] = run(StepUpPassed(), state=state)
    assert submit == Execute(SubmitTransfer(ProposalId("p1"), Consent("p1", RULE)))


def test_unknown_is_never_called_a_failure() -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), YES, state=state)
    for outcome in (TransferState.UNKNOWN, TransferState.SUBMITTING):
        _, [decision] = run(TransferSettled(TransferReceipt(ProposalId("p1"), outcome)), state=state)
        assert isinstance(decision, Answer)
        assert decision.reply is not None
        assert decision.reply.id == "transfer.unknown"


def test_a_refusal_of_the_ledger_names_its_reason() -> None:
    state, _ = read_back()
    state, _ = run(ReadbackDelivered(ProposalId("p1")), YES, state=state)
    receipt = TransferReceipt(ProposalId("p1"), TransferState.FAILED, reason="limit_exceeded")
    _, [decision] = run(TransferSettled(receipt), state=state)
    assert isinstance(decision, Answer)
    assert decision.reply is not None
    assert "limit" in speak(decision.reply, EN_US)


def test_two_prompts_then_a_person_is_offered() -> None:
    for event in (Silence(), NOTHING_MADE_OF_IT):
        state, made = run(event, event, event)
        assert [type(d) for d in made] == [Clarify, Clarify, Clarify]
        _, [silent] = run(Silence(), state=state)
        assert isinstance(silent, Handoff)
        _, [missed] = run(NOTHING_MADE_OF_IT, state=state)
        assert isinstance(missed, Clarify), "words that are no yes bring nobody in"


AMOUNTS = st.integers(-5, 1200).map(dollars)
UTTERANCES = st.one_of(
    st.sampled_from(
        [
            YES,
            SEND,
            *(said(i) for i in Intent if i is not Intent.QNA),
            said(Intent.CONFIRM, 0.5),
            Silence(),
            NOTHING_MADE_OF_IT,
        ]
    ),
    st.builds(lambda a: said(Intent.CORRECT, amount=a), AMOUNTS),
    st.builds(lambda a: said(Intent.INFORM, amount=a), AMOUNTS),
    st.builds(lambda p: said(Intent.INFORM, payee=p), st.sampled_from(list(PAYEES))),
    st.builds(lambda c: said(Intent.INFORM, choice=c), st.integers(-1, 4)),
    st.just(said(Intent.BILL_PAYMENT, bill=BillId("power"))),
    st.just(said(Intent.TRANSFER_MONEY, target=AccountId("savings"))),
    st.just(ActionFailed("bank_unavailable", "error.bank_unavailable")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(UTTERANCES, st.booleans()), max_size=14))
def test_money_is_submitted_only_for_what_was_heard_and_agreed(turns: list[tuple[Event, bool]]) -> None:
    state, made, delivered = DialogueState(), 0, None
    for event, hears in turns:
        before = state
        understood = heard_in(state, event)
        state, decision = decide(state, understood, FACTS)
        assert (state, decision) == decide(before, understood, FACTS)
        if isinstance(decision, Execute) and isinstance(decision.action, SubmitTransfer):
            assert event == YES
            assert decision.action.consent.to == decision.action.proposal
            assert delivered == decision.action.proposal
            receipt = TransferReceipt(decision.action.proposal, TransferState.SUCCEEDED)
            state, decision = decide(state, TransferSettled(receipt), FACTS)
            delivered = None
        if isinstance(decision, Confirm) and decision.proposal is None:
            made += 1
            state, decision = decide(state, Proposed(proposal(decision.order, made)), FACTS)
            assert isinstance(decision, Confirm)
        if isinstance(decision, Confirm):
            assert decision.proposal == f"p{made}"
            delivered = ProposalId(f"p{made}") if hears else None
            state = decide(state, ReadbackDelivered(delivered), FACTS)[0] if delivered is not None else state
        elif voided(before, state):
            delivered = None
        if isinstance(decision, Answer | Clarify | Confirm | Handoff | Refuse) and decision.reply is not None:
            assert speak(decision.reply, EN_US)


ORDER = Task(Intent.TRANSFER_MONEY, amounts=(MoneyValue(5000, None), MoneyValue(1500, None)), payee=PayeeId("ann"))
HISTORY = Task(Intent.RECENT_TRANSACTIONS, at_least=MoneyValue(5000, None))


@pytest.mark.parametrize(("locale", "own"), [(EN_US, "USD"), (EN_GB, "GBP"), (JA_JP, "JPY")])
def test_an_amount_without_a_currency_and_a_caller_without_accounts(locale: Locale, own: str) -> None:
    facts = replace(FACTS, profile=replace(PROFILE, accounts=()), locale=locale)
    _, which = advance(Memory(), ORDER, facts)
    assert isinstance(which, Clarify)
    assert which.reply.params["amounts"] == (Money(5000, own), Money(1500, own))
    assert offer_of(replace(ORDER, amounts=ORDER.amounts[:1]), facts).params["amount"] == Money(5000, own)
    assert advance(Memory(), HISTORY, facts)[1] == Execute(
        ReadTransactions(TransactionFilter(limit=3, at_least=(Money(5000, own),)))
    )


def test_the_history_of_an_account_in_another_currency() -> None:
    yen = Money(100_000, "JPY")
    facts = replace(
        FACTS, profile=replace(PROFILE, accounts=(*PROFILE.accounts, Account(AccountId("yen"), "", "", yen, yen)))
    )
    _, asked = advance(Memory(), replace(HISTORY, account=AccountId("yen")), facts)
    assert isinstance(asked, Execute)
    assert isinstance(asked.action, ReadTransactions)
    assert asked.action.filter.at_least == (Money(50, "JPY"),)
