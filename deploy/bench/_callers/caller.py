"""A caller who has only what people said: a sentence out, the service's answer in, until the task is done or given up.

Opening, answers and yes are the dialogue's own sentences; what is lacking is borrowed from the pools, its value put in.
"""

import zlib
from collections.abc import Generator, Iterator
from typing import Final

import numpy as np

from deploy.bench._callers.bank import payee_id
from deploy.bench._callers.data import CallerSentence, CallerTask, Dialogues, Goal
from deploy.bench._callers.hear import AnswerKind, ReplyHeard
from deploy.bench._callers.outcome import CODE, TaskOutcome

MOST: Final = 12
"""Sentences a task; one-time codes are not counted."""
SAME_QUESTION: Final = 4
NOT_UNDERSTOOD: Final = 3
_LOST: Final = frozenset(
    {AnswerKind.SAID_SOMETHING, AnswerKind.NOT_UNDERSTOOD, AnswerKind.WHAT_ELSE, AnswerKind.OFFERS_HUMAN}
)
_AHEAD: Final = frozenset(
    {AnswerKind.ASKS_AMOUNT, AnswerKind.ASKS_PAYEE, AnswerKind.READ_BACK, AnswerKind.BALANCE, AnswerKind.WANTS_CODE}
)
"""What an opening that was understood leads to."""
_ASKED: Final = {
    AnswerKind.ASKS_AMOUNT: "amount",
    AnswerKind.ASKS_WHICH_AMOUNT: "amount",
    AnswerKind.ASKS_PAYEE: "payee",
    AnswerKind.ASKS_SOURCE: "source",
}
Talk = Generator[str, ReplyHeard, None]


