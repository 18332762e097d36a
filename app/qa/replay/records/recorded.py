"""A recorded call as a test case: its sound copied beside a manifest, what happened as what should happen."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from app.qa.replay.manifests.manifest import Case, dump_jsonl
from app.recordings.facts import FACTS_FILE, CallerFacts
from app.recordings.files import GONE, HEAD_FILE, RecordedTurn, RecordingHead
from app.recordings.sealed import SealedFolder
from app.shadow.differing import NEEDS_HISTORY
from schemas.errors import MalformedMessage, NotFound
from schemas.transcript import Source
from services.record.audit_keys import AuditKeys

MAX_WAIT_S: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded call and the folder that holds its sound."""

    head: RecordingHead
    turns: tuple[RecordedTurn, ...]
    files: SealedFolder
    facts: CallerFacts | None = None

    def usable(self, last: int | None = None) -> tuple[RecordedTurn, ...]:
        """The turns that stood in the call's first language, up to `last`.

        Raises NotFound where it is withheld, or none is left.
        """
        stood = tuple(turn for turn in self.turns if not turn.withdrawn)
        fits = (not turn.withheld and turn.locale in {"", self.head.locale} for turn in stood)
        kept = stood[: next((i for i, fit in enumerate(fits) if not fit), len(stood))]
        if last is not None:
            kept = tuple(turn for turn in kept if turn.turn <= last)
        if not kept or (last is not None and kept[-1].turn != last):
            raise NotFound(f"{self.head.call}: no turn that may be used")
        return kept


def read_recording(folder: Path, keys: AuditKeys) -> Recording:
    """A recorded call. Raises NotFound, MalformedMessage (also where consent is not on record, or the key is wrong)."""
    if folder.name.endswith(GONE):
        raise NotFound(f"{folder} is being removed")
    try:
        head = RecordingHead.model_validate_json((folder / HEAD_FILE).read_bytes())
        files = head.sealed(folder, keys)
        turns = [RecordedTurn.model_validate_json(files.read(name)) for name in files.names("turn-*.json")]
        facts = CallerFacts.model_validate_json(files.read(FACTS_FILE)) if files.names(FACTS_FILE) else None
    except OSError as error:
        raise NotFound(f"{folder} holds no recorded call") from error
    except ValueError as error:
        raise MalformedMessage(f"{folder.name}: {error}") from error
    return Recording(head, tuple(turns), files, facts)


def as_case(call: Recording, case_id: str, customer: str | None, audio_prefix: str, last: int | None = None) -> Case:
    """The call up to its first withheld turn, or to turn `last`, said again by who said it, as they were then.

    Where a `customer` of the demo bank says it in their place, nothing is expected of payees, accounts and money.
    What was heard and decided is the expectation, marked as a machine's until a person has looked.
    Raises NotFound where nothing is left, or the recording has no snapshot of its caller and no customer is named.
    """
    head = call.head
    if customer is None and call.facts is None:
        raise NotFound(f"{head.call} has no snapshot of its caller's facts: name a customer of the demo bank")
    kept = call.usable(last)
    said, before = [], head.started_at
    for turn in kept:
        wait = max((turn.at - before) / timedelta(seconds=1), 0.0)
        labels = machine_labels(turn, owned=customer is None)
        expect = labels | {"by_machine": tuple(labels)}
        said.append(_utterance(turn, audio_prefix) | {"after_s": round(min(wait, MAX_WAIT_S), 1), "expect": expect})
        before = turn.at
    raw = {"id": case_id, "locale": head.locale, "now": head.started_at, "turns": said}
    who = {"facts": call.facts} if customer is None else {"customer": customer}
    return Case.model_validate(raw | who | {"tags": {"source": "recording", "call": head.call}})


def _utterance(turn: RecordedTurn, audio_prefix: str) -> dict[str, Any]:
    if turn.audio is not None:
        return {"audio": f"{audio_prefix}/{turn.audio}"}
    return {"dtmf": turn.text} if turn.source is Source.DTMF else {"text": turn.text}


def machine_labels(turn: RecordedTurn, *, owned: bool = True) -> dict[str, Any]:
    """What was heard and concluded in a turn, as fields of an Expectation.

    Of what is the caller's own only where it is they who say it again (`owned`).
    """
    names = ("intent", "route", "decision", "outcome", "reply")
    found: dict[str, Any] = {"transcript": turn.text}
    found |= {name: getattr(turn, name) for name in names if getattr(turn, name)}
    if turn.intent in NEEDS_HISTORY:
        found = {name: value for name, value in found.items() if name not in {"outcome", "reply"}}
    if owned and turn.intent is not None:
        found["slots"] = {name: slot.value for name, slot in turn.slots.items()}
        found["money"] = [move.model_dump(exclude_none=True) for move in turn.money]
        if turn.payee:
            found["payee"] = turn.payee
    return found


def add_recording(call: Recording, manifest: Path, case_id: str, customer: str | None) -> Case:
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
