"""Manifests that others write: Kaldi data folders, NeMo's JSON lines, Common Voice's TSV, as cases of ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from schemas.errors import MalformedMessage, UnsupportedAudio

Raw = dict[str, Any]
KALDI: Final = "wav.scp"
"""A folder that holds this file is a Kaldi data folder."""
_LOCALES: Final = {"en": "en-US", "ja": "ja-JP"}
_NEMO: Final = frozenset({"audio_filepath", "duration", "offset", "text", "text_no_preprocessing", "lang", "pnc"})
_COMMON_VOICE: Final = frozenset({"path", "sentence"})


def is_nemo(raw: Raw) -> bool:
    """Whether an object is a line of a NeMo manifest."""
    return "audio_filepath" in raw


def nemo(raw: Raw, where: str) -> Raw:
    """A NeMo line: `offset` and `duration` name the part, `text` is what was said; what is more becomes tags."""
    start, length = raw.get("offset"), raw.get("duration")
    turn: Raw = {"audio": raw["audio_filepath"]}
    if start is not None:
        turn["start"] = start
        if length is not None:
            turn["end"] = float(start) + float(length)
    if (said := raw.get("text_no_preprocessing") or raw.get("text")) is not None:
        turn["expect"] = {"transcript": said}
    tags = {k: str(v)[:120] for k, v in raw.items() if k not in _NEMO and isinstance(v, (str, int, float))}
    begins = "" if start is None else f"@{start}"
    case: Raw = {"id": f"{raw['audio_filepath']}{begins}"[-300:], "tags": tags}
    if "lang" in raw:
        case["locale"] = locale_of(str(raw["lang"]), where)
    return case | turn


def is_common_voice(columns: set[str]) -> bool:
    """Whether these are the columns of a Common Voice table."""
    return columns >= _COMMON_VOICE


def common_voice(row: Raw, base: Path, where: str) -> Raw:
    """A row of Common Voice: the clip lies in `clips` beside the table, or beside the table itself."""
    name = row["path"]
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
    """A Kaldi data folder: wav.scp, and segments, text, utt2spk, reco2file_and_channel where they are there."""
    recordings = {key: rest for _, key, rest in _lines(folder / KALDI)}
    said = {key: rest for _, key, rest in _lines(folder / "text")}
    speakers = {key: rest for _, key, rest in _lines(folder / "utt2spk")}
    channels = {key: rest.split()[-1] for _, key, rest in _lines(folder / "reco2file_and_channel")}
    segments = list(_lines(folder / "segments"))
    parts = segments or [(where, key, key) for where, key, _ in _lines(folder / KALDI)]
    for where, key, rest in parts:
        recording, *times = rest.split()
        if recording not in recordings:
            raise MalformedMessage(f"{where}: no recording {recording!r} in {KALDI}")
        source = recordings[recording]
        if source.rstrip().endswith("|"):
            raise UnsupportedAudio(f"{KALDI}: {recording} is made by a command, and commands are not run here")
        case: Raw = {"id": key, "audio": source.strip()}
        if len(times) == 2:  # noqa: PLR2004 - from and to
            case |= {"start": float(times[0]), "end": float(times[1])}
        if recording in channels:
            case["channel"] = {"A": 0, "B": 1, "1": 0, "2": 1}.get(channels[recording], 0)
        if key in said:
            case["expect"] = {"transcript": said[key]}
        if key in speakers:
            case["tags"] = {"speaker": speakers[key][:120]}
        yield where, case


def _lines(path: Path) -> Iterator[tuple[str, str, str]]:
    """Where a line is, its first word, and the rest; nothing of a file that is absent."""
    if not path.is_file():
        return
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        key, _, rest = line.strip().partition(" ")
        if key:
            yield f"{path.name}:{number}", key, rest.strip()