class SimulatedCaller:
    """Pursues one task. `change`: after the first right read-back, another amount or payee is wanted."""

    def __init__(self, task: CallerTask, dialogues: Dialogues, *, change: bool, seed: str) -> None:
        self._task = task
        self._pools = dialogues.pools
        self._names = dialogues.names
        self._chance = np.random.default_rng(zlib.crc32(seed.encode()))
        self._change = change
        self._unused = list(task.said)
        self._told: set[str] = set(task.open.slots)
        self._asked: dict[AnswerKind, int] = {}
        self._lost = 0
        self._last: AnswerKind = AnswerKind.NOT_UNDERSTOOD
        self._refused: tuple[object, ...] | None = None
        self.outcome = TaskOutcome(task, task.goal)

    def talk(self) -> Talk:
        """The sentences, each answered by what `send` is given; ends when the task is over for the caller."""
        answer = yield from self._say(self._task.open.text)
        self.outcome.needed += 1
        self.outcome.at_once = self._understood(answer)
        while not self._over(answer):
            reply = self._reply(answer)
            if reply is None:
                return
            answer = yield from self._say(reply)

    def _say(self, text: str) -> Generator[str, ReplyHeard, ReplyHeard]:
        answer = yield text
        self.outcome.said.append((text, answer.kind.value))
        self._note(answer)
        return answer

    def _understood(self, answer: ReplyHeard) -> bool:
        if answer.missed or answer.kind not in _AHEAD:
            return False
        if answer.kind is AnswerKind.BALANCE:
            account = self._task.goal.account
            named = "source" in self._task.open.slots and account is not None
            return self._told_balance(answer) and not (named and _other(account) in answer.text)
        asked = {AnswerKind.ASKS_AMOUNT: "amount", AnswerKind.ASKS_PAYEE: "payee"}.get(answer.kind)
        return asked not in self._told and not (answer.kind is AnswerKind.READ_BACK and self._wrong(answer))

    # What is heard

    def _note(self, answer: ReplyHeard) -> None:
        out = self.outcome
        if answer.read_back is not None:
            out.read_backs += 1
            wrong = self._wrong(answer)
            out.wrong_read_backs += bool(wrong) and any(slot in self._told for slot in wrong)
            order = _order(answer)
            out.old_order_again += order == self._refused
        for moved in answer.moved:
            right = not self._wrong_order(moved)
            out.success = out.success or right
            out.booked += right
            out.wrong_money += not right
        if answer.kind is AnswerKind.BALANCE and self._task.task == "balance":
            out.success = self._told_balance(answer)

    def _told_balance(self, answer: ReplyHeard) -> bool:
        account = self._task.goal.account
        return account is None or account in answer.text

    def _wrong(self, answer: ReplyHeard) -> list[str]:
        return self._wrong_order(answer.read_back) if answer.read_back is not None else []

    def _wrong_order(self, order: dict[str, object]) -> list[str]:
        goal = self.outcome.goal
        wrong = [] if order["amount_minor"] == goal.amount_minor else ["amount"]
        if order["payee_id"] != payee_id(goal.payee):
            wrong.append("payee")
        if goal.source is not None and not str(order["source"]).endswith(goal.source):
            wrong.append("source")
        return wrong

    def _over(self, answer: ReplyHeard) -> bool:
        out = self.outcome
        if out.success or answer.kind in {AnswerKind.HANDED_OVER, AnswerKind.DONE}:
            out.why = "" if out.success else answer.kind.value
            return True
        count = self._asked[answer.kind] = self._asked.get(answer.kind, 0) + 1
        self._lost += answer.missed or answer.kind in _LOST
        out.why = (
            f"{answer.kind} for the {count}. time"
            if count >= SAME_QUESTION and answer.kind is not AnswerKind.READ_BACK
            else "not understood"
            if self._lost >= NOT_UNDERSTOOD
            else f"{MOST} sentences"
            if len(out.said) >= MOST
            else ""
        )
        return bool(out.why)

    # What is said

    def _reply(self, answer: ReplyHeard) -> str | None:
        if self._task.task == "balance":
            return self._balance(answer)
        if answer.missed:
            self.outcome.reworded = True
        slot = _ASKED.get(answer.kind)
        if slot is not None:
            return self._tell(slot, answer)
        if answer.kind is AnswerKind.READ_BACK:
            return self._to_read_back(answer)
        if answer.kind is AnswerKind.ASKS_CHANGE:
            return self._correct(answer)
        return self._plainly(answer)

    def _plainly(self, answer: ReplyHeard) -> str:
        """To what is answered in a word or two; else the last thing is worded anew."""
        match answer.kind:
            case AnswerKind.ASKS_IS_IT:
                right = self.outcome.goal.payee.casefold() in answer.text.casefold()
                return self._borrow("yes") if right else "No."
            case AnswerKind.OFFERS_TRANSFER:
                return self._borrow("affirm_intent" if self._asked[AnswerKind.OFFERS_TRANSFER] == 1 else "yes")
            case AnswerKind.OFFERS_RESUME | AnswerKind.YES_OR_NO:
                return self._borrow("yes")
            case AnswerKind.WANTS_CODE:
                return CODE
            case AnswerKind.OFFERS_OTHER | AnswerKind.OFFERS_BALANCE:
                return "No."
            case _:
                return self._again()

    def _balance(self, answer: ReplyHeard) -> str | None:
        if answer.kind is AnswerKind.OFFERS_BALANCE:
            return self._borrow("yes")
        if self._unused:
            return self._unused.pop(0).text
        self.outcome.reworded = True
        account = self._task.goal.account
        return self._borrow("open_balance" if account is None else f"open_balance_{account}")

    def _again(self) -> str:
        """Word the last thing anew, shorter: the answer that was not taken, else the request."""
        self.outcome.reworded = True
        slot = _ASKED.get(self._last)
        return self._borrow_slot(slot) if slot is not None else self._borrow("open_transfer")

    def _tell(self, slot: str, answer: ReplyHeard) -> str:
        """The own sentence that holds the slot, else a borrowed one."""
        if slot not in self._told:
            self.outcome.needed += 1
        self._last = answer.kind
        own = next((said for said in self._unused if slot in said.slots), None)
        if own is None or self._changed_since(own):
            self._told.add(slot)
            return self._borrow_slot(slot)
        self._unused.remove(own)
        self._told.update(own.slots)
        return own.text

    def _changed_since(self, own: CallerSentence) -> bool:
        """Whether the sentence holds a value that is no longer wanted."""
        goal = self.outcome.goal
        if goal == self._task.goal:
            return False
        changed = "amount" if goal.amount_minor != self._task.goal.amount_minor else "payee"
        return changed in own.slots

    def _to_read_back(self, answer: ReplyHeard) -> str:
        if self._wrong(answer):
            if not any(slot in self._told for slot in self._wrong(answer)):
                self.outcome.needed += 1
            return self._correct(answer)
        self.outcome.needed += 1
        if self._change:
            self._change = False
            return self._change_mind(answer)
        self._refused = None
        own = self._task.affirm if self._task.pure else ""
        return own if own and self._asked.get(AnswerKind.READ_BACK, 0) < 2 else self._borrow("affirm")  # noqa: PLR2004 - the first time

    def _change_mind(self, answer: ReplyHeard) -> str:
        goal, chance = self.outcome.goal, self._chance
        self._refused = _order(answer)
        if chance.random() < 0.5:  # noqa: PLR2004 - one of two
            minor = int(chance.choice([m for m in range(2000, 180_000, 1000) if m != goal.amount_minor]))
            self.outcome.goal = replace_goal(goal, amount_minor=minor)
            return self._borrow("change", v=_dollars(minor))
        payee = str(chance.choice([name for name in self._names if name != goal.payee]))
        self.outcome.goal = replace_goal(goal, payee=payee)
        return self._borrow("change", v=payee)

    def _correct(self, answer: ReplyHeard) -> str:
        """The own sentence for what is wrong, else one of a change of mind."""
        wrong = self._wrong(answer) or list(self._unsettled())
        if answer.read_back is not None:
            self._refused = _order(answer)
        own = next(
            (s for s in self._unused if wrong and set(wrong) & set(s.slots) and not self._changed_since(s)), None
        )
        if own is not None:
            self._unused.remove(own)
            self._told.update(own.slots)
            return own.text
        if not wrong:
            return "No."
        self._told.add(wrong[0])
        goal = self.outcome.goal
        if wrong[0] == "source":
            return self._borrow(f"source_{goal.source}")
        return self._borrow("change", v=_dollars(goal.amount_minor) if wrong[0] == "amount" else goal.payee)

    def _unsettled(self) -> Iterator[str]:
        """Asked what to change: what differs between the order refused and the goal."""
        if self._refused is None:
            return
        amount, payee, source = self._refused
        goal = self.outcome.goal
        if amount != goal.amount_minor:
            yield "amount"
        if payee != payee_id(goal.payee):
            yield "payee"
        if goal.source is not None and not str(source).endswith(goal.source):
            yield "source"

    def _borrow_slot(self, slot: str) -> str:
        goal = self.outcome.goal
        if slot == "source":
            return self._borrow(f"source_{goal.source or 'checking'}")
        return self._borrow(slot, amount=_dollars(goal.amount_minor), payee=goal.payee)

    def _borrow(self, pool: str, **values: str) -> str:
        text = str(self._chance.choice(self._pools[pool]))
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def replace_goal(goal: Goal, **changes: object) -> Goal:
    """The goal with something else in it."""
    return goal.model_copy(update=changes)


def _order(answer: ReplyHeard) -> tuple[object, ...]:
    order = answer.read_back or {}
    return order.get("amount_minor"), order.get("payee_id"), order.get("source")


def _other(account: str | None) -> str:
    return "savings" if account == "checking" else "checking"


def _dollars(minor: int) -> str:
    return f"${minor // 100:,}" if minor % 100 == 0 else f"${minor / 100:,.2f}"
