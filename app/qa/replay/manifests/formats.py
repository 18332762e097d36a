"""Manifests that others write: Kaldi data folders, NeMo's JSON lines, Common Voice's TSV, as cases of ours."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from schemas.errors import MalformedMessage, UnsupportedAudio

Raw = dict[str, Any]
FAULT: Final = "\x00fault"
"""Key of an object that stands for a line that can't be read."""
KALDI: Final = "wav.scp"
"""A folder that holds this file is a Kaldi data folder."""
_LOCALES: Final = {"en": "en-US", "ja": "ja-JP"}
_TO_THE_END: Final = -1.0
"""Where a segment of Kaldi's ends that goes on to the end of its recording."""
_OURS: Final = frozenset(
    {"id", "locale", "customer", "facts", "now", "tags", "channel", "encoding", "rate", "after_s", "expect"}
)
"""Fields of a case that a line of NeMo's may have besides."""
_NEMO: Final = frozenset({"audio_filepath", "duration", "offset", "text", "text_no_preprocessing", "lang", "pnc"})
_COMMON_VOICE: Final = frozenset({"path", "sentence"})


def is_nemo(raw: Raw) -> bool:
    """Whether an object is a line of a NeMo manifest."""
    return "audio_filepath" in raw


def nemo(raw: Raw, where: str) -> Raw:
    """A NeMo line: `offset` and `duration` name the part, `text` is what was said; fields of ours are as elsewhere.

    What is more becomes tags. Raises MalformedMessage where it is no name of anything.
    """
    start, length = raw.get("offset"), raw.get("duration")
    case: Raw = {name: raw[name] for name in _OURS if name in raw}
    if start is not None:
        case["start"] = start
        if length is not None:
            case["end"] = float(start) + float(length)
    if (said := raw.get("text_no_preprocessing") or raw.get("text")) is not None:
        case["expect"] = {"transcript": said} | case.get("expect", {})
    more = {k: v for k, v in raw.items() if k not in _NEMO | _OURS and v is not None}
    if strange := [k for k, v in more.items() if not isinstance(v, (str, int, float))]:
        raise MalformedMessage(f"{where}: {strange[0]!r} is no field of a case, and no tag")
    case["tags"] = {k: str(v)[:120] for k, v in more.items()} | case.get("tags", {})
    begins = "" if start is None else f"@{start}"
    found: Raw = {"id": f"{raw['audio_filepath']}{begins}"[-300:]}
    if "lang" in raw:
        found["locale"] = locale_of(str(raw["lang"]), where)
    return found | case | {"audio": raw["audio_filepath"]}


def is_common_voice(columns: set[str]) -> bool:
    """Whether these are the columns of a Common Voice table."""
    return columns >= _COMMON_VOICE


def common_voice(row: Raw, base: Path, where: str) -> Raw:
    """A row of Common Voice: the clip lies in `clips` beside the table, or beside the table itself."""
    name = row["path"]
    if not name or row["sentence"] is None:
        raise MalformedMessage(f"{where}: a clip without its path, or without its sentence")
    inside = (base / "clips" / name).exists() or not (base / name).exists()
    case: Raw = {"id": Path(name).stem, "audio": f"clips/{name}" if inside else name}
    case["expect"] = {"transcript": row["sentence"]}
    case["tags"] = {k: row[k][:120] for k in ("age", "gender", "accents", "variant") if row.get(k)}
    if row.get("locale"):
        case["locale"] = locale_of(row["locale"], where)
    return case


def locale_of(language: str, where: str) -> str:
    """A locale for a language as others write it: en, en-GB, en_US, ja. Raises MalformedMessage."""
    tag = language.replace("_", "-")
    if tag in _LOCALES:
        return _LOCALES[tag]
    first, _, region = tag.partition("-")
    if len(region) == 2:  # noqa: PLR2004 - a country
        return f"{first.lower()}-{region.upper()}"
    raise MalformedMessage(f"{where}: no locale for {language!r}")


def kaldi(folder: Path) -> Iterator[tuple[str, Raw]]:
    """A Kaldi data folder: wav.scp, and segments, text, utt2spk, reco2file_and_channel where they are there.

    A line that can't be read, or is of nothing, is a fault by itself.
    """
    names = (KALDI, "text", "utt2spk", "reco2file_and_channel", "segments")
    tables = {name: list(_lines(folder / name)) for name in names}
    segmented = (folder / "segments").is_file()
    parts = tables["segments"] if segmented else [(where, key, key) for where, key, _ in tables[KALDI]]
    of = {name: {key: rest for _, key, rest in lines} for name, lines in tables.items()}
    for where, key, rest in parts:
        try:
            yield where, _kaldi_case(where, key, rest.split(), of, segmented=segmented)
        except (MalformedMessage, UnsupportedAudio) as error:
            yield where, {FAULT: error.message}
    recordings = {rest.split()[0] if rest else "" for _, _, rest in parts} if segmented else {*of[KALDI]}
    known = {"text": {key for _, key, _ in parts}, "reco2file_and_channel": {*of[KALDI]}, KALDI: recordings}
    known["utt2spk"] = known["text"]
    for name, lines in tables.items():
        counted = Counter(key for _, key, _ in lines)
        yield from ((name, {FAULT: f"{name}: {key!r} is there twice"}) for key, n in counted.items() if n > 1)
        for where, key, _ in lines:
            if key not in known.get(name, {key}):
                yield where, {FAULT: f"{where}: {key!r} is of nothing that is played"}


def _kaldi_case(where: str, key: str, columns: list[str], of: dict[str, dict[str, str]], *, segmented: bool) -> Raw:
    """Raises MalformedMessage, UnsupportedAudio."""
    recording, *times = columns or [""]
    if recording not in of[KALDI]:
        raise MalformedMessage(f"{where}: no recording {recording!r} in {KALDI}")
    source = of[KALDI][recording].strip()
    if source.endswith("|"):
        raise UnsupportedAudio(f"{where}: {recording} is made by a command, and commands are not run here")
    case: Raw = {"id": key, "audio": source}
    channel = of["reco2file_and_channel"].get(recording, "").split()[-1:]
    if segmented:
        try:
            start, end, *more = times
            case["start"] = float(start)
            case |= {} if float(end) == _TO_THE_END else {"end": float(end)}
        except ValueError as error:
            raise MalformedMessage(f"{where}: a segment is of a recording, from a second to a second") from error
        if len(more) > 1:
            raise MalformedMessage(f"{where}: a column beyond the channel")
        channel = more or channel
    if channel:
        case["channel"] = _channel(where, channel[0])
    if key in of["text"]:
        case["expect"] = {"transcript": of["text"][key]}
    if key in of["utt2spk"]:
        case["tags"] = {"speaker": of["utt2spk"][key][:120]}
    return case


def _channel(where: str, name: str) -> int:
    """The channel as we count. Raises MalformedMessage: whose it is is never guessed."""
    known = {"a": 0, "b": 1, "1": 0, "2": 1}
    if name.lower() not in known:
        raise MalformedMessage(f"{where}: channel {name!r} is none of A, B, 1, 2")
    return known[name.lower()]


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Where a line is, its first word, and the rest; nothing of a file that is absent."""
    if not path.is_file():
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedMessage(f"{path.name}: not in UTF-8") from error
    for number, line in enumerate(text.split("\n"), 1):
        key, *rest = line.split(None, 1)[:2] or [""]
        if key:
            yield f"{path.name}:{number}", key, rest[0].strip() if rest else ""
