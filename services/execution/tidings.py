"""What a reply tells before all else: what was done and not yet heard of, and news."""

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.turn import ReplyEvent, ReplyId, TransferMoved
from services.execution.deeds import Deeds
from services.execution.news import News
from services.response import said_as
from services.session import DialogueSession


@dataclass(frozen=True, slots=True)
class Tidings:
    """One call's, as parts of its replies."""

    session: DialogueSession
    deeds: Deeds
    news: News

    def first(self, reply: ReplyId) -> Iterator[ReplyEvent]:
        """All that is owed, before `reply` answers anything."""
        for owed in (*self.session.untold, *self.deeds.unsaid()):
            yield said_as(owed, self.session.locale)
        yield from self.unasked(reply)

    def unasked(self, reply: ReplyId) -> Iterator[ReplyEvent]:
        """All the news there is, told by `reply`."""
        for item in self.news.take(reply):
            yield TransferMoved(item.receipt)
            yield said_as(self.session.notice(item), self.session.locale)

    def told(self, reply: ReplyId) -> None:
        """`reply` has told all of it: once heard, it is no longer owed."""
        self.session.tells(reply)
        self.news.telling(reply)
