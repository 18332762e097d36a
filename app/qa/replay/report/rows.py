"""What the report's page holds of each turn: a short row for the table, and the whole record for its detail."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from os.path import relpath
from pathlib import Path
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from app.qa.replay.judging.failures import failures
from app.qa.replay.judging.judge import Judgement, judge
from app.qa.replay.judging.words import comparable
from app.qa.replay.manifests.manifest import located
from app.qa.replay.records.record import SoundRecord, TurnResult
from app.qa.replay.sound.audio import Clip, decode
from app.recordings.files import flac
from schemas.errors import TellerlineError

EMBED_BYTES: Final = 8 * 1024 * 1024
"""Recordings of a run are put into the page while all of them together stay below this; otherwise they are linked."""
SOUND: Final = "sound"
"""Folder beside the page for decoded sound that is too large to be put into it."""
COLUMNS: Final = (
    "id", "locale", "tags", "right", "money", "said", "heard", "errors", "length", "wanted", "intent", "decision",
    "reply", "route", "ms", "audio_s", "models", "error", "why", "parted",
)  # fmt: skip
_PLAYABLE: Final = {
    ".wav": "audio/wav", ".flac": "audio/flac", ".mp3": "audio/mpeg", ".opus": "audio/ogg", ".ogg": "audio/ogg",
    ".oga": "audio/ogg", ".webm": "audio/webm", ".m4a": "audio/mp4",
}  # fmt: skip


def row(result: TurnResult, judged: Judgement) -> list[JsonValue]:
    """The values of COLUMNS."""
    turn, expect = result.record, result.record.expect
    wanted = expect.intent if expect else None
    return [
        turn.id,
        turn.locale,
        " ".join(f"{k}={v}" for k, v in turn.tags.items()),
        judged.right,
        judged.money.value if judged.money else None,
        expect.transcript if expect else None,
        turn.heard,
        judged.words.edits if judged.words else None,
        judged.words.length if judged.words else None,
        wanted if wanted is None or isinstance(wanted, str) else " | ".join(wanted),
        turn.intent,
        turn.decision,
        turn.reply,
        turn.route,
        None if result.timing.total_ms is None else round(result.timing.total_ms, 1),
        result.timing.audio_s,
        len(turn.models),
        turn.error,
        [failure.id for failure in failures(turn, judged)],
        bool(turn.parting) or not turn.reached,
    ]


def detail(result: TurnResult, judged: Judgement) -> dict[str, JsonValue]:
    """The record without its defaults, what was wrong with it, and the stages."""
    record = result.record.model_dump(mode="json", exclude_defaults=True)
    wrong: list[JsonValue] = [
        name
        for name, verdict in (
            ("intent", judged.intent),
            ("decision", judged.decision),
            ("outcome", judged.outcome),
            ("reply", judged.reply),
            ("route", judged.route),
            ("payee", judged.payee_choice),
            ("transcript", judged.exact),
        )
        if verdict is False
    ]
    wrong += [f"slots.{name}" for name, tally in judged.slots.items() if tally.spurious or tally.missed]
    wrong += [f"spans.{name}" for name, tally in judged.spans.items() if tally.spurious or tally.missed]
    stages: list[JsonValue] = [[s.name, s.start_ms, s.ms] for s in result.timing.stages]
    words: JsonValue = None
    if result.record.expect and result.record.expect.transcript is not None:
        locale = result.record.locale
        words = [comparable(result.record.expect.transcript, locale), comparable(result.record.heard, locale)]
    return {"record": record, "wrong": wrong, "stages": stages, "words": words}


def judged(results: Sequence[TurnResult]) -> list[tuple[TurnResult, Judgement]]:
    """Every turn with its judgement."""
    return [(result, judge(result.record)) for result in results]


def recordings(results: Sequence[TurnResult], base: Path, page: Path) -> dict[str, str]:
    """By turn: a data URI for small sets, a link relative to the page for large ones.

    A file that is one turn of one channel is played as it is. Whatever else was decoded — a channel, a part, a file
    without a header, a format browsers don't know — is played as it was decoded, from FLAC beside the page if large.
    """
    heard = [(r.record.id, r.record.audio, r.record.sound) for r in results if r.record.audio and r.record.played]
    whole = {turn: located(base, name) for turn, name, sound in heard if _as_it_is(name, sound)}
    whole = {turn: path for turn, path in whole.items() if path.is_file()}
    small = sum(path.stat().st_size for path in set(whole.values())) <= EMBED_BYTES
    found: dict[str, str] = {}
    embedded = 0
    for turn, name, sound in heard:
        if turn in whole:
            found[turn] = _data_uri(whole[turn]) if small else _link(whole[turn], page)
        elif body := _decoded(located(base, name), sound):
            embedded += len(body)
            found[turn] = _uri("audio/flac", body) if embedded <= EMBED_BYTES else _beside(page, turn, body)
    return found


def _as_it_is(name: str, sound: SoundRecord | None) -> bool:
    if sound is None:
        return _suffix(name) in _PLAYABLE
    part = sound.start is not None or sound.end is not None
    return sound.channels == 1 and not part and sound.encoding is None and _suffix(name) in _PLAYABLE


def _suffix(name: str) -> str:
    return Path(name).suffix.lower()


def _link(path: Path, page: Path) -> str:
    return quote(Path(relpath(path, page.parent)).as_posix())


def _beside(page: Path, turn: str, body: bytes) -> str:
    folder = page.parent / SOUND
    folder.mkdir(exist_ok=True)
    name = f"{sha256(turn.encode()).hexdigest()[:24]}.flac"
    (folder / name).write_bytes(body)
    return f"{SOUND}/{name}"


def _data_uri(path: Path) -> str:
    return _uri(_PLAYABLE[path.suffix.lower()], path.read_bytes())


def _uri(kind: str, body: bytes) -> str:
    return f"data:{kind};base64,{b64encode(body).decode()}"


def _decoded(path: Path, sound: SoundRecord | None) -> bytes:
    """What the recogniser was given, as FLAC; nothing where the file is gone since."""
    try:
        clip = Clip(path)
        if sound is not None:
            clip = Clip(path, sound.channel, sound.encoding, sound.rate, sound.start, sound.end)
        return flac(decode(clip).samples)
    except TellerlineError:
        return b""
