"""A recorded call as a test case: its sound copied beside a manifest, what happened as what should happen."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from app.qa.replay.manifest import Case, dump_jsonl
from app.recordings.files import HEAD_FILE, RecordedTurn, RecordingHead
from app.recordings.sealed import SealedFolder
from schemas.errors import MalformedMessage, NotFound
from schemas.transcript import Source
from services.record.audit_keys import AuditKeys


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded call and the folder that holds its sound."""

    head: RecordingHead
    turns: tuple[RecordedTurn, ...]
    files: SealedFolder


def read_recording(folder: Path, keys: AuditKeys) -> Recording:
    """A recorded call. Raises NotFound, MalformedMessage (also where consent is not on record, or the key is wrong)."""
    try:
        head = RecordingHead.model_validate_json((folder / HEAD_FILE).read_bytes())
        files = head.sealed(folder, keys)
        turns = [RecordedTurn.model_validate_json(files.read(name)) for name in files.names("turn-*.json")]
    except OSError as error:
        raise NotFound(f"{folder} holds no recorded call") from error
    except ValueError as error:
        raise MalformedMessage(f"{folder.name}: {error}") from error
    return Recording(head, tuple(turns), files)


def as_case(call: Recording, case_id: str, customer: str, audio_prefix: str) -> Case:
    """The call up to its first withheld turn; `customer` is the sandbox customer who says it again.

    What was heard and decided is the expectation, marked as a machine's until a person has looked.
    Raises NotFound where nothing is left.
    """
    head, turns = call.head, call.turns
    kept = turns[: next((i for i, turn in enumerate(turns) if turn.withheld), len(turns))]
    if not kept:
        raise NotFound(f"{head.call}: no turn that may be used")
    said, last = [], head.started_at
    for turn in kept:
        wait = max((turn.at - last) / timedelta(seconds=1), 0.0)
        said.append(_utterance(turn, audio_prefix) | {"after_s": round(wait, 1), "expect": _expected(turn)})
        last = turn.at
    raw = {"id": case_id, "locale": head.locale, "customer": customer, "now": head.started_at, "turns": said}
    return Case.model_validate(raw | {"tags": {"source": "recording"}})


def _utterance(turn: RecordedTurn, audio_prefix: str) -> dict[str, Any]:
    if turn.audio is not None:
        return {"audio": f"{audio_prefix}/{turn.audio}"}
    return {"dtmf": turn.text} if turn.source is Source.DTMF else {"text": turn.text}


def _expected(turn: RecordedTurn) -> dict[str, Any]:
    names = ("intent", "route", "decision", "reply")
    found = {name: getattr(turn, name) for name in names if getattr(turn, name)}
    return {"transcript": turn.text, "by_machine": ("transcript", *found)} | found


def add_recording(call: Recording, manifest: Path, case_id: str, customer: str) -> Case:
    """Unseal the sound beside a JSONL manifest and append the case to it; the manifest is made where it is absent."""
    prefix = f"recordings/{case_id}"
    case = as_case(call, case_id, customer, prefix)
    target = manifest.parent / prefix
    target.mkdir(parents=True, exist_ok=False)
    for turn in case.turns:
        if turn.audio is not None:
            name = Path(turn.audio).name
            (target / name).write_bytes(call.files.read(name))
    with manifest.open("ab") as lines:
        lines.write(dump_jsonl((case,)))
    return case
