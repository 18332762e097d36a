"""Callers of many kinds, as tests/data/callers has them: a book of sentences in English, and one caller in Japanese."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from deploy.bench._lines import unpacked
from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.labelled import filled
from deploy.bench.cases.player import ConversationPlayer, PlayedCall, PlayTally
from rules.bank import DemoAccount, DemoPayee, demo_customers
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    Handoff,
    LockCard,
    ReadBalance,
    ReadTransactions,
    Refuse,
    Reply,
    ReplyParam,
    SubmitTransfer,
)
from schemas.ids import AccountId, CardId
from schemas.intent import Route, SlotName, Understood
from schemas.transcript import Transcript
from services.dialogue import DialogueState, UserUtterance, decide
from tests.fakes.desk import FakeDesk

DATA = Path(__file__).parents[1] / "data" / "callers"
KINDS = {
    "say.goodbye": "bye",
    "offer.bill_of": "offer.bill_payment",
    "help.general": "help",
    "say.wait": "waits",
    "say.ok_what_else": "ready",
    "ask.source": "source",
    "cancel.done_money": "held",
    "cancel.done": "held",
}
BILLS = {"alex-electricity": "electricity", "alex-phone": "phone", "alex-water": "water", "alex-credit-bill": "credit"}
DUE = {"electricity": "84.37", "phone": "55", "water": "41.62", "credit": "623.18"}


@lru_cache
def written(name: str) -> dict[str, Any]:
    """A file of sentences, as it is written."""
    path = next(DATA.glob(f"{name}.yaml*"))  # those of strangers stay as they were: they lie packed
    data: dict[str, Any] = yaml.load(unpacked(path), yaml.CSafeLoader)
    return data


@dataclass(frozen=True)
class Line:
    """One sentence, what was said before it, and what it may lead to."""

    group: str
    before: tuple[str, ...]
    text: str
    right: tuple[str, ...]


class Book:
    """The sentences of some files, and the customer who says them, from the first."""

    def __init__(self, *names: str) -> None:
        data, *further = (written(name) for name in names)
        base = next(c for c in demo_customers() if c.customer == data["customer"])
        payees = tuple(DemoPayee.model_validate(row) for row in data["payees"])
        accounts = tuple(DemoAccount.model_validate(row) for row in data["accounts"])
        self.player = ConversationPlayer(base.model_copy(update={"payees": payees, "accounts": accounts}))
        self.lines = [line for file in (data, *further) for line in _lines(file["groups"])]
        self.further = {file["id"].partition("en_")[2]: list(_lines(file["groups"])) for file in further}

    def came_out(self, line: Line) -> tuple[bool, str]:
        """Whether the sentence led to what is right, and what it led to, in the file's words."""
        call = self.player.call(PlayTally())
        said: list[Decision] = []
        for text in line.before:
            _, said = call.play(Turn(say=text))
        before = order_of(said)
        _, said = call.play(Turn(say=line.text))
        return any(comes_to(call, said, before, right) for right in line.right), _shown(said)


def _lines(groups: list[dict[str, Any]]) -> Iterator[Line]:
    for group in groups:
        before = tuple(group["after"].split(" / ")) if "after" in group else ()
        for row in group["lines"].splitlines():
            text, _, right = row.partition(" => ")
            yield Line(group["id"], before, text, tuple(right.split("|")))


def comes_to(call: PlayedCall, said: list[Decision], before: str, right: str) -> bool:
    kind, *rest = right.split()
    order, booked = order_of(said), _booked(said)
    if kind in {"send", "own", "bill"} and rest:
        return order == _wanted(kind, rest)
    if kind in {"amount", "payee"} and rest:
        return _asks(said) == kind and _keeps(call, kind, rest)
    if kind == "balance":
        return any(isinstance(d, Execute) and d.action == _balance(rest) for d in said)
    if kind in {"lock", "unlock"}:
        return _card(call, said, kind, rest[0])
    plain = {
        "held": not order and not booked and not _booked(call.fork().play(Turn(say="yes"))[1]),
        "again": order == before and not booked,
        "none": not order and not booked,
        "booked": booked,
        "transactions": any(isinstance(d, Execute) and isinstance(d.action, ReadTransactions) for d in said),
        "person": any(isinstance(d, Handoff) for d in said),
    }
    return plain[kind] if kind in plain else kind in {*_replies(said), _asks(said)}


def _keeps(call: PlayedCall, kind: str, rest: list[str]) -> bool:
    """Whether what was said before a question is still known once that is answered."""
    then = order_of(call.fork().play(Turn(say="50 dollars" if kind == "amount" else "emily"))[1])
    return then == _wanted("send", ["50", *rest] if kind == "amount" else [rest[0], "emily", *rest[1:]])


def _card(call: PlayedCall, said: list[Decision], kind: str, card: str) -> bool:
    """Whether the card was locked, or was to be unlocked, which it is already; at once, or after a yes."""
    said = [*said, *call.fork().play(Turn(say="yes"))[1]]
    if kind == "lock":
        return any(isinstance(d, Execute) and d.action == LockCard(CardId(f"alex-{card}")) for d in said)
    told = [d.reply.params["card"] for d in said if isinstance(d, Refuse) and d.reply.id == "card.already_unlocked"]
    return f"{card} card" in [t.params["name"] for t in told if isinstance(t, Reply)]


