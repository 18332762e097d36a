"""The cores of the telephone's protocols as tests drive them: recorded conversations in, what was said and sent out."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import yaml

from app.transports.telephone.asterisk_websocket import MediaWebSocket
from app.transports.telephone.audiohook import AudioHook
from app.transports.telephone.audiosocket import AudioSocket
from app.transports.telephone.carriers import PLIVO, TELNYX, TWILIO, Credential
from app.transports.telephone.jambonz import AudioFork, ReplyForm
from app.transports.telephone.line import (
    Act,
    Audio,
    CallTransport,
    Held,
    Left,
    LineEvent,
    Opened,
    Played,
    Pressed,
    Reformed,
    SendBack,
    Speaks,
    Stray,
    WebRequest,
    Wire,
)
from app.transports.telephone.media_stream import MediaStream
from schemas.audio import AudioFormat, Encoding
from schemas.errors import BadInput, MalformedMessage
from schemas.ids import Locale

DATA = Path(__file__).parents[1] / "data" / "telephone"

CORES: dict[str, Callable[[], CallTransport]] = {
    "twilio": lambda: MediaStream(TWILIO, Credential("token", transfer_to="+15550100")),
    "telnyx": lambda: MediaStream(TELNYX, Credential("key", transfer_to="sip:agents@pbx.example")),
    "telnyx_abroad": lambda: MediaStream(TELNYX, Credential("key"), AudioFormat(Encoding.MULAW, 8_000)),
    "audiohook": lambda: AudioHook("", ["en-GB", "en-US", "ja-JP"]),
    "audio_fork": lambda: AudioFork(ReplyForm.FILE),
    "audio_fork_ssml": lambda: AudioFork(ReplyForm.SSML),
    "audio_fork_text": lambda: AudioFork(ReplyForm.TEXT),
    "jambonz": AudioFork,
    "audiosocket": AudioSocket,
    "chan_websocket": lambda: MediaWebSocket("s.t.m"),
    "plivo": lambda: MediaStream(PLIVO, Credential("token", "MA1", "https://pbx.example/agents.xml")),
}


@lru_cache(maxsize=1)
def recorded() -> list[Any]:
    """Every recorded conversation: protocol, name, steps."""
    return [
        (protocol, talk["name"], talk["steps"])
        for path in sorted(DATA.glob("*.yaml"))
        for protocol, talks in yaml.load(path.read_text(), yaml.CSafeLoader).items()
        if not protocol.startswith("_")
        for talk in talks
    ]


def wire(given: Any) -> Wire:
    """A message as it is on the wire: an object is JSON, `hex: …` is bytes, anything else is text."""
    if isinstance(given, dict) and set(given) == {"hex"}:
        return bytes.fromhex(given["hex"].replace(" ", ""))
    return given if isinstance(given, str) else orjson.dumps(given).decode()


def read(core: CallTransport, message: Wire) -> list[str]:
    """What a message says, in lines; a refusal, and whether it ends the call, is one of them."""
    try:
        return [shown(event) for event in core.read(message)]
    except BadInput as wrong:
        return [f"{'ended' if wrong.fatal else 'refused'} {wrong.code}"]


def shown(event: LineEvent) -> str:  # noqa: C901, PLR0911 - one return an event
    """An event in a line."""
    match event:
        case Opened(call, form, playing, statement, locale):
            told = f"opened {call} {form.encoding.value} {form.rate} packets {playing.packet_ms}"
            told += "" if playing.taken else " taken False"
            told += "" if playing.say is None else " in words"
            told += "" if playing.form == form else f" sent {playing.form.encoding.value}"
            return f"{told} marks {playing.marks} statement {statement} locale {locale}"
        case Audio(data, sequence):
            return f"heard {data.hex()}" + ("" if sequence is None else f" number {sequence}")
        case Pressed(key):
            return f"pressed {key}"
        case Played(mark):
            return f"played {mark}"
        case Held(on):
            return "held" if on else "released"
        case Reformed(form):
            return f"reformed {form.encoding.value} {form.rate}"
        case Speaks(locale):
            return f"speaks {locale}"
        case SendBack(message):
            return f"owed {sent(message)}"
        case Left():
            return "left"
        case Stray(error):
            return f"refused {error.code}"


def sent(act: Act) -> str:
    """What was sent, in a line."""
    if isinstance(act, WebRequest):
        body = act.form if act.form is not None else act.json
        return (
            f"{act.method} {act.url} {orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode() if body else ''}".strip()
        )
    if isinstance(act, bytes):
        return f"bytes {act.hex()}"
    try:
        return orjson.dumps(orjson.loads(act), option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONDecodeError:
        return act


def does(core: CallTransport, command: list[Any]) -> list[Act]:  # noqa: PLR0911 - one return a command
    """Carry out `[play, hex]`, `[mark, name]`, `[flush]`, `[transfer, reason, summary]`, `[hang_up]`, `[refuse]`."""
    match command:
        case ["play", str(data)]:
            return core.play(bytes.fromhex(data))
        case ["mark", str(name)]:
            return core.mark(name)
        case ["say", str(text), str(locale)]:
            assert isinstance(core, AudioFork)
            return core.say(text, Locale(locale))
        case ["press", str(keys)]:
            assert isinstance(core, AudioFork | MediaStream)
            return core.press(keys)
        case ["flush"]:
            return core.flush()
        case ["transfer", str(reason), str(summary)]:
            return core.transfer(reason, summary)
        case ["hang_up"]:
            return core.hang_up()
        case ["refuse"]:
            return core.refuse(MalformedMessage("not as agreed"))
    raise AssertionError(command)
