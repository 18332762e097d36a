"""What live calls' shadow made otherwise: read back from the sealed recordings that it is kept in."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import JsonValue

from app.qa.replay.records.recorded import Recording, read_recording
from app.shadow.differing import SHADOW_FILE, ShadowedTurn, ShadowRecord
from schemas.errors import MalformedMessage, TellerlineError
from services.record.audit_keys import AuditKeys


@dataclass(frozen=True, slots=True)
class ShadowedRecording:
    """A recorded call that went through another pipeline too."""

    call: Recording
    record: ShadowRecord


def shadow_of(recording: Recording) -> ShadowRecord | None:
    """What the other made of a call. Raises OSError where the recording is gone, MalformedMessage."""
    if not recording.files.names(SHADOW_FILE):
        return None
    try:
        return ShadowRecord.model_validate_json(recording.files.read(SHADOW_FILE))
    except ValueError as error:
        raise MalformedMessage("a shadow can't be read") from error


def shadowed_calls(folder: Path, keys: AuditKeys) -> list[ShadowedRecording]:
    """All that can be read, the newest first."""
    found = []
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            recording = read_recording(place, keys)
            record = shadow_of(recording)
        except (TellerlineError, OSError):
            continue  # gone meanwhile, or under a key of another time
        if record is not None:
            found.append(ShadowedRecording(recording, record))
    return sorted(found, key=lambda one: (one.call.head.started_at, one.call.head.call), reverse=True)


@dataclass(frozen=True, slots=True)
class ShadowTally:
    """Calls, their turns through both, those that differ, and how often in which value and why calls were left."""

    calls: int
    compared: int
    turns: list[tuple[ShadowedRecording, ShadowedTurn]]
    values: dict[str, int]
    left: dict[str, int]


def tallied(calls: Sequence[ShadowedRecording]) -> ShadowTally:
    """What all calls came to; turns in the order of the calls, counts from the most frequent on."""
    turns = [(one, turn) for one in calls for turn in one.record.turns]
    return ShadowTally(
        calls=len(calls),
        compared=sum(one.record.compared for one in calls),
        turns=turns,
        values=dict(Counter(name for _, turn in turns for name in turn.differs).most_common()),
        left=dict(Counter(one.record.left for one in calls if one.record.left).most_common()),
    )


def says(calls: Sequence[ShadowedRecording], most: int) -> Iterator[str]:
    """In lines: what differs how often, then the newest `most` turns side by side."""
    found = tallied(calls)
    yield f"{found.calls} calls, {found.compared} turns through both, {len(found.turns)} differ"
    yield from (f"{count} differ in {name}" for name, count in found.values.items())
    yield from (f"{count} calls were left: {why}" for why, count in found.left.items())
    for one, turn in found.turns[:most]:
        yield f"{one.call.head.call} turn {turn.turn}, beside {one.record.other}:"
        yield from (f"  {name}: {_shown(here)} → {_shown(there)}" for name, (here, there) in turn.differs.items())


def _shown(value: JsonValue) -> str:
    return "none" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()
