"""A caller's telephone: it plays replies as a voice would, and tells what was heard to its end. Sans I/O."""

from dataclasses import dataclass, field

from app.client import Event
from schemas.ids import Locale
from services.audio.endpointing import endpointing, timing


@dataclass(slots=True)
class PlayedReply:
    """One reply on its way to the ear. Times are seconds of whoever drives it."""

    began_s: float
    text: str = ""
    done: bool = False
    cut: bool = False
    heard: bool = False


@dataclass(slots=True)
class CallersPhone:
    """Plays what comes in.

    `moved_s` is when the ledger's word on a transfer came, `told_s` when it was spoken of, `last_s` the last event.
    """

    locale: Locale
    replies: dict[str, PlayedReply] = field(default_factory=dict)
    turns: list[Event] = field(default_factory=list)
    transcripts: list[str] = field(default_factory=list)
    moved_s: list[float] = field(default_factory=list)
    moved_by: list[str] = field(default_factory=list)
    told_s: float | None = None
    last_s: float = 0.0

    def take(self, event: Event, now_s: float) -> None:
        """An event of the wire, when it came."""
        self.last_s = now_s
        match event["type"]:
            case "response.output_text.delta":
                reply = self.replies.setdefault(event["response_id"], PlayedReply(now_s))
                reply.text += event["delta"]
                if event["response_id"] in self.moved_by and self.told_s is None:
                    self.told_s = now_s
            case "response.done":
                self.replies.setdefault(event["response"]["id"], PlayedReply(now_s)).done = True
            case "tellerline.reply.interrupted":
                self.replies.setdefault(event["response_id"], PlayedReply(now_s)).cut = True
            case "tellerline.ledger":
                self.moved_s.append(now_s)
                self.moved_by.append(event["response_id"])
            case "tellerline.turn.ended":
                self.turns.append(event)
            case "conversation.item.input_audio_transcription.completed":
                self.transcripts.append(event["transcript"])

    def heard(self, now_s: float) -> list[str]:
        """The replies that have just been heard to their end."""
        over = [key for key, reply in self.replies.items() if self._over(reply, now_s)]
        for key in over:
            self.replies[key].heard = True
        return over

    @property
    def playing(self) -> bool:
        """Whether something is being played, or about to be."""
        return any(not (reply.cut or reply.heard) for reply in self.replies.values())

    @property
    def outcome_heard(self) -> bool:
        """Whether what was told first after money had moved was heard to its end, then or when it was told again."""
        outcome = self.replies[self.moved_by[0]].text if self.moved_by and self.moved_by[0] in self.replies else ""
        return bool(outcome) and any(r.heard and outcome.strip() in r.text for r in self.replies.values())

    def _over(self, reply: PlayedReply, now_s: float) -> bool:
        if reply.cut or reply.heard or not reply.done:
            return False
        speaking_ms = timing().speaking_lead_ms + endpointing(self.locale).speaking_ms(reply.text)
        return now_s >= reply.began_s + speaking_ms / 1000
