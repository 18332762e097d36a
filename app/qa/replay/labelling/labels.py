"""Corrections: what should have happened after all, merged into a manifest."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import orjson
from pydantic import Field, ValidationError

from app.qa.replay.labelling.vocabulary import expectation_faults
from app.qa.replay.manifests.manifest import MAX_TURNS, Case, CaseId, Expectation, Manifest, Strict, Words
from app.qa.replay.manifests.readers import amiss
from schemas.errors import MalformedMessage, NotFound


class Correction(Strict):
    """One turn's new expectation: whole, or else only the fields that are set in it. `note` is for people."""

    case: CaseId
    turn: Annotated[int, Field(ge=1, le=MAX_TURNS)] = 1
    expect: Expectation
    whole: bool = True
    note: Words = ""


def read_corrections(path: Path) -> tuple[Correction, ...]:
    """The lines of an export of the report, or of `tellerline label set`. Raises NotFound, MalformedMessage."""
    if not path.is_file():
        raise NotFound(f"no corrections {path}")
    found = []
    for number, raw in enumerate(path.read_bytes().splitlines(), 1):
        if raw.strip():
            try:
                found.append(Correction.model_validate(orjson.loads(raw)))
            except (orjson.JSONDecodeError, ValidationError) as error:
                said = amiss(error) if isinstance(error, ValidationError) else error
                raise MalformedMessage(f"{path.name}:{number}: {said}") from error
    return tuple(found)


def correction(case: str, turn: int, fields: Iterable[str], note: str = "") -> Correction:
    """A correction of the fields named: slots, spans, money as JSON, `|` between names. Raises MalformedMessage."""
    expect: dict[str, object] = {}
    for field in fields:
        name, mark, text = field.partition("=")
        if not mark:
            raise MalformedMessage(f"{field!r:.60} is not name=value")
        try:
            structured = name in {"slots", "spans", "money"}
            expect[name] = orjson.loads(text) if structured else text.split("|") if "|" in text else text
        except orjson.JSONDecodeError as error:
            raise MalformedMessage(f"{name}: {error}") from error
    try:
        return Correction.model_validate({"case": case, "turn": turn, "expect": expect, "whole": False, "note": note})
    except ValidationError as error:
        raise MalformedMessage(amiss(error)) from error


def append_correction(path: Path, correction: Correction) -> None:
    """Add a line."""
    with path.open("ab") as lines:
        body = correction.model_dump(mode="json", exclude_defaults=True)
        lines.write(orjson.dumps(body, option=orjson.OPT_SORT_KEYS) + b"\n")


def faults(corrections: Iterable[Correction]) -> tuple[str, ...]:
    """The names in corrections that mean nothing, with a suggestion each."""
    return tuple(f"{c.case}#{c.turn}: {fault}" for c in corrections for fault in expectation_faults(c.expect))


def apply(manifest: Manifest, corrections: Iterable[Correction]) -> Manifest:
    """The manifest with the corrections in it, one after the other. Raises NotFound."""
    wanted = {(case.id, n): turn.expect for case in manifest.cases for n, turn in enumerate(case.turns, 1)}
    for found in corrections:
        key = found.case, found.turn
        if key not in wanted:
            raise NotFound(f"no turn {found.case}#{found.turn} in the manifest")
        wanted[key] = _merged(wanted[key], found)
    return Manifest(base=manifest.base, cases=tuple(_corrected(case, wanted) for case in manifest.cases))


def _merged(before: Expectation | None, found: Correction) -> Expectation:
    """What a person says is theirs; what they say nothing of stays what it was, a machine's word too."""
    if before is None or found.whole:
        return found.expect
    said = found.expect.model_fields_set - {"by_machine"}
    left = tuple(name for name in before.by_machine if name not in said)
    return before.model_copy(update={name: getattr(found.expect, name) for name in said} | {"by_machine": left})


def _corrected(case: Case, wanted: dict[tuple[str, int], Expectation | None]) -> Case:
    turns = tuple(turn.model_copy(update={"expect": wanted[case.id, n]}) for n, turn in enumerate(case.turns, 1))
    return case.model_copy(update={"turns": turns})
