"""Exchanges as data: what a caller says, turn by turn, and what the order read back last has to hold, or not to hold.

A file holds groups of lines. A line is `turn / turn => slot=value … | earlier`: after `|` stands the value that must
never be read back. Without `=>` nothing may be read back at all. What moves no money is written as `balance=account`,
`history=account`, `lock=card` and `unlock=card`, an account that was not asked for as `all`.
"""

import zlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench._lines import unpacked
from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.player import ConversationPlayer, PlayedCall, PlayTally
from schemas.decision import (
    Answer,
    Clarify,
    Confirm,
    Decision,
    Execute,
    LockCard,
    ReadBalance,
    ReadTransactions,
    Reply,
    ReplyParam,
    SubmitTransfer,
    UnlockCard,
)
from schemas.ids import language

UNSEEN: Final = 3
"""One line in so many, by its checksum, is not listed by default, so that the rules are mended without it."""

READ: Final = frozenset({"balance", "history"})
"""What is only looked up."""

LOCKS: Final = frozenset({"lock", "unlock"})

YES: Final = {"en": "yes", "ja": "はい"}
"""The plainest answer to a question, by language."""

ORDINALS: Final = {"en": ("the first one", "the second one", "the third one"), "ja": ("一番目", "二番目", "三番目")}
"""How one of several is chosen, by language."""


class Group(BaseModel):
    """Lines of one kind, and what was said before each of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    before: tuple[str, ...] = ()
    lines: str


class ExchangeFile(BaseModel):
    """One language's exchanges, the demo customer who has them, and the least share that comes out right or asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    customer: str
    least: float = 0.0
    groups: tuple[Group, ...]


class ExchangeOutcome(StrEnum):
    """What became of an exchange. `WRONG` is the one that costs: a read-back of what was not meant."""

    RIGHT = "right"
    ASKED = "asked"  # a question that names what is meant, or that a yes or choosing it is enough for, or of nothing
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
    before: int


@dataclass(frozen=True, slots=True)
class JudgedExchange:
    """What an exchange came to."""

    exchange: Exchange
    outcome: ExchangeOutcome
    said: str


def exchange_files(folder: Path, spoken: str = "") -> list[Path]:
    """A folder's files of exchanges, by name, of every language or of one; what stays as it was lies packed."""
    return sorted(path for kind in ("yaml", "yaml.xz") for path in folder.glob(f"{spoken}*.{kind}"))


def name_of(path: Path) -> str:
    """A file's name without its endings."""
    return path.name.partition(".")[0]


def exchanges(path: Path) -> tuple[str, list[Exchange]]:
    """The customer and the exchanges of a file. Raises OSError, pydantic's ValidationError."""
    file = _read(path)
    return file.customer, [_exchange(group, line) for group in file.groups for line in group.lines.splitlines()]


def least(path: Path) -> float:
    """The share of a file's exchanges that comes out right or asked at least. Raises as `exchanges` does."""
    return _read(path).least


def _read(path: Path) -> ExchangeFile:
    return ExchangeFile.model_validate(yaml.load(unpacked(path), Loader=yaml.CSafeLoader))


def _exchange(group: Group, line: str) -> Exchange:
    said, _, wanted = line.partition(" => ")
    order, _, earlier = wanted.partition(" | ")
    pairs = (pair.split("=", 1) for pair in _pairs(order))
    unseen = zlib.crc32(line.encode()) % UNSEEN == 0
    return Exchange(group.id, (*group.before, *said.split(" / ")), dict(pairs), earlier, unseen, len(group.before))


def _pairs(order: str) -> list[str]:
    """`amount=50.00 USD` and `amount=50.00_USD on=…` alike; an underscore is a space."""
    parts = order.split()
    found: list[str] = []
    for part in parts:
        if "=" in part:
            found.append(part.replace("_", " "))
        elif found:
            found[-1] += " " + part
    return found


def judge(player: ConversationPlayer, exchange: Exchange) -> JudgedExchange:
    """Have the exchange, and judge what was read back, or done, since what was said before it."""
    call = player.call(PlayTally())
    last: list[Decision] = []
    found: list[dict[str, str]] = []
    for number, turn in enumerate(exchange.turns):
        _, last = call.play(Turn(say=turn))
        found += [rows for each in last if number >= exchange.before and (rows := _rows(each))]
    outcome = _of_nothing(found, last) if not exchange.order else _of_order(exchange, found, last)
    if exchange.order and outcome is ExchangeOutcome.LOST:
        spoken = language(player.locale)
        chosen = _chosen(call, last, ORDINALS[spoken], exchange)
        outcome = chosen or _agreed(call, YES[spoken], exchange)
    return JudgedExchange(exchange, outcome, "; ".join(map(_shown, last)))