def _balance(rest: list[str]) -> ReadBalance:
    return ReadBalance(None if rest in ([], ["all"]) else AccountId(f"alex-{rest[0]}"))


def _wanted(kind: str, rest: list[str]) -> str:
    """An order as the file names it: what it is, how much, whom, from where."""
    if kind == "own":
        return " ".join([kind, *rest])
    if kind == "send":
        amount, payee, *source = (r for r in rest if r != "tomorrow")
        return f"send {amount} {payee} {(source or ['checking'])[0]}"
    name, *more = rest
    amounts = [r for r in more if r[0].isdigit()] or [DUE[name]]
    source = [r for r in more if not r[0].isdigit()] or ["checking"]
    return f"bill {name} {amounts[0]} {source[0]}"


def order_of(said: list[Decision]) -> str:
    """The order read back last, in the same words; "" for none."""
    orders = [order_rows(d.order) for d in said if isinstance(d, Confirm)]
    if not orders:
        return ""
    row = orders[-1]
    amount = row["amount"].removesuffix(" USD").removesuffix(".00")
    source = row["source"].removeprefix("alex-")
    if "bill" in row:
        return f"bill {BILLS[row['bill']]} {amount} {source}"
    if "to" in row:
        return f"own {amount} {source} {row['to'].removeprefix('alex-')}"
    return f"send {amount} {row['payee']} {source}"


def _booked(said: list[Decision]) -> bool:
    return any(isinstance(d, Execute) and isinstance(d.action, SubmitTransfer) for d in said)


def _asks(said: list[Decision]) -> str:
    asked = [d for d in said if isinstance(d, Clarify)]
    if not asked:
        return ""
    ids = _replies(asked)
    if any(id_.startswith("ask.what_to_change") for id_ in ids):
        return "change"
    if asked[-1].slot is None:
        return ids[-1]
    return "which" if asked[-1].choices and asked[-1].slot is SlotName.PAYEE else asked[-1].slot.value


def _replies(said: Sequence[Decision]) -> list[str]:
    found = [_ids(d.reply) for d in said if not isinstance(d, Execute) and d.reply is not None]
    return [word for ids in found for id_ in ids for word in (id_, KINDS.get(id_, ""), *_due(id_)) if word]


def _due(id_: str) -> tuple[str, ...]:
    return ("due",) if id_.startswith("bill.") else ()


def _ids(value: ReplyParam) -> list[str]:
    if isinstance(value, tuple):
        return [id_ for item in value for id_ in _ids(item)]
    if isinstance(value, Reply):
        return [str(value.id), *(id_ for param in value.params.values() for id_ in _ids(param))]
    return []


def _shown(said: list[Decision]) -> str:
    return " + ".join(filter(None, (order_of(said), " ".join(_replies(said)), _told(said))))


def _told(said: list[Decision]) -> str:
    done = (
        str(d.action) if isinstance(d, Execute) else "documents" for d in said if isinstance(d, Execute) or _open(d)
    )
    return " ".join(done)


def _open(decision: Decision) -> bool:
    return isinstance(decision, Answer) and bool(decision.question)


class Caller:
    """One customer who says one sentence at the start of a call."""

    def __init__(self) -> None:
        data = written("ja")
        base = next(c for c in demo_customers() if c.customer == data["customer"])
        billers = tuple(p for p in base.payees if p.id in {bill.payee for bill in base.bills})
        book = tuple(DemoPayee.model_validate(row) for row in data["payees"])
        customer = base.model_copy(update={"payees": (*book, *billers)})
        self._player = ConversationPlayer(customer)
        self._facts = self._player.facts(FakeDesk(customer))

    def says(self, text: str) -> tuple[Understood, Decision]:
        heard = self._player.understand(Transcript.typed(text, self._player.locale), DialogueState(), self._facts)
        return heard, decide(DialogueState(), UserUtterance(text, heard), self._facts)[1]

    def payee(self, text: str) -> str:
        """Who is chosen; "?" where somebody is asked about, "" where nobody is named."""
        heard, _ = self.says(text)
        chosen = heard.slots.payee.value if heard.slots.payee else ""
        return chosen or ("?" if heard.unresolved else "")


def came_out(caller: Caller, text: str, intents: set[str], slots: dict[str, str]) -> bool:
    """Whether the fast path took `text` for one of `intents` with these slots; a day is given by its date."""
    heard, _ = caller.says(text)
    if heard.intent is None or heard.intent not in intents or heard.route not in {Route.FAST, Route.HUMAN, Route.QNA}:
        return False
    found = filled(heard.slots, "JPY")
    day = heard.slots.date.value if heard.slots.date else None
    if day is not None and day.start == day.end:
        found["date"] = date.isoformat(day.start)
    return slots.items() <= found.items()
