"""Genesys' AudioHook, version 2, with what its bots may do, as a `CallTransport`. Sans I/O.

Messages are numbered on both sides without a gap, and each tells the last that was received. The server has no word for
an error but `disconnect`, which the client answers with `close`; nothing else ends a session in good order. Only the
session of a bot (the Audio Connector) takes sound: a monitor's ends with an error at the first of it, so none is sent.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from app.transports.telephone.fields import Fields, packed
from app.transports.telephone.line import (
    Act,
    Audio,
    Held,
    Left,
    LineEvent,
    Opened,
    Played,
    Playing,
    SendBack,
    Speaks,
    Wire,
    essential,
)
from schemas.audio import AudioFormat, Encoding
from schemas.errors import (
    MalformedAudio,
    MalformedMessage,
    NotAllowed,
    TellerlineError,
    TooLarge,
    UnsupportedAudio,
    WrongState,
)
from schemas.ids import Locale

VERSION: Final = "2"
NOBODY: Final = "00000000-0000-0000-0000-000000000000"
"""The conversation of a connection probe."""
CUSTOMER: Final = "external"
"""The channel that the caller speaks on; the other is the agent's."""
MAX_SOUND: Final = 32 * 1024
PACKET_MS: Final = 200
"""1,600 bytes of PCMU: Genesys answers smaller ones with 429."""
LEAD_MS: Final = 1_000
"""Genesys tells that all was played whenever it has nothing more to play: it has to have more until a reply's end."""
_MAX_MEDIA: Final = 16
_ENCODINGS: Final = {"PCMU": Encoding.MULAW, "L16": Encoding.PCM16}
_ID: Final = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_DURATION: Final = re.compile(r"PT\d{1,9}(?:\.\d{1,9})?S")


