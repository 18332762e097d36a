"""What the demonstration plays, and how each call must end."""

from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel, ConfigDict

FOLDER: Final = Path(__file__).parent / "calls"


class _DemoPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Expected(_DemoPart):
    """How a turn must be decided."""

    intent: str | None = None
    decision: str


class Booked(_DemoPart):
    """How a transfer must end."""

    state: str
    amount_minor: int
    currency: str
    payee: str


class DemoUtterance(_DemoPart):
    """One turn of the caller: a recording, what is said in it, by which voice."""

    audio: str
    words: str
    voice: str
    speak: str | None = None  # what the voice is given to say, where its reading of `words` is wrong
    expect: Expected


class RecordedCall(_DemoPart):
    """A call: turns in order; `booked` when money must have moved, and only then."""

    id: str
    title: str
    customer: str
    locale: str
    turns: tuple[DemoUtterance, ...]
    booked: Booked | None = None


class DemoManifest(_DemoPart):
    """Every call of the demonstration."""

    calls: tuple[RecordedCall, ...]


def manifest() -> DemoManifest:
    """Read calls/calls.yaml."""
    return DemoManifest.model_validate(yaml.load((FOLDER / "calls.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader))
