"""The pipeline on real stages: sandbox bank, real ledger, real rules. The caller types; nothing is recognised."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from app.bootstrap import Gateway
from rules.act import money_policy
from schemas.answer import Question
from schemas.banking import TransferState
from schemas.call import Patience
from schemas.decision import DecisionKind
from schemas.ids import EN_US, JA_JP, CallId, CustomerId, Locale
from schemas.intent import Intent
from schemas.interpretation import Interpretation
from schemas.transcript import Transcript
from schemas.turn import (
    Awaits,
    Completeness,
    Decided,
    ReadBackReady,
    ReplyDone,
    ReplyEvent,
    ReplyId,
    ReplyText,
    TransferMoved,
)
from services.answering.quote import Library
from services.answering.retrieve import RetrievalResult
from services.audio.completeness import CompletenessJudge
from services.call.agent import Agent
from services.call.stranger import Stranger
from services.interpretation import InterpretationContext, interpret, interpreter
from services.observability.metrics import Stamps
from services.payees import PayeeIndex
from services.ports import Clock
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.app import running_app

T = TypeVar("T")
ALEX = CustomerId("alex-morgan")
MISAKI = CustomerId("takahashi-misaki")


@dataclass
class Talk:
    """A caller who hears every reply out, unless told otherwise."""

    turn: Agent | Stranger
    locale: Locale
    said: int = 0
    events: list[ReplyEvent] = field(default_factory=list)

    @property
    def reply(self) -> ReplyId:
        return ReplyId(f"reply-{self.said}")

    async def say(self, text: str, *, hear_out: bool = True) -> list[ReplyEvent]:
        self.said += 1
        self.events = [e async for e in self.turn.take(Transcript.typed(text, self.locale), self.reply)]
        if hear_out:
            await self.turn.delivered(self.reply)
        return self.events

    def only(self, kind: type[T]) -> T:
        found = [e for e in self.events if isinstance(e, kind)]
        assert len(found) == 1, f"{len(found)} of {kind.__name__}"
        return found[0]

    @property
    def words(self) -> str:
        return " ".join(e.text for e in self.events if isinstance(e, ReplyText))


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with running_app(tmp_path, FakeRecognizer(lambda _seconds: "")) as app:
        yield app.gateway


@pytest.fixture
async def alex(bank: Gateway) -> Talk:
    return Talk(await bank.callers.open(ALEX, CallId("call-1"), EN_US), EN_US)


async def balance_of(bank: Gateway, customer: CustomerId) -> int:
    return sum(account.balance.minor for account in await bank.callers.banking.bank.accounts(customer))


def judged(alex: Talk, transcript: Transcript) -> Completeness:
    return CompletenessJudge(transcript.locale, Patience()).judge(alex.turn.interpret(transcript))


async def code_to_unlock(bank: Gateway, alex: Talk) -> str:
    await alex.say("lock my debit card")
    await alex.say("unlock my debit card")
    assert bank.phone is not None
    code = bank.phone.shown(ALEX)
    assert code is not None
    return code


async def test_a_transfer_is_read_back_confirmed_and_booked_once(bank: Gateway, alex: Talk) -> None:
    before = await balance_of(bank, ALEX)
    await alex.say("send fifty dollars to catherine nguyen")
    assert alex.only(Decided).decision.kind is DecisionKind.CONFIRM
    assert alex.only(ReadBackReady).proposal.order.amount.minor == 5000
    assert alex.only(ReplyDone).awaits is Awaits.CONFIRMATION
    assert "50 dollars" in alex.words
    assert "Catherine Nguyen" in alex.words
    assert await balance_of(bank, ALEX) == before
    await alex.say("yes")
    assert alex.only(TransferMoved).receipt.state is TransferState.SUCCEEDED
    assert await balance_of(bank, ALEX) == before - 5000
    await alex.say("yes")
    assert await balance_of(bank, ALEX) == before - 5000


async def test_a_yes_before_the_read_back_was_heard_moves_nothing(bank: Gateway, alex: Talk) -> None:
    before = await balance_of(bank, ALEX)
    await alex.say("send fifty dollars to catherine nguyen", hear_out=False)
    await alex.turn.interrupted(alex.reply)
    await alex.say("yes")
    assert not [e for e in alex.events if isinstance(e, TransferMoved)]
    assert await balance_of(bank, ALEX) == before


async def test_a_correction_voids_what_was_read_back(bank: Gateway, alex: Talk) -> None:
    await alex.say("send fifty dollars to catherine nguyen")
    first = alex.only(ReadBackReady).proposal
    await alex.say("no make it sixty")
    second = alex.only(ReadBackReady).proposal
    assert second.order.amount.minor == 6000
    receipt = await bank.callers.banking.ledger.receipt(ALEX, first.id)
    assert receipt.state is TransferState.CANCELLED


async def test_words_are_looked_at_once_until_the_context_changes(alex: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def counted(
        transcript: Transcript, context: InterpretationContext, payees: PayeeIndex, stamps: Stamps
    ) -> Interpretation:
        looks.append(transcript.text)
        return interpret(transcript, context, payees, stamps)

    monkeypatch.setattr(interpreter, "interpret", counted)
    early = Transcript.typed("send money to emily morgan", alex.locale)
    alex.turn.interpret(early)
    alex.turn.interpret(early)
    await alex.say(early.text)
    assert looks == [early.text]
    five = Transcript.typed("50", alex.locale)
    assert judged(alex, five) is Completeness.COMPLETE
    await alex.say("cancel")
    looks.clear()
    alex.turn.interpret(five)
    assert looks == [five.text]


async def test_a_withdrawn_turn_leaves_nothing_to_confirm(bank: Gateway, alex: Talk) -> None:
    await alex.say("send fifty dollars to catherine nguyen", hear_out=False)
    proposal = alex.only(ReadBackReady).proposal
    assert await alex.turn.withdraw(alex.reply)
    assert (await bank.callers.banking.ledger.receipt(ALEX, proposal.id)).state is TransferState.CANCELLED
    await alex.say("yes")
    assert not [e for e in alex.events if isinstance(e, TransferMoved)]


async def test_what_is_done_can_not_be_withdrawn(alex: Talk) -> None:
    await alex.say("lock my debit card")
    assert not await alex.turn.withdraw(alex.reply)


async def test_barge_in_stops_the_reply_but_not_the_transfer(bank: Gateway, alex: Talk) -> None:
    before = await balance_of(bank, ALEX)
    await alex.say("send fifty dollars to catherine nguyen")
    reply = ReplyId("cut")
    taking = asyncio.ensure_future(_drain(alex, reply))
    for _ in range(50):
        await asyncio.sleep(0)
    taking.cancel()
    await asyncio.gather(taking, return_exceptions=True)
    for _ in range(200):
        if await balance_of(bank, ALEX) == before - 5000:
            break
        await asyncio.sleep(0.01)
    assert await balance_of(bank, ALEX) == before - 5000


async def _drain(alex: Talk, reply: ReplyId) -> None:
    async for _ in alex.turn.take(Transcript.typed("yes", EN_US), reply):
        pass


async def test_an_ambiguous_name_asks_which(alex: Talk) -> None:
    await alex.say("send twenty dollars to john porter")
    assert alex.only(Decided).decision.kind is DecisionKind.CLARIFY
    assert alex.only(ReplyDone).awaits is Awaits.ANSWER
    await alex.say("the first one")
    assert alex.only(ReadBackReady).proposal.order.payee_id in {"john-porter-harbour", "john-porter-cedar"}


async def test_unlocking_takes_the_code_on_the_customers_phone(bank: Gateway, alex: Talk) -> None:
    code = await code_to_unlock(bank, alex)
    assert code not in alex.words
    await alex.say(code)
    cards = await bank.callers.banking.bank.cards(ALEX)
    assert not next(card for card in cards if card.name == "debit card").locked


async def test_a_transfer_for_a_later_day_is_said_to_wait_for_it(bank: Gateway, alex: Talk) -> None:
    before = await balance_of(bank, ALEX)
    await alex.say("send fifty dollars to catherine nguyen tomorrow")
    await alex.say("yes")
    assert alex.only(TransferMoved).receipt.state is TransferState.CONFIRMED
    assert alex.only(ReplyText).template == "transfer.scheduled"
    assert await balance_of(bank, ALEX) == before


async def test_a_code_is_asked_for_only_as_often_as_one_is_taken(bank: Gateway, alex: Talk) -> None:
    code = await code_to_unlock(bank, alex)
    wrong = f"{(int(code) + 1) % 10 ** len(code):0{len(code)}d}"
    said = []
    for _ in range(money_policy().code_attempts):
        await alex.say(wrong)
        said.append(alex.only(ReplyText).template)
    assert said == ["step_up.wrong", "step_up.wrong", "step_up.failed"]
    await alex.say(code)
    cards = await bank.callers.banking.bank.cards(ALEX)
    assert next(card for card in cards if card.name == "debit card").locked


async def test_documents_are_asked_for_in_the_callers_zone(alex: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    zones, find = [], Library.find

    def noting(library: Library, question: Question, clock: Clock) -> RetrievalResult:
        zones.append(question.zone)
        return find(library, question, clock)

    monkeypatch.setattr(Library, "find", noting)
    await alex.say("what is the fee for an international transfer")
    assert zones == ["America/New_York"]


async def test_open_questions_are_answered_from_documents(alex: Talk) -> None:
    await alex.say("what is the fee for an international transfer")
    assert alex.only(Decided).understood.intent is Intent.QNA
    assert next(e for e in alex.events if isinstance(e, ReplyText)).citations


async def test_a_person_ends_the_call(alex: Talk) -> None:
    await alex.say("speak to a person")
    assert alex.only(ReplyDone).awaits is Awaits.END


async def test_japanese(bank: Gateway) -> None:
    misaki = Talk(await bank.callers.open(MISAKI, CallId("call-2"), JA_JP), JA_JP)
    await misaki.say("サトウケンさんに五千円振り込んで")
    order = misaki.only(ReadBackReady).proposal.order
    assert (order.amount.minor, order.amount.currency, order.payee_id) == (5000, "JPY", "sato-ken")
    await misaki.say("はい")
    assert misaki.only(TransferMoved).receipt.state is TransferState.SUCCEEDED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what's my balance", Completeness.COMPLETE),
        ("yes", Completeness.LEAD_IN),
        ("good morning", Completeness.LEAD_IN),
        ("send five hundred", Completeness.MISSING_SLOT),
        ("send fifty dollars to", Completeness.TRAILING),
        ("send uh", Completeness.HESITATION),
        ("my account is one two three", Completeness.DIGITS),
        ("purple monkey dishwasher", Completeness.UNKNOWN),
    ],
)
async def test_words_are_judged_by_grammar_and_ear(alex: Talk, text: str, expected: Completeness) -> None:
    assert judged(alex, Transcript.typed(text, EN_US)) is expected


async def test_a_yes_is_waited_for_where_it_answers(alex: Talk) -> None:
    await alex.say("i lost my debit card can you help")
    assert judged(alex, Transcript.typed("yes", EN_US)) is Completeness.BINDING


async def test_two_customers_never_meet(bank: Gateway, alex: Talk) -> None:
    misaki = Talk(await bank.callers.open(MISAKI, CallId("call-2"), EN_US), EN_US)
    await alex.say("send fifty dollars to catherine nguyen")
    await misaki.say("send fifty dollars to catherine nguyen")
    assert "Nguyen" not in misaki.words.replace("catherine nguyen", "")
    assert not [e for e in misaki.events if isinstance(e, ReadBackReady)]


@pytest.mark.parametrize(
    ("before", "asked", "yes"),
    [
        (None, "what is the exchange rate for yen", "yes"),
        ("send fifty dollars to catherine nguyen", "what is the exchange rate for yen", "yes please"),
    ],
)
async def test_a_person_who_is_offered_for_what_no_document_answers_comes_at_a_yes(
    alex: Talk, before: str | None, asked: str, yes: str
) -> None:
    if before:
        await alex.say(before)
    await alex.say(asked)
    assert alex.words == "I don't find that in the bank's documents. Shall I bring in a person?", "one question"
    assert alex.only(ReplyDone).awaits is Awaits.ANSWER
    await alex.say(yes)
    assert alex.only(Decided).decision.kind is DecisionKind.HANDOFF


async def test_a_stranger_is_brought_to_a_person_by_a_yes_too(bank: Gateway) -> None:
    nobody = Talk(await bank.callers.open_stranger(CallId("call-2"), JA_JP), JA_JP)
    await nobody.say("為替レートを教えて")
    assert "オペレーター" in nobody.words
    await nobody.say("はい")
    assert nobody.only(Decided).decision.kind is DecisionKind.HANDOFF


async def test_who_wants_no_person_for_an_open_question_comes_back_to_the_order(bank: Gateway, alex: Talk) -> None:
    before = await balance_of(bank, ALEX)
    await alex.say("send fifty dollars to catherine nguyen")
    await alex.say("what is the exchange rate for yen")
    await alex.say("no")
    assert alex.words == "Shall I go on with your payment?"
    await alex.say("yes")
    assert await balance_of(bank, ALEX) == before, "it is read back again first"
    await alex.say("yes")
    assert await balance_of(bank, ALEX) == before - 5000


async def test_a_person_offered_before_the_next_question_is_offered_no_more(alex: Talk) -> None:
    await alex.say("what is the exchange rate for yen")
    await alex.say("what is the overdraft fee")
    assert "15 dollars" in alex.words
    await alex.say("yes")
    assert alex.only(Decided).decision.kind is DecisionKind.CLARIFY


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("what are your opening hours / and on saturdays?", "from 9 a.m. to 1 p.m."),
        ("how much is an international transfer / and domestic?", "free in the app and cost 10 dollars"),
        ("how much is an international transfer / and at a branch?", "40 dollars at a branch"),
        ("what does a safe deposit box cost / and a large one", "140 dollars"),
        ("what is the interest on savings / and above 50,000 / and when is it paid", "on the last day of each month"),
        ("how much is a replacement card / how long does that take", "within two business days"),
        ("how much can I withdraw a day / and with the debit card in shops", "3,000 dollars"),
        ("what is the exchange rate for yen / and for euros", "Shall I bring in a person?"),
        ("how long does it take", "arrive the next business day"),
        ("what is the overdraft fee / how long are statements kept", "seven years"),
        ("what is the overdraft fee / and 50 to maria", "I'll send 50 dollars to Maria Castellano"),
        ("what is the overdraft fee / and maria", "Sorry, I didn't get that."),
        ("what is the overdraft fee / what is my balance / and on saturdays?", "I can't set up repeated payments."),
        ("and on saturdays?", "I can't set up repeated payments."),
    ],
)
async def test_a_question_leans_on_the_one_before(alex: Talk, call: str, answer: str) -> None:
    for said in call.split(" / "):
        await alex.say(said)
    assert answer in alex.words


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        ("海外送金の手数料はいくら / 窓口だと？", "窓口で5,500円です"),
        ("ATMの手数料は / 夜間は", "それ以外の時間は110円です"),
        ("ATMの手数料は / 夜間は / コンビニは", "1回220円"),
        ("普通預金の金利は / 定期は", "年0.8パーセント"),
        ("普通預金の金利は / 田中さんは？", "聞き取れませんでした"),
        ("普通預金の金利は / 残高は？", "普通預金が"),
    ],
)
async def test_a_japanese_question_leans_on_the_one_before(bank: Gateway, call: str, answer: str) -> None:
    misaki = Talk(await bank.callers.open(MISAKI, CallId("call-1"), JA_JP), JA_JP)
    for said in call.split(" / "):
        await misaki.say(said)
    assert answer in misaki.words
