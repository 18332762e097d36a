"""One reply on its way out: every event from response.created to response.done, in the order that clients need."""

import base64
from collections.abc import Iterator
from typing import Final, Literal

from app.transports.live.reply_sound import AudioChunk, ReplySound
from app.transports.realtime.items import Items
from schemas.audio import AudioFormat
from schemas.call import ReplyEnded, ReplyStatus
from schemas.speech import SpokenChunk
from schemas.turn import Awaits, ReplyId
from schemas.wire.event import Event
from schemas.wire.failure import kind_of
from schemas.wire.realtime import server
from schemas.wire.realtime.items import Message, OutputAudio, OutputText, ShownPart, Status
from schemas.wire.realtime.session import Modality
from schemas.wire.reply import ResponseError, StatusDetails, TextDelta, TextDone

AWAITS: Final = "tellerline.awaits"
TEMPLATE: Final = "tellerline.template"
PROPOSAL: Final = "tellerline.proposal"


class Ladder:
    """Sound goes out as `output`. `metadata` is what the client gave the response.create that this reply answers."""

    def __init__(
        self,
        reply: ReplyId,
        items: Items,
        modality: Modality,
        output: AudioFormat,
        conversation: str | None,
        metadata: dict[str, str] | None,
    ) -> None:
        self.reply = reply
        self.item = item_of(reply)
        self.metadata = metadata
        self.text = ""
        self._items = items
        self._modality = modality
        self._conversation = conversation
        self._begun = False
        self.out = ReplySound(output)

    @property
    def speaks(self) -> bool:
        """Whether it goes out as sound."""
        return self._modality == "audio"

    def note(self, key: str, value: str) -> None:
        """Beside the client's own metadata."""
        self.metadata = {**(self.metadata or {}), key: value}

    def created(self) -> Event:
        """The reply follows."""
        return server.ReplyCreated(response=self._response("in_progress"))

    def say(self, delta: str) -> Iterator[Event]:
        """A sentence, with what joins it to the one before."""
        yield from self._begin()
        self.text += delta
        if self.speaks:
            yield server.WordsDelta(response_id=self.reply, item_id=self.item, delta=delta)
        else:
            yield TextDelta(response_id=self.reply, item_id=self.item, delta=delta)

    def sound(self, chunk: SpokenChunk) -> Iterator[Event]:
        """Sound, in the client's format."""
        yield from self._begin()
        for piece in self.out.pieces(chunk):
            yield self._piece(piece)

    def heard(self, ms: float) -> None:
        """So much of the sound was heard: the words that were not are forgotten."""
        self.text = self.text[: self.out.said(ms)]
        self._items.change(self._item("incomplete"))

    def _piece(self, piece: AudioChunk) -> Event:
        return server.SoundDelta(response_id=self.reply, item_id=self.item, delta=base64.b64encode(piece.data).decode())

    def end(self, ended: ReplyEnded) -> Iterator[Event]:
        """No more of it follows."""
        if self._begun:
            yield from self._finish("completed" if ended.status is ReplyStatus.COMPLETED else "incomplete")
        self.note(AWAITS, ended.awaits.value)
        yield server.ReplyDone(response=self._response(ended.status.value, _details(ended)))

    def _begin(self) -> Iterator[Event]:
        if self._begun:
            return
        self._begun = True
        item = Message(id=self.item, status="in_progress", role="assistant")
        yield server.OutputAdded(response_id=self.reply, item=item)
        yield server.ItemAdded(previous_item_id=self._items.put(item), item=item)
        yield server.PartAdded(response_id=self.reply, item_id=self.item, part=self._part(""))

    def _finish(self, status: Status) -> Iterator[Event]:
        r, i = self.reply, self.item
        if self.speaks:
            for piece in self.out.rest() if status == "completed" else ():
                yield self._piece(piece)
            yield server.SoundDone(response_id=r, item_id=i)
            yield server.WordsDone(response_id=r, item_id=i, transcript=self.text)
        else:
            yield TextDone(response_id=r, item_id=i, text=self.text)
        yield server.PartDone(response_id=r, item_id=i, part=self._part(self.text))
        item = self._item(status)
        yield server.ItemDone(previous_item_id=self._items.change(item), item=item)
        yield server.OutputDone(response_id=r, item=item)

    def _part(self, text: str) -> server.ReplyPart:
        return server.AudioPart(transcript=text) if self.speaks else server.TextPart(text=text)

    def _item(self, status: Status) -> Message:
        said: ShownPart = OutputAudio(transcript=self.text) if self.speaks else OutputText(text=self.text)
        return Message(id=self.item, status=status, role="assistant", content=(said,))

    def _response(
        self, status: Literal["in_progress", "completed", "cancelled", "failed"], details: StatusDetails | None = None
    ) -> server.Reply:
        over = status != "in_progress"
        output = (self._item("completed" if status == "completed" else "incomplete"),) if over and self._begun else ()
        return server.Reply(
            id=self.reply,
            status=status,
            status_details=details,
            output=output,
            output_modalities=(self._modality,),
            conversation_id=self._conversation,
            metadata=self.metadata,
            usage=server.Usage() if over else None,
        )


def item_of(reply: str) -> str:
    """The id of a reply's one item."""
    return f"item_{reply}"


def nothing(
    reply: ReplyId, modality: Modality, output: AudioFormat, metadata: dict[str, str] | None
) -> Iterator[Event]:
    """A reply outside of the conversation: none of them says anything."""
    ladder = Ladder(reply, Items(), modality, output, None, metadata)
    yield ladder.created()
    yield from ladder.end(ReplyEnded(reply, ReplyStatus.COMPLETED, "", Awaits.NOTHING))


def _details(ended: ReplyEnded) -> StatusDetails | None:
    if ended.status is ReplyStatus.COMPLETED:
        return None
    error = None
    if ended.error is not None:
        error = ResponseError(code=ended.error.code, type=kind_of(ended.error))
    status: Literal["cancelled", "failed"] = "cancelled" if ended.status is ReplyStatus.CANCELLED else "failed"
    return StatusDetails(type=status, reason=ended.cut.value if ended.cut else None, error=error)
