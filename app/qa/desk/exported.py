"""Tests that the desk makes of recorded calls: the name of a recording that stays sealed, or all of it in the open."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import orjson
from pydantic import Field, StringConstraints, ValidationError

from app.composition.keys import audit_keys
from app.qa.desk.shelf import review_of, still_there
from app.qa.replay.labelling.labels import Correction, apply
from app.qa.replay.manifests.manifest import Case, CaseId, Manifest, Strict
from app.qa.replay.records.recorded import Recording, as_case, read_recording
from app.qa.scratch import Scratch
from app.settings import Settings
from schemas.errors import MalformedMessage, NotFound

_LINES: Final = frozenset({".jsonl", ".json"})
_FIELD: Final = re.compile(rb'^\s*\{[^][{}]*"recording"\s*:', re.MULTILINE)  # a case has it as a tag


class SealedCase(Strict):
    """A test by reference: the call up to turn `last` of a recording. Nothing in it was said by anybody."""

    id: CaseId
    recording: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    last: Annotated[int, Field(ge=1, le=999)]

    def line(self) -> bytes:
        """The manifest's line."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_SORT_KEYS) + b"\n"


def case_of(recording: Recording, name: str, last: int, person: str | None) -> Case:
    """A recorded call up to a turn as a case, with the labels of people that `person` may know; None knows all.

    Raises NotFound, MalformedMessage.
    """
    case = as_case(recording, name, None, f"recordings/{name}", last=last)
    with still_there():
        said = [
            Correction(case=name, turn=number, expect=labels, whole=False)
            for number, stood in enumerate(recording.usable(last), 1)
            if (labels := review_of(recording, stood.turn).labels_for(person)) is not None
        ]
    return apply(Manifest(base=Path(), cases=(case,)), said).cases[0]


def sound_of(recording: Recording, case: Case) -> dict[str, bytes]:
    """The case's sound, unsealed, by its name in the manifest. Raises NotFound."""
    with still_there():
        named = [turn.audio for turn in case.turns if turn.audio is not None]
        return {audio: recording.files.read(audio.rpartition("/")[2]) for audio in named}


def references(path: Path) -> tuple[SealedCase, ...]:
    """The lines of a manifest that names recordings; nothing of any other. Raises MalformedMessage where it is both."""
    if path.suffix not in _LINES or not path.is_file() or not _FIELD.search(path.read_bytes()):
        return ()
    found = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            found.append(SealedCase.model_validate(orjson.loads(line)))
        except (orjson.JSONDecodeError, ValidationError) as error:
            raise MalformedMessage(f"{path.name}:{number}: not a line that names a recording, as others do") from error
    return tuple(found)


@contextmanager
def unsealed(cases: tuple[SealedCase, ...], settings: Settings) -> Iterator[Manifest]:
    """The cases with their sound in a folder that is gone afterwards. Raises NotFound with every one that is gone."""
    scratch, keys = Scratch("tellerline-unsealed"), audit_keys(settings)
    try:
        made, gone = [], []
        for one in cases:
            try:
                recording = read_recording(settings.recordings / one.recording, keys)
                made.append(case_of(recording, one.id, one.last, None))
                for name, body in sound_of(recording, made[-1]).items():
                    (scratch.path / name).parent.mkdir(parents=True, exist_ok=True)
                    (scratch.path / name).write_bytes(body)
            except NotFound:
                gone.append(one.id)
        if gone:
            raise NotFound(f"recordings that are erased, or past their days: {', '.join(gone)}")
        yield Manifest(base=scratch.path, cases=tuple(made))
    finally:
        scratch.close()
