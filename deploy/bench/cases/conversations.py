"""Conversations as data: a file of tests/conversations holds conversations of one demo customer.

A turn is what the caller does and what has to come of it; `player.py` plays them.
"""

from collections.abc import Iterator
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field

from schemas.banking import PayeeVerification, TransferState


class Turn(BaseModel):
    """What the caller does, and what has to come of it. Only what is given is checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    say: str | None = None
    keys: str | None = None
    silence: bool = False
    alternatives: tuple[str, ...] = ()
    logprob: float = 0.0
    interrupts: bool = False
    fails: str | None = None
    outcome: TransferState | None = None
    verification: PayeeVerification | None = None
    step_up: bool = False
    decision: str | None = None
    intent: str | None = None
    slots: dict[str, str] | None = None
    order: dict[str, str] | None = None
    reply: str | None = None
    moved: int | None = None


class WrittenCall(BaseModel):
    """One call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    turns: tuple[Turn, ...] = Field(min_length=1)


class ConversationFile(BaseModel):
    """One file: whose calls, and the calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    version: int
    customer: str
    conversations: tuple[WrittenCall, ...]


def conversations(folder: Path) -> Iterator[ConversationFile]:
    """Every file of the folder, validated. Raises pydantic's ValidationError."""
    for path in sorted(folder.rglob("*.yaml")):
        yield ConversationFile.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader))
