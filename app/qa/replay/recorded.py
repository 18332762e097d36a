"""A recorded call as a test case: its sound copied beside a manifest, what happened as what should happen."""

import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from app.qa.recording import HEAD_FILE, TURNS_FILE, RecordedTurn, RecordingHead
from app.qa.replay.manifest import Case, dump_jsonl
from schemas.errors import MalformedMessage, NotFound
from schemas.transcript import Source


def read_recording(folder: Path) -> tuple[RecordingHead, tuple[RecordedTurn, ...]]:
    """A recorded call. Raises NotFound, MalformedMessage (also where consent is not on record)."""
    if not (folder / HEAD_FILE).is_file() or not (folder / TURNS_FILE).is_file():
        raise NotFound(f"{folder} holds no recorded call")
    try:
        head = RecordingHead.model_validate_json((folder / HEAD_FILE).read_bytes())
        lines = (folder / TURNS_FILE).read_bytes().splitlines()
        return head, tuple(RecordedTurn.model_validate(orjson.loads(line)) for line in lines if line.strip())
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise MalformedMessage(f"{folder.name}: {error}") from error


def as_case(folder: Path, case_id: str, customer: str, audio_prefix: str) -> Case:
    """The call up to its first withheld turn; `customer` is the sandbox customer who says it again.

    What was heard and decided becomes the expectation, for a person to correct. Raises NotFound where nothing is left.
    """
    head, turns = read_recording(folder)
    kept = turns[: next((i for i, turn in enumerate(turns) if turn.withheld), len(turns))]
    if not kept:
        raise NotFound(f"{folder.name}: no turn that may be used")
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
    return {"transcript": turn.text} | found


def add_recording(folder: Path, manifest: Path, case_id: str, customer: str) -> Case:
    """Copy the sound beside a JSONL manifest and append the case to it; the manifest is made where it is absent."""
    prefix = f"recordings/{case_id}"
    case = as_case(folder, case_id, customer, prefix)
    target = manifest.parent / prefix
    target.mkdir(parents=True, exist_ok=False)
    for turn in case.turns:
        if turn.audio is not None:
            shutil.copyfile(folder / Path(turn.audio).name, target / Path(turn.audio).name)
    with manifest.open("ab") as lines:
        lines.write(dump_jsonl((case,)))
    return case
