"""The replies of one call as a Realtime client is told of them: one at a time, the last of them remembered."""

from collections import deque
from collections.abc import Iterator
from typing import Final

from app.transports.live.reply_sound import TOLD
from app.transports.realtime.items import Items
from app.transports.realtime.ladder import PROPOSAL, TEMPLATE, Ladder, nothing
from app.transports.realtime.settings import CallSettings
from schemas.call import ReplyEnded
from schemas.ids import ProposalId
from schemas.speech import SpokenChunk
from schemas.turn import ReplyId
from schemas.wire.event import Event

REMEMBERED: Final = 32
"""Replies whose cutting short still means something."""


class Replies:
    """`open` is the one under way; `wished` the metadata that the client gave for the next one."""

    def __init__(self, settings: CallSettings, items: Items, conversation: str) -> None:
        self.open: Ladder | None = None
        self.wished: dict[str, str] | None = None
        self._settings = settings
        self._items = items
        self._conversation = conversation
        self._sent: dict[str, Ladder] = {}
        self._told: deque[str] = deque(maxlen=TOLD)
        self._proposals: dict[ReplyId, ProposalId] = {}

    def knows(self, reply: str) -> bool:
        """Whether the client was told of it, among the latest."""
        return reply in self._told

    def of(self, item: str) -> Ladder | None:
        """The reply whose item it is, if it is remembered."""
        return self._sent.get(item)

    def propose(self, reply: ReplyId, proposal: ProposalId) -> None:
        """The reply that follows reads a proposal back."""
        self._proposals = {reply: proposal}

    def begin(self, reply: ReplyId) -> Event:
        """A reply begins."""
        self._told.append(reply)
        modality, output = self._settings.modality, self._settings.config.output
        self.open = Ladder(reply, self._items, modality, output, self._conversation, self.wished)
        self.wished = None
        self._sent[self.open.item] = self.open
        while len(self._sent) > REMEMBERED:
            del self._sent[next(iter(self._sent))]
        if reply in self._proposals:
            self.open.note(PROPOSAL, self._proposals[reply])
        return self.open.created()

    def say(self, reply: ReplyId, text: str, template: str | None) -> Iterator[Event]:
        """A sentence of it, and by which template."""
        if self.open is None or self.open.reply != reply:
            return
        if template and not self.open.text:
            self.open.note(TEMPLATE, template)
        yield from self.open.say(text)

    def sound(self, reply: ReplyId, chunk: SpokenChunk) -> Iterator[Event]:
        """Sound of it, where the client wants sound."""
        if self.open is not None and self.open.reply == reply and self.open.speaks:
            yield from self.open.sound(chunk)

    def end(self, ended: ReplyEnded) -> Iterator[Event]:
        """No more of it follows."""
        if self.open is not None and self.open.reply == ended.reply:
            ladder, self.open = self.open, None
            yield from ladder.end(ended)

    def aside(self, reply: ReplyId, metadata: dict[str, str] | None) -> Iterator[Event]:
        """A reply outside of the conversation, which says nothing."""
        self._told.append(reply)
        return nothing(reply, self._settings.modality, self._settings.config.output, metadata)
