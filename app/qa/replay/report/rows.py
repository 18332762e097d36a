"""What the report's page holds of each turn: a short row for the table, and the whole record for its detail."""

from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from os.path import relpath
from pathlib import Path
from typing import Final

import av
import numpy as np
from pydantic import JsonValue

from app.qa.replay.audio import read_audio
from app.qa.replay.judge import Judgement, judge
from app.qa.replay.record import TurnResult
from app.qa.replay.words import comparable
from schemas.audio import SAMPLE_RATE
from schemas.errors import TellerlineError

EMBED_BYTES: Final = 8 * 1024 * 1024
"""Recordings of a run are put into the page while all of them together stay below this; otherwise they are linked."""
COLUMNS: Final = (
    "id", "locale", "tags", "right", "money", "said", "heard", "errors", "length", "wanted", "intent", "decision",
    "reply", "route", "ms", "audio_s", "models", "error",
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
        round(result.timing.total_ms, 1),
        result.timing.audio_s,
        len(turn.models),
        turn.error,
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
    """By path as in the manifest: a data URI for small sets, a link relative to the page for large ones."""
    names = sorted({r.record.audio for r in results if r.record.audio})
    present = [name for name in names if (base / name).is_file()]
    small = sum((base / name).stat().st_size for name in present) <= EMBED_BYTES
    if not small:
        return {name: Path(relpath(base / name, page.parent)).as_posix() for name in present}
    sources = {r.record.audio: r.record.locale for r in results}
    return {name: uri for name in present if name in sources and (uri := _data_uri(base / name))}


def _data_uri(path: Path) -> str:
    """The file as it is where browsers can play it; anything else as WAV."""
    kind = _PLAYABLE.get(path.suffix.lower())
    body = path.read_bytes() if kind else _as_wav(path)
    return f"data:{kind or 'audio/wav'};base64,{b64encode(body).decode()}" if body else ""


def _as_wav(path: Path) -> bytes:
    encoding = "g711_alaw" if path.suffix.lower() in {".al", ".alaw"} else "g711_ulaw"
    try:
        samples = read_audio(path, encoding=encoding)
    except TellerlineError:
        return b""
    buffer = BytesIO()
    with av.open(buffer, "w", format="wav") as container:
        stream = container.add_stream("pcm_s16le", rate=SAMPLE_RATE, layout="mono")
        pcm = (samples * 32_767).astype(np.int16).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(pcm, format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE
        container.mux([*stream.encode(frame), *stream.encode(None)])
    return buffer.getvalue()
