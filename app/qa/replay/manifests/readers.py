"""Reading manifests: JSON lines or an array, tables, a folder of audio with sidecars; and what others write."""

import codecs
import csv
import lzma
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import orjson
from pydantic import ValidationError

from app.qa.replay.manifests import folders, formats, tables
from app.qa.replay.manifests.folders import DEFAULTS, object_of
from app.qa.replay.manifests.formats import FAULT
from app.qa.replay.manifests.manifest import MAX_CASES, Case, Manifest
from app.qa.replay.sound.audio import HEADERLESS
from schemas.amiss import faults
from schemas.errors import BadInput, MalformedMessage, NotFound, TellerlineError, TooLarge
from schemas.json_names import DOUBLED, doubled_name

MAX_MANIFEST_BYTES: Final = 256 * 1024 * 1024
AUDIO_SUFFIXES: Final = frozenset(
    {
        *(".wav", ".flac", ".mp3", ".opus", ".ogg", ".oga", ".webm", ".m4a", ".aac", ".wma", ".gsm", ".au", ".amr"),
        *(".aif", ".aiff", ".aifc", ".caf", ".mp2", ".mp4", ".mka", ".mkv", ".mov", ".3gp", ".awb", ".w64", ".wv"),
        *(".sph", ".snd", ".raw", ".pcm", ".sln", ".vox", ".g729", ".spx"),
        *HEADERLESS,
    }
)
PACKED: Final = ".xz"
"""What JSON lines end in that xz packed."""
MAX_TOLD: Final = 20
"""Faults of a manifest that an error names."""
_UNREADABLE: Final = (TellerlineError, TypeError, ValueError, AttributeError, KeyError, csv.Error)
"""What readers raise where a value is of another kind than they take."""
_CASE_KEYS: Final = frozenset({"id", "locale", "customer", "facts", "now", "tags"})
Raw = dict[str, Any]


def load(path: Path) -> Manifest:
    """Read a manifest. `defaults.json` beside it, or an object `defaults` in it, fills what cases leave out.

    Raises NotFound, TooLarge, MalformedMessage (with every line or file that is wrong).
    """
    manifest, faults = read(path)
    if faults:
        told = "; ".join(faults[:MAX_TOLD])
        raise MalformedMessage(told if len(faults) <= MAX_TOLD else f"{told}; and {len(faults) - MAX_TOLD} more")
    return manifest


def lines(path: Path) -> Path:
    """Where a set is to be written. Raises BadInput where it would be read as a table."""
    if path.suffix.lower() in {*_TABLES, PACKED}:
        raise BadInput(f"{path.name}: JSON lines end in .jsonl")
    return path


def base_of(path: Path) -> Path:
    """The folder that a manifest's recordings are relative to. Raises NotFound."""
    if not path.exists():
        raise NotFound(f"no manifest {path}")
    return path if path.is_dir() else path.parent


def read(path: Path) -> tuple[Manifest, tuple[str, ...]]:
    """The cases that can be read, and everything that is wrong with the others. Raises NotFound, TooLarge.

    Raises MalformedMessage only where `defaults.json` can't be read.
    """
    base = base_of(path)
    if path.is_file() and path.stat().st_size > MAX_MANIFEST_BYTES:
        raise TooLarge(f"manifest larger than {MAX_MANIFEST_BYTES} bytes")
    cases: list[Case] = []
    faults: list[str] = []
    seen: set[str] = set()
    beside = base / DEFAULTS
    given: Raw = object_of(DEFAULTS, beside.read_bytes()) if beside.is_file() else {}
    lines = iter(_reader(path)(path))
    while True:
        where = path.name
        try:
            where, raw = next(lines)
            if FAULT in raw:
                raise MalformedMessage(raw[FAULT])
            if "defaults" in raw:
                if len(raw) > 1:
                    raise MalformedMessage(f"{where}: `defaults` stand in a line of their own")
                given |= raw["defaults"]
                continue
            case = _case(where, raw, given)
            if case.id in seen:
                raise MalformedMessage(f"{where}: two cases are called {case.id!r}")
            seen.add(case.id)
            cases.append(case)
        except StopIteration:
            break
        except _UNREADABLE as error:
            faults.append(_told(where, error))
        if len(cases) > MAX_CASES:
            raise TooLarge(f"more than {MAX_CASES} cases")
    none = () if cases or faults else (f"{path.name}: no calls in it",)
    return Manifest(base=base, cases=tuple(cases)), (*faults, *none)


def _told(where: str, error: Exception) -> str:
    if isinstance(error, TellerlineError):
        return error.message
    if isinstance(error, UnicodeDecodeError):
        return f"{where}: not in UTF-8, which spreadsheets save as CSV UTF-8"
    return f"{where}: not written as such a set is: {error}"


