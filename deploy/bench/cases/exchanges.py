"""Exchanges as data: what a caller says, turn by turn, and what the order read back last has to hold, or not to hold.

A file holds groups of lines. A line is `turn / turn => slot=value … | earlier`: after `|` stands the value that must
never be read back. Without `=>` nothing may be read back at all.
"""

import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.conversations import Call, Played, Player, Turn, order_rows
from schemas.decision import Clarify, Confirm, Decision, Reply, ReplyParam
from schemas.ids import language

UNSEEN: Final = 3
"""One line in so many, by its checksum, is not listed by default, so that the rules are mended without it."""

YES: Final = {"en": "yes", "ja": "はい"}
"""The plainest answer to a question, by language."""


class Group(BaseModel):
    """Lines of one kind, and what was said before each of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    before: tuple[str, ...] = ()
    lines: str


class ExchangeFile(BaseModel):
    """One language's exchanges, and the demo customer who has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    customer: str
    groups: tuple[Group, ...]


class Outcome(StrEnum):
    """What became of an exchange. `WRONG` is the one that costs: a read-back of what was not meant."""

    RIGHT = "right"
    ASKED = "asked"  # a question that names what is meant, or that a yes is enough for, or what nothing may be made of
    LOST = "lost"  # not understood, or asked anew
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Exchange:
    """A line of a file."""

    group: str
    turns: tuple[str, ...]
    order: dict[str, str]
    earlier: str
    unseen: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What an exchange came to."""

    exchange: Exchange
    outcome: Outcome
    said: str


def exchanges(path: Path) -> tuple[str, list[Exchange]]:
    """The customer and the exchanges of a file. Raises OSError, pydantic's ValidationError."""
    file = ExchangeFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
    return file.customer, [_exchange(group, line) for group in file.groups for line in group.lines.splitlines()]


def _exchange(group: Group, line: str) -> Exchange:
    said, _, wanted = line.partition(" => ")
    order, _, earlier = wanted.partition(" | ")
    pairs = (pair.split("=", 1) for pair in _pairs(order))
    unseen = zlib.crc32(line.encode()) % UNSEEN == 0
    return Exchange(group.id, (*group.before, *said.split(" / ")), dict(pairs), earlier, unseen)


def _pairs(order: str) -> list[str]:
    """`amount=50.00 USD` and `amount=50.00_USD on=…` alike."""
    parts = order.split()
    found: list[str] = []
    for part in parts:
        if "=" in part:
            found.append(part.replace("_", " ") if part.startswith("amount=") else part)
        elif found:
            found[-1] += " " + part
    return found


def judge(player: Player, exchange: Exchange) -> Judged:
    """Have the exchange, and judge what was read back last."""
    call = player.call(Played())
    last: list[Decision] = []
    readbacks: list[dict[str, str]] = []
    for turn in exchange.turns:
        _, last = call.play(Turn(say=turn))
        readbacks += [order_rows(each.order) for each in last if isinstance(each, Confirm)]
    outcome = _of_nothing(readbacks, last) if not exchange.order else _of_order(exchange, readbacks, last)
    if exchange.order and outcome is Outcome.LOST and _agreed(call, YES[language(player.locale)], exchange):
        outcome = Outcome.ASKED
    return Judged(exchange, outcome, "; ".join(map(_shown, last)))


def _of_nothing(readbacks: list[dict[str, str]], last: list[Decision]) -> Outcome:
    if readbacks:
        return Outcome.WRONG
    return Outcome.ASKED if any(isinstance(each, Clarify) for each in last) else Outcome.LOST


def _of_order(exchange: Exchange, readbacks: list[dict[str, str]], last: list[Decision]) -> Outcome:
    name, earlier = next(iter(exchange.order)), exchange.earlier
    confirmed = any(isinstance(each, Confirm) for each in last)
    if any(earlier and order.get(name) == earlier for order in readbacks):
        return Outcome.WRONG
    if confirmed:
        fits = exchange.order.items() <= readbacks[-1].items()
        return Outcome.RIGHT if fits else Outcome.WRONG
    return Outcome.ASKED if any(_names_it(each, exchange) for each in last) else Outcome.LOST


def _agreed(call: Call, yes: str, exchange: Exchange) -> bool:
    """Whether a plain yes to what was asked leads to what is meant."""
    _, then = call.play(Turn(say=yes))
    orders = [order_rows(each.order) for each in then if isinstance(each, Confirm)]
    return bool(orders) and exchange.order.items() <= orders[-1].items()


def _names_it(decision: Decision, exchange: Exchange) -> bool:
    """Whether a question offers what is meant, beside the earlier value or another reading of the later."""
    if not isinstance(decision, Clarify):
        return False
    return _choice(next(iter(exchange.order.values()))) in {_choice(choice) for choice in decision.choices}


def _choice(value: str) -> str:
    """An amount by its digits, as a choice's key and an order's row alike have them; another value as it is."""
    digits = value.partition(":")[0].partition(" ")[0].replace(".", "")
    return digits if digits.isdigit() else value


def _shown(decision: Decision) -> str:
    if isinstance(decision, Confirm):
        return " ".join(f"{name}={value}" for name, value in order_rows(decision.order).items())
    reply = getattr(decision, "reply", None)
    return f"{decision.kind.value} {_ids(reply)}" if isinstance(reply, Reply) else decision.kind.value


def _ids(value: ReplyParam) -> str:
    if isinstance(value, Reply):
        inner = ",".join(filter(None, (_ids(each) for each in value.params.values())))
        return f"{value.id}({inner})"
    if isinstance(value, tuple):
        return ",".join(_ids(each) for each in value)
    return value if isinstance(value, str) else ""
