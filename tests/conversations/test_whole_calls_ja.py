"""Whole Japanese calls, typed: each comes to its end, none moves what was not asked for."""

from pathlib import Path
from typing import Any, Final

import yaml

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.differences import order_rows
from deploy.bench.cases.player import ConversationPlayer, PlayedCall, PlayTally
from schemas.decision import Decision, Execute

DATA: Final[dict[str, Any]] = yaml.load(
    (Path(__file__).parents[1] / "data" / "callers" / "ja_calls.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader
)
DONE: Final = {
    "balance": "balance.",
    "transactions": "transactions.",
    "locked": "card.",
    "handoff": "handoff.now",
    "cancel": "cancel.",
}
_SLOTS: Final = {"payee": "payee", "bill": "bill", "source": "source", "target": "to"}
ASKED: Final = 3
"""Calls in which a name that sounds like two, or a code that nobody typed, is still waited for at the end."""


def test_whole_calls_come_to_their_end() -> None:
    player = ConversationPlayer.of(DATA["customer"])
    calls = [line.partition(" => ") for line in DATA["calls"].splitlines()]
    assert len(calls) >= 60
    unfinished, wrong = [], []
    for said, _, expected in calls:
        call = player.call(PlayTally())
        decided = [d for turn in said.split(" / ") for d in call.play(_turn(turn))[1]]
        want = dict(pair.split("=") for pair in expected.split())
        moved = _moved(call)
        if not _as_wanted(want, moved, decided):
            (wrong if moved else unfinished).append(said)
    assert wrong == []
    assert len(unfinished) <= ASKED + 1, unfinished


def _turn(said: str) -> Turn:
    return Turn(say=said.removeprefix("!"), interrupts=said.startswith("!"))


def _moved(call: PlayedCall) -> list[dict[str, str]]:
    return [order_rows(order) for order in call._desk.moved]


def _as_wanted(want: dict[str, str], moved: list[dict[str, str]], decided: list[Decision]) -> bool:
    if len(moved) != int(want["moved"]):
        return False
    replies = [repr(d.reply) for d in decided if not isinstance(d, Execute)]  # with the replies within them
    if "did" in want:
        return any(f"'{DONE[want['did']]}" in reply for reply in replies)
    order = moved[0]
    slots = all(order.get(name) == want[slot] for slot, name in _SLOTS.items() if slot in want)
    return slots and order["amount"].startswith(want.get("amount", ""))
