"""Strings of strangers, heard in each language at each state of a call, through the whole text path."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.bench.cases.conversations import Turn
from deploy.bench.cases.exchanges import exchange_files, exchanges
from deploy.bench.cases.garble import GarbleFile, garbled, spliced
from deploy.bench.cases.player import ConversationPlayer, PlayedCall, PlayTally

_CALLERS: Final = {
    "alex-morgan": ("", "send money to ken sato", "send fifty dollars", "send fifty dollars to ken sato"),
    "takahashi-misaki": ("", "佐藤花子さんに送金したい", "五千円送って", "佐藤花子さんに五千円送って"),
}
"""Demo customers, and what they said before: nothing, or what leads to a question or to a read-back."""
_PEOPLE: Final = Path("tests/data/corrections")


def places() -> list[tuple[str, str]]:
    """Customers of every language with what they said before, at every place of a call."""
    return [(name, before) for name, said in _CALLERS.items() for before in said]


@dataclass(frozen=True, slots=True)
class HostileCall:
    """One customer's call at one place."""

    player: ConversationPlayer
    before: str
    call: PlayedCall

    @classmethod
    def of_everyone(cls) -> "list[HostileCall]":
        """Every language at every place of a call."""
        return [cls.of(ConversationPlayer.of(name), before) for name, before in places()]

    @classmethod
    def of(cls, player: ConversationPlayer, before: str) -> "HostileCall":
        """A call that has come to where `before` leads."""
        call = player.call(PlayTally())
        if before:
            call.play(Turn(say=before))
        return cls(player, before, call)

    def hear(self, text: str) -> None:
        """Take `text` through normalization, payees, understanding and the decision. Raises what they raise."""
        self.call.fork().play(Turn(say=text))


def said() -> dict[str, list[str]]:
    """What people say in corrections, by customer."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in exchange_files(_PEOPLE):
        customer, lines = exchanges(path)
        found[customer] += [turn for line in lines for turn in line.turns if turn.strip()]
    return found


def faults(file: GarbleFile, count: int, seed: int) -> Iterator[tuple[str, Exception]]:
    """Of `count` strings those that raised, and what: by turns what nobody says, and pieces of what people say."""
    ears, nonsense, people = HostileCall.of_everyone(), garbled(file, count, seed), said()
    names = [name for name, _ in places()]
    pieces = {name: spliced(file, people[name], seed) for name in names}
    for number in range(count):
        again, ear = divmod(number, len(ears))
        text = next(pieces[names[ear]] if again % 2 else nonsense)
        try:
            ears[ear].hear(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            yield text, error
