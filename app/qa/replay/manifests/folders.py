"""A folder of recordings with sidecars as a manifest: nothing that looks like a recording or a label is passed over."""

import codecs
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from app.qa.replay.manifests.formats import FAULT
from app.qa.replay.sound.audio import HEADERLESS
from schemas.errors import MalformedMessage
from schemas.json_names import DOUBLED, doubled_name

Raw = dict[str, Any]
DEFAULTS: Final = "defaults.json"
CALL_FILE: Final = "call.json"
"""A folder that holds this file is one multi-turn call."""
_SIDECARS: Final = (".json", ".txt")
_PROSE: Final = frozenset({"readme", "license", "licence", "notice", "changelog", "copying"})
"""Texts that tell people of a folder."""


def folder(path: Path, suffixes: Collection[str]) -> Iterator[tuple[str, Raw]]:
    """Every recording below the folder is a case; `name.json` beside it says what to expect, `name.txt` what was said.

    A folder with `call.json` is one call. What can't be read, and what belongs to nothing, stands under FAULT.
    """
    files = sorted(found for found in path.rglob("*") if found.is_file() and not _hidden(found.relative_to(path)))
    calls = {found.parent for found in files if found.name == CALL_FILE}
    beside: defaultdict[Path, list[Path]] = defaultdict(list)
    for file in files:
        if file.suffix.lower() in _SIDECARS:
            beside[file.with_suffix("")].append(file)
    used = {path / DEFAULTS, *(call / CALL_FILE for call in calls)}
    for call in sorted(calls):
        where = str((call / CALL_FILE).relative_to(path))
        try:
            yield where, _call(path, call, where, used)
        except MalformedMessage as error:
            yield where, {FAULT: error.message}
    for audio in files:
        if audio.suffix.lower() in suffixes and not calls.intersection(audio.parents):
            where = str(audio.relative_to(path))
            used.add(audio)
            try:
                yield where, _recording(audio, where, beside[audio.with_suffix("")], used)
            except MalformedMessage as error:
                yield where, {FAULT: error.message}
    for file in files:
        if file not in used and _matters(file, suffixes):
            where = str(file.relative_to(path))
            of = f"{CALL_FILE} does not name it" if calls.intersection(file.parents) else "no recording is called so"
            yield where, {FAULT: f"{where}: {of}"}


def object_of(where: str, data: bytes) -> Raw:
    """A JSON object. Raises MalformedMessage."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise MalformedMessage(f"{where}: {error}") from error
    if not isinstance(raw, dict):
        raise MalformedMessage(f"{where}: not an object")
    if doubled_name(data) is not None:
        raise MalformedMessage(f"{where}: {DOUBLED}")
    return raw


def _hidden(relative: Path) -> bool:
    return any(part.startswith(".") for part in relative.parts)


def _matters(file: Path, suffixes: Collection[str]) -> bool:
    suffix = file.suffix.lower()
    return suffix in suffixes or (suffix in _SIDECARS and file.stem.lower() not in _PROSE)


def _call(base: Path, call: Path, where: str, used: set[Path]) -> Raw:
    raw = object_of(where, (call / CALL_FILE).read_bytes())
    prefix = call.relative_to(base)
    turns = raw.get("turns")
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in turns):
        raise MalformedMessage(f"{where}: no list of turns")
    used |= {call / turn["audio"] for turn in turns if isinstance(turn.get("audio"), str)}
    moved = [turn | {"audio": str(prefix / turn["audio"])} if "audio" in turn else turn for turn in turns]
    name = str(prefix) if prefix.parts else base.name
    return {"id": name} | raw | {"turns": moved}


def _recording(audio: Path, where: str, sidecars: list[Path], used: set[Path]) -> Raw:
    raw: Raw = {"id": str(Path(where).with_suffix("")), "audio": where}
    if audio.suffix.lower() in HEADERLESS:
        raw |= {"encoding": HEADERLESS[audio.suffix.lower()], "rate": 8_000}
    used.update(sidecars)
    if len({file.suffix.lower() for file in sidecars}) < len(sidecars):
        raise MalformedMessage(f"{where}: two files that say the same of it: {', '.join(f.name for f in sidecars)}")
    said: str | None = None
    for file in sidecars:
        name = str(Path(where).with_name(file.name))
        if file.suffix.lower() == ".json":
            raw |= object_of(name, file.read_bytes())
        else:
            said = _words(name, file)
    if said is not None:
        raw["expect"] = {"transcript": said} | raw.get("expect", {})
    return raw


def _words(name: str, file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"{name}: not in UTF-8") from error