class AudioHook:
    """One session. `session` is the id in the handshake's headers, where there was one; `spoken` our languages.

    `monitor`: it is known beforehand that nothing can be said in it.
    """

    lingers = True

    def __init__(self, session: str = "", spoken: Sequence[str] = (), *, monitor: bool = False) -> None:
        self._session = session
        self._spoken = list(spoken)
        self._monitor = monitor
        self._seq = self._clientseq = 0
        self._form: AudioFormat | None = None
        self._channels, self._channel = 1, 0
        self._opened = self._closing = False
        self._marks: list[str] = []

    def read(self, message: Wire) -> list[LineEvent]:
        """What a message says. Raises BadInput."""
        if isinstance(message, bytes):
            return self._heard(message)
        with essential():  # a message that is not counted leaves none behind it that could be
            said = Fields.read(message)
            self._check(said)
            kind, given = said.word("type"), said.part("parameters")
            if kind == "open":
                return self._open(given)
            if not self._opened:
                raise WrongState("the first message is open")
        return self._take(kind, given)

    def play(self, packet: bytes) -> list[Act]:
        """A packet of sound; L16 goes out as it comes in, with the low byte first."""
        return [packet]

    def mark(self, name: str) -> list[Act]:
        """All that was sent is heard when Genesys has nothing more to play."""
        self._marks.append(name)
        return []

    def flush(self) -> list[Act]:
        """The caller speaks: drop what was sent and not heard yet."""
        self._marks.clear()
        return [self._message("event", entities=[{"type": "barge_in", "data": {}}])]

    def transfer(self, reason: str, summary: str) -> list[Act]:
        """Give the call back to its Architect flow, which brings in a person."""
        return self._completed(action="transfer", reason=reason, summary=summary)

    def hang_up(self) -> list[Act]:
        """Give the call back to its flow: there is nothing else to be done."""
        return self._completed(action="finished")

    def refuse(self, error: TellerlineError) -> list[Act]:
        """End the session because of an error."""
        self._closing = True
        reason = "unauthorized" if isinstance(error, NotAllowed) else "error"
        return [self._message("disconnect", reason=reason, info=error.message[:200])]

    def _completed(self, **variables: str) -> list[Act]:
        self._closing = True
        return [self._message("disconnect", reason="completed", outputVariables=variables)]

    def _message(self, kind: str, **parameters: object) -> str:
        self._seq += 1
        numbers = {"seq": self._seq, "clientseq": self._clientseq}
        return packed(version=VERSION, id=self._session, type=kind, **numbers, parameters=parameters)

    def _check(self, said: Fields) -> None:
        """What holds for every message. Raises MalformedMessage, WrongState."""
        if said.word("version") != VERSION or not _DURATION.fullmatch(said.word("position")):
            raise MalformedMessage("no message of version 2")
        session = said.word("id")
        if not _ID.fullmatch(session) or session != (self._session or session):
            raise MalformedMessage("the message is of another session")
        self._session = session
        if said.number("seq") != self._clientseq + 1:
            raise WrongState("seq does not follow the message before")
        self._clientseq += 1
        if said.number("serverseq") > self._seq:
            raise WrongState("serverseq is of no message that was sent")

    def _open(self, given: Fields) -> list[LineEvent]:
        if self._opened:
            raise WrongState("the session is open")
        self._opened = True
        offers = given.values.get("media")
        if not isinstance(offers, list) or len(offers) > _MAX_MEDIA:
            raise MalformedMessage("media is no list")
        conversation, participant = given.word("conversationId"), given.part("participant").word("id")
        probe = conversation == participant == NOBODY
        known = [Fields(offer) for offer in offers if isinstance(offer, dict)]
        chosen = _chosen(known)
        if chosen is None and not probe:
            raise UnsupportedAudio("no offer has the caller's channel, in PCMU or L16 at 8 kHz")
        asked = {"supportedLanguages": self._spoken} if given.values.get("supportedLanguages") is True else {}
        media = [] if chosen is None else [chosen.values]
        events: list[LineEvent] = [SendBack(self._message("opened", startPaused=False, media=media, **asked))]
        if chosen is not None:
            self._channels, self._channel, self._form = _form(chosen)
        if probe or self._form is None:
            return events
        config = given.maybe("inputVariables")
        config = config if "statement" in config.values else given.maybe("customConfig")
        bot = not self._monitor and ("inputVariables" in given.values or _of_a_bot(known))
        playing = Playing(self._form, PACKET_MS, LEAD_MS, taken=bot)
        locale = given.locale("language")
        return [*events, Opened(conversation, self._form, playing, config.statement(), locale)]

    def _take(self, kind: str, given: Fields) -> list[LineEvent]:  # noqa: PLR0911 - one return a message
        match kind:
            case "ping":
                return [SendBack(self._message("pong"))]
            case "close":
                self._closing = True
                return [SendBack(self._message("closed")), Left()]
            case "update":
                language = Locale(given.word("language", most=16))
                return [SendBack(self._message("updated")), Speaks(language)]
            case "paused" | "resumed":
                return [Held(kind == "paused")]
            case "dtmf":
                return given.keys("digit")
            case "playback_completed":
                played, self._marks = self._marks, []
                return [Played(name) for name in played]
        return []  # discarded, playback_started, error, and what a later version may have

    def _heard(self, data: bytes) -> list[LineEvent]:
        if self._form is None:
            raise WrongState("the session has no sound")
        if len(data) > MAX_SOUND:
            raise TooLarge(f"a message has at most {MAX_SOUND} bytes of sound")
        width = np.dtype("<i2" if self._form.encoding is Encoding.PCM16 else "u1")
        if len(data) % (self._channels * width.itemsize):
            raise MalformedAudio("the sound has half a sample")
        if not data or self._closing:
            return []
        return [Audio(np.frombuffer(data, width)[self._channel :: self._channels].tobytes())]


def _chosen(offers: Sequence[Fields]) -> Fields | None:
    """The best offer: the caller alone before both sides, PCMU before L16."""
    fit = [offer for offer in offers if _fits(offer.values)]
    return min(fit, key=lambda it: (len(it.values["channels"]), it.values["format"] != "PCMU"), default=None)


def _of_a_bot(offers: Sequence[Fields]) -> bool:
    """Whether they are a bot's, which hears the caller alone; a monitor is offered the agent's side as well."""
    return all(offer.values.get("channels") == [CUSTOMER] for offer in offers)


def _fits(offer: Any) -> bool:
    channels = offer.get("channels")
    return (
        offer.get("type") == "audio"
        and isinstance(offer.get("format"), str)
        and offer["format"] in _ENCODINGS
        and offer.get("rate") == 8_000  # noqa: PLR2004 - hertz
        and channels in ([CUSTOMER], [CUSTOMER, "internal"], ["internal", CUSTOMER])
    )


def _form(chosen: Fields) -> tuple[int, int, AudioFormat]:
    """Channels, the caller's among them, and how each is written."""
    channels = chosen.values["channels"]
    return len(channels), channels.index(CUSTOMER), AudioFormat(_ENCODINGS[chosen.values["format"]], 8_000)