def _reader(path: Path) -> Callable[[Path], Iterable[tuple[str, Raw]]]:
    if path.is_dir():
        return formats.kaldi if (path / formats.KALDI).is_file() else partial(folders.folder, suffixes=AUDIO_SUFFIXES)
    return _TABLES.get(path.suffix.lower(), _json)


def _case(where: str, raw: Raw, given: Raw) -> Case:
    """A line as a case; `given` fills what it leaves out, in its turns too."""
    if formats.is_nemo(raw):
        raw = formats.nemo(raw, where)
    of_case = {k: v for k, v in given.items() if k in _CASE_KEYS}
    of_turn = {k: v for k, v in given.items() if k not in _CASE_KEYS}
    if "turns" not in raw:
        raw = {k: v for k, v in raw.items() if k in _CASE_KEYS} | {
            "turns": [{k: v for k, v in raw.items() if k not in _CASE_KEYS}]
        }
    turns = raw["turns"]
    if isinstance(turns, list):
        turns = [_filled(_turn(of_turn), _turn(turn)) if isinstance(turn, dict) else turn for turn in turns]
    if isinstance(raw.get("tags"), dict):
        raw |= {"tags": of_case.get("tags", {}) | raw["tags"]}
    try:
        return Case.model_validate(of_case | raw | {"turns": turns})
    except ValidationError as error:
        raise MalformedMessage(f"{where}: {amiss(error)}") from error


def _turn(turn: Raw) -> Raw:
    """A turn in which what was said may stand beside the sound, as well as in `expect`."""
    if "transcript" not in turn:
        return turn
    said = {"transcript": turn["transcript"]}
    return {k: v for k, v in turn.items() if k != "transcript"} | {"expect": said | turn.get("expect", {})}


def _filled(given: Raw, turn: Raw) -> Raw:
    """A turn with what defaults say besides, its labels field by field; a machine's word there is not the turn's."""
    both = given | turn
    if isinstance(given.get("expect"), dict) and isinstance(turn.get("expect"), dict):
        said = turn["expect"]
        machines = [name for name in given["expect"].get("by_machine", ()) if name not in said]
        both["expect"] = given["expect"] | said
        if machines or "by_machine" in both["expect"]:
            both["expect"]["by_machine"] = [*machines, *said.get("by_machine", ())]
    return both


def amiss(error: ValidationError) -> str:
    """All that is wrong, in a line."""
    return "; ".join(islice(faults(error, own_file=True), MAX_TOLD))


def _opened(path: Path) -> IO[bytes]:
    """A file, unpacked where it is packed. Raises TooLarge, MalformedMessage."""
    if path.suffix != PACKED:
        return path.open("rb")
    try:
        return BytesIO(_unpacked(path.name, path.read_bytes()))
    except lzma.LZMAError as error:
        raise MalformedMessage(f"{path.name}: {error}") from error


def _unpacked(name: str, packed: bytes) -> bytes:
    """All streams of a file: whoever puts two packed files together has both. Raises TooLarge, MalformedMessage."""
    body = b""
    while packed:
        stream = lzma.LZMADecompressor()
        body += stream.decompress(packed, MAX_MANIFEST_BYTES + 1 - len(body))
        if len(body) > MAX_MANIFEST_BYTES:
            raise TooLarge(f"manifest larger than {MAX_MANIFEST_BYTES} bytes")
        if not stream.eof:
            raise MalformedMessage(f"{name}: cut short")
        packed = stream.unused_data.lstrip(b"\0")
    return body


def _json(path: Path) -> Iterator[tuple[str, Raw]]:
    """JSON lines, or one array of objects. A line that can't be read is told, and the next one read."""
    with _opened(path) as lines:
        begin = len(codecs.BOM_UTF8) if lines.read(3) == codecs.BOM_UTF8 else 0  # what editors put before a text
        lines.seek(begin)
        first = lines.read(64).lstrip()[:1]
        lines.seek(begin)
        if first == b"[":
            for number, raw in enumerate(_array(path.name, lines.read()), 1):
                yield f"{path.name}[{number}]", raw
            return
        for number, line in enumerate(lines, 1):
            if line.strip():
                where = f"{path.name}:{number}"
                yield where, _object_or_fault(where, line)


def _array(name: str, data: bytes) -> list[Raw]:
    try:
        objects = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise MalformedMessage(f"{name}: {error}") from error
    if doubled_name(data) is not None:
        raise MalformedMessage(f"{name}: {DOUBLED}")
    return [raw if isinstance(raw, dict) else {FAULT: f"{name}: not an object"} for raw in objects]


def _object_or_fault(where: str, data: bytes) -> Raw:
    """The object, or what is wrong with it: a generator that raises would read no further."""
    try:
        return object_of(where, data)
    except MalformedMessage as error:
        return {FAULT: error.message}


_TABLES: Final[dict[str, Callable[[Path], Iterable[tuple[str, Raw]]]]] = {
    ".csv": tables.separated,
    ".tsv": tables.separated,
    ".parquet": tables.parquet,
}
