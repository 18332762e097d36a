"""Dialogues as goals with the caller's own sentences, and pools of sentences to borrow from.

A file holds a line of JSON each: `names` of the payees, pools of `texts` with {amount}, {payee} or {v} for a value, and
dialogues of tasks. The Schema-Guided Dialogue data in this format is CC-BY-SA and not part of the project.
"""

from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from schemas.errors import BadInput


class CallerSentence(BaseModel):
    """A sentence and the slots in it as they are written there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    slots: dict[str, str] = {}


class Goal(BaseModel):
    """What the caller is after: a transfer, or the balance of an account (of any where it is null)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    amount_minor: int = 0
    payee: str = ""
    source: str | None = None
    account: str | None = None


class CallerTask(BaseModel):
    """One thing to get done. `marks` say why it is not counted with the rest; `pure`: the yes holds nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n: int
    task: Literal["transfer", "balance"]
    goal: Goal
    open: CallerSentence
    said: tuple[CallerSentence, ...] = ()
    affirm: str = ""
    pure: bool = False
    marks: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    context: str = ""
    carried: str | None = None


class Dialogue(BaseModel):
    """One call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    bank: str
    tasks: tuple[CallerTask, ...] = Field(min_length=1)


class Dialogues(BaseModel):
    """A file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: tuple[str, ...]
    pools: dict[str, tuple[str, ...]]
    dialogues: tuple[Dialogue, ...]


def read(path: Path) -> Dialogues:
    """The dialogues of a file. Raises OSError, BadInput."""
    names: tuple[str, ...] = ()
    pools: dict[str, tuple[str, ...]] = {}
    dialogues: list[Dialogue] = []
    try:
        for line in path.read_bytes().splitlines():
            row = orjson.loads(line)
            if "names" in row:
                names = tuple(row["names"])
            elif "pool" in row:
                pools[row["pool"]] = tuple(row["texts"])
            else:
                dialogues.append(Dialogue.model_validate(row))
    except ValueError as error:
        raise BadInput(f"{path} holds no dialogues: {str(error).splitlines()[0]}") from error
    if not names or not dialogues:
        raise BadInput(f"no names or no dialogues in {path}")
    return Dialogues(names=names, pools=pools, dialogues=tuple(dialogues))
