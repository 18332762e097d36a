"""Reading manifests: JSONL, CSV, or a folder of audio with sidecars."""

import csv
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import ValidationError

from app.qa.replay.manifest import MAX_CASES, Case, Manifest
from schemas.errors import MalformedMessage, NotFound, TooLarge

MAX_MANIFEST_BYTES: Final = 256 * 1024 * 1024
AUDIO_SUFFIXES: Final = frozenset(
    {".wav", ".flac", ".mp3", ".opus", ".ogg", ".oga", ".webm", ".m4a", ".ulaw", ".ul", ".mulaw", ".alaw", ".al"}
)
HEADERLESS: Final = {
    ".ulaw": "g711_ulaw",
    ".ul": "g711_ulaw",
    ".mulaw": "g711_ulaw",
    ".alaw": "g711_alaw",
    ".al": "g711_alaw",
}
CALL_FILE: Final = "call.json"
"""A folder that holds this file is one multi-turn call."""
_CASE_KEYS: Final = frozenset({"id", "locale", "customer", "now", "tags"})
_TURN_COLUMNS: Final = ("audio", "text", "dtmf", "channel", "encoding", "rate", "after_s")
_NAME_COLUMNS: Final = ("transcript", "intent", "decision", "reply", "route", "payee")

Raw = dict[str, Any]


def load(path: Path) -> Manifest:
    """Read a manifest. A `defaults` object in it fills what cases leave out.

    Raises NotFound, TooLarge, MalformedMessage (with the line or file that is wrong).
    """
    if not path.exists():
        raise NotFound(f"no manifest {path}")
    reader: Callable[[Path], Iterator[tuple[str, Raw]]] = _jsonl
    if path.is_dir():
        reader = _folder
    elif path.stat().st_size > MAX_MANIFEST_BYTES:
        raise TooLarge(f"manifest larger than {MAX_MANIFEST_BYTES} bytes")
    elif path.suffix == ".csv":
        reader = _csv
    base = path if path.is_dir() else path.parent
    cases: list[Case] = []
    given: Raw = {}
    for where, raw in reader(path):
        if "defaults" in raw:
            given |= raw["defaults"]
            continue
        if len(cases) >= MAX_CASES:
            raise TooLarge(f"more than {MAX_CASES} cases")
        cases.append(_case(where, given | raw))
    try:
        return Manifest(base=base, cases=tuple(cases))
    except ValidationError as error:
        raise MalformedMessage(f"{path.name}: {_first(error)}") from error


def _case(where: str, raw: Raw) -> Case:
    if "turns" not in raw:
        raw = {k: v for k, v in raw.items() if k in _CASE_KEYS} | {
            "turns": [{k: v for k, v in raw.items() if k not in _CASE_KEYS}]
        }
    try:
        return Case.model_validate(raw)
    except ValidationError as error:
        raise MalformedMessage(f"{where}: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _object(where: str, data: bytes) -> Raw:
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise MalformedMessage(f"{where}: {error}") from error
    if not isinstance(raw, dict):
        raise MalformedMessage(f"{where}: not an object")
    return raw


def _jsonl(path: Path) -> Iterator[tuple[str, Raw]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = f"{path.name}:{number}"
                yield where, _object(where, line)


def _csv(path: Path) -> Iterator[tuple[str, Raw]]:
    """A row is a turn; rows that share `call` are one call, in the order of `turn` (or of the file)."""
    calls: dict[str, list[tuple[int, str, Raw, Raw]]] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            where = f"{path.name}:{number}"
            cells = {k: v for k, v in row.items() if k and v}
            case = {k: cells[k] for k in ("locale", "customer", "now") if k in cells}
            case["tags"] = {k.removeprefix("tags."): v for k, v in cells.items() if k.startswith("tags.")}
            key = cells.get("call") or cells.get("id") or f"row-{number}"
            turn = int(cells["turn"]) if cells.get("turn", "").isdigit() else number
            calls.setdefault(key, []).append((turn, where, case, _csv_turn(where, cells)))
    for key, rows in calls.items():
        rows.sort(key=lambda row: row[0])
        _, where, case, _ = rows[0]
        yield where, case | {"id": key, "turns": [row[3] for row in rows]}


def _csv_turn(where: str, cells: Mapping[str, str]) -> Raw:
    turn: Raw = {k: cells[k] for k in _TURN_COLUMNS if k in cells}
    if turn.get("channel", "").isdigit():
        turn["channel"] = int(turn["channel"])
    expect: Raw = {k: cells[k] for k in _NAME_COLUMNS if k in cells}
    for column in ("intent", "decision", "reply", "route"):
        if "|" in expect.get(column, ""):
            expect[column] = expect[column].split("|")
    if "amount_minor" in cells:
        if not cells["amount_minor"].isdigit():
            raise MalformedMessage(f"{where}: amount_minor is not a whole number")
        amount = {"amount_minor": int(cells["amount_minor"]), "currency": cells.get("currency")}
        expect["slots"] = {"amount": amount}
        if cells.get("booked", "").lower() in {"yes", "true", "1"}:
            expect["money"] = [amount | {"payee": cells.get("payee")}]
    return turn | ({"expect": expect} if expect else {})


def _folder(path: Path) -> Iterator[tuple[str, Raw]]:
    """Every recording below the folder is a case; `name.json` beside it says what to expect, `name.txt` what was said.

    A folder with `call.json` is one call. `defaults.json` at the top fills what the sidecars leave out.
    """
    top = path / "defaults.json"
    if top.is_file():
        yield top.name, {"defaults": _object(top.name, top.read_bytes())}
    calls = {found.parent for found in path.rglob(CALL_FILE)}
    for folder in sorted(calls):
        yield _call_folder(path, folder)
    for audio in sorted(p for p in path.rglob("*") if p.suffix.lower() in AUDIO_SUFFIXES):
        if not calls.intersection(audio.parents):
            yield _sidecar(path, audio)


def _call_folder(base: Path, folder: Path) -> tuple[str, Raw]:
    where = str((folder / CALL_FILE).relative_to(base))
    raw = _object(where, (folder / CALL_FILE).read_bytes())
    prefix = folder.relative_to(base)
    turns = raw.get("turns")
    if not isinstance(turns, list):
        raise MalformedMessage(f"{where}: no list of turns")
    moved = [turn | {"audio": str(prefix / turn["audio"])} if "audio" in turn else turn for turn in turns]
    name = str(prefix) if prefix.parts else base.name
    return where, {"id": name} | raw | {"turns": moved}


def _sidecar(base: Path, audio: Path) -> tuple[str, Raw]:
    relative = audio.relative_to(base)
    raw: Raw = {"id": str(relative.with_suffix("")), "audio": str(relative)}
    if audio.suffix.lower() in HEADERLESS:
        raw |= {"encoding": HEADERLESS[audio.suffix.lower()], "rate": 8_000}
    beside, words = audio.with_suffix(".json"), audio.with_suffix(".txt")
    if beside.is_file():
        raw |= _object(str(beside.relative_to(base)), beside.read_bytes())
    if words.is_file():
        said = words.read_text(encoding="utf-8").strip()
        raw["expect"] = {"transcript": said} | raw.get("expect", {})
    return str(relative), raw