class TurnPace(NamedTuple):
    """How long the text path took for one turn, by clock and by CPU."""

    micros: float
    cpu_micros: float


def pace(player: ConversationPlayer, exchange: Exchange, repeat: int) -> list[TurnPace]:
    """Each turn's pace, the best of so many plays: what else a machine does makes none of them faster."""
    plays: list[PlayTally] = []
    for _ in range(repeat):
        plays.append(PlayTally())
        call = player.call(plays[-1])
        for turn in exchange.turns:
            call.play(Turn(say=turn))
    clocks = (zip(*(getattr(play, name) for play in plays), strict=True) for name in TurnPace._fields)
    return [TurnPace(min(wall), min(cpu)) for wall, cpu in zip(*clocks, strict=True)]


def _rows(decision: Decision) -> dict[str, str]:
    """What an order holds that is read back, or what was done at once."""
    match decision:
        case Confirm(order):
            return order_rows(order)
        case Execute(ReadBalance(account)):
            return {"balance": account or "all"}
        case Execute(ReadTransactions(asked)):
            merchant = {"merchant": asked.merchant} if asked.merchant else {}
            return {"history": asked.account_id or "all", **merchant}
        case Execute(LockCard(card) | UnlockCard(card) as action):
            return {"lock" if isinstance(action, LockCard) else "unlock": card}
        case Execute(SubmitTransfer(proposal)):
            return {"moved": proposal}
        case _:
            return {}


def _of_nothing(found: list[dict[str, str]], last: list[Decision]) -> ExchangeOutcome:
    if any(not rows.keys() & READ for rows in found):
        return ExchangeOutcome.WRONG
    if found or any(isinstance(each, Answer) and each.reply and not each.question for each in last):
        return ExchangeOutcome.RIGHT
    # what the documents say is not heard here, but what waits is asked about behind it
    asked = any(isinstance(each, Clarify) or (isinstance(each, Answer) and each.reply is not None) for each in last)
    return ExchangeOutcome.ASKED if asked else ExchangeOutcome.LOST


def _of_order(exchange: Exchange, found: list[dict[str, str]], last: list[Decision]) -> ExchangeOutcome:
    name, earlier = next(iter(exchange.order)), exchange.earlier
    if any(earlier and rows.get(name) == earlier for rows in found):
        return ExchangeOutcome.WRONG
    if now := [rows for each in last if (rows := _rows(each))]:
        if "moved" in now[-1]:  # restated, an order that was read back is agreed to
            now = [rows for rows in found if "moved" not in rows] or now
        if exchange.order.items() <= now[-1].items():
            return ExchangeOutcome.RIGHT
        return ExchangeOutcome.LOST if now[-1].keys() & READ else ExchangeOutcome.WRONG
    return ExchangeOutcome.ASKED if any(_names_it(each, exchange) for each in last) else ExchangeOutcome.LOST


def _chosen(
    call: PlayedCall, last: list[Decision], ordinals: tuple[str, ...], exchange: Exchange
) -> ExchangeOutcome | None:
    """What choosing whatever is meant leads to, where another thing than the order's first is asked about.

    None where the choices hold nothing of the order.
    """
    places = _meant(last, exchange)
    if not places:
        return None
    for _ in exchange.order:
        if not places:
            break
        _, last = call.play(Turn(say=ordinals[places[0]]))
        places = _meant(last, exchange)
    outcome = _of_order(exchange, [rows for each in last if (rows := _rows(each))], last)
    return ExchangeOutcome.ASKED if outcome is ExchangeOutcome.RIGHT else outcome


def _meant(last: list[Decision], exchange: Exchange) -> list[int]:
    """Which of the choices offered are the order's."""
    wanted = {_choice(value) for value in exchange.order.values()}
    asked = (each.choices for each in last if isinstance(each, Clarify))
    return [at for choices in asked for at, choice in enumerate(choices) if _choice(choice) in wanted]


def _agreed(call: PlayedCall, yes: str, exchange: Exchange) -> ExchangeOutcome:
    """What a plain yes to what was asked leads to; a card's question is its read-back."""
    _, then = call.play(Turn(say=yes))
    found = [rows for each in then if (rows := _rows(each))]
    name = next(iter(exchange.order))
    if found and exchange.order.items() <= found[-1].items():
        return ExchangeOutcome.ASKED
    locked = name in LOCKS and any(rows.keys() & LOCKS for rows in found)
    return ExchangeOutcome.WRONG if locked else ExchangeOutcome.LOST


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
