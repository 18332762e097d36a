"""Yeses, all else that may stand beside them, and their product: what a caller says while something waits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

from deploy.bench.cases.waiting import SCENES, Scenes
from schemas.consent import Awaited

DOES: Final = {
    Awaited.TRANSFER: "moved",
    Awaited.BILL: "moved",
    Awaited.LOCK: "lock",
    Awaited.UNLOCK: "unlock",
    Awaited.PERSON: "person",
}
ANY: Final = "any"
LAST_ONLY: Final = "trailing"
"""Words that are no yes after one, and may well lead to one."""


class ConsentsFile(BaseModel):
    """One language's yeses by what they answer, courtesies, what is no yes by kind (` => ` what it does), joiners."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    confirmations: dict[str, tuple[str, ...]]
    courtesies_before: tuple[str, ...]
    courtesies_after: tuple[str, ...]
    others: dict[str, tuple[str, ...]]
    joiners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsentCase:
    """An utterance while `awaited` waits; `does` is all that may come of it: nothing, if empty."""

    awaited: Awaited
    text: str
    does: str


@dataclass(slots=True)
class ConsentTally:
    """What became of utterances: done against the words, done as said, asked again."""

    against: list[ConsentCase] = field(default_factory=list)
    done: int = 0
    asked: list[ConsentCase] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many there were."""
        return len(self.against) + self.done + len(self.asked)

    def take(self, scenes: Scenes, said: ConsentCase) -> None:
        """Say it where it is awaited."""
        done = scenes.answer(said.awaited, said.text).done
        if not done:
            self.asked.append(said)
        elif done == said.does:
            self.done += 1
        else:
            self.against.append(said)


def consents(path: Path) -> ConsentsFile:
    """The file, validated. Raises OSError, pydantic's ValidationError."""
    return ConsentsFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))


def plain(file: ConsentsFile, gap: str) -> Iterator[ConsentCase]:
    """Every yes with every courtesy before and after it, with a comma, with a space and with a full stop."""
    for awaited in SCENES:
        for yes in (*file.confirmations[ANY], *file.confirmations[awaited]):
            for before in file.courtesies_before:
                for after in file.courtesies_after:
                    for comma, stop in ((gap, ""), (f",{gap}" if gap else "、", "." if gap else "。")):
                        text = comma.join(part for part in (before, yes, after) if part)
                        yield ConsentCase(awaited, text + stop, DOES[awaited])


def mixed(file: ConsentsFile, gap: str) -> Iterator[ConsentCase]:
    """Every yes and everything else, in both orders, with every joiner: all to the order, the offers by turns."""
    offers = cycle([scene for scene in SCENES if scene is not Awaited.TRANSFER])
    stops = cycle(("", "", "." if gap else "。", "!"))
    for kind, others in file.others.items():
        for other, _, does in (row.partition(" => ") for row in others):
            for joiner in file.joiners:
                awaited = next(offers)
                for where in (Awaited.TRANSFER, awaited):
                    for yes in (*file.confirmations[ANY], *file.confirmations[where]):
                        for first, last in ((yes, other), (other, yes))[: 1 if kind == LAST_ONLY else 2]:
                            yield ConsentCase(where, f"{first}{joiner}{gap}{last}{next(stops)}", does)
