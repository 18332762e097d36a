"""Barge-in: what the caller's voice and words do to the reply they fall on, and to the turn they go on with."""

from schemas.call import CutReason
from schemas.ids import Locale
from schemas.turn import Ended, ItemId, Waste
from services.audio.completeness import is_backchannel, is_courtesy
from services.audio.endpointing import timing
from services.audio.listener import COMMITTED, Listener
from services.call.conversation import Conversation


class BargeIn:
    """Words stop a reply, and undo the turn that they belong to; "uh-huh" and a late "please" do neither."""

    def __init__(self, listener: Listener, conversation: Conversation) -> None:
        self._listener = listener
        self._conversation = conversation
        self._voiced_ms = timing().barge_in_voiced_ms
        self._merging: ItemId | None = None
        self._whole: ItemId | None = None
        self._polite: ItemId | None = None

    def voice(self) -> None:
        """So much voice stops a reply, whatever its words will be."""
        if self._listener.voiced_ms >= self._voiced_ms:
            self._conversation.cut(CutReason.TURN_DETECTED)

    def words(self, text: str, locale: Locale) -> None:
        """Words stop a reply; words right after a turn may belong to it, which then has to be undone."""
        if self._conversation.audible and is_backchannel(text, locale):
            return
        item, before = self._listener.item, self._listener.continues
        self._polite = item if self._only_polite(text, locale, before) else None
        if self._polite is not None:
            return
        if item is not None and before is not None and self._merging != item:
            self._merging = item
            self._conversation.withdraw(before, item)
        self._conversation.cut(CutReason.TURN_DETECTED)

    def waste(self, ended: Ended, locale: Locale) -> Waste | None:
        """Why an utterance that has ended is no turn to answer; None when it is one."""
        by_itself = ended.rule != COMMITTED  # who says that a turn is over wants it answered
        if by_itself and self._conversation.audible and is_backchannel(ended.transcript.text, locale):
            return Waste.BACKCHANNEL
        return Waste.COURTESY if self._polite == ended.item else None

    def commanded(self, item: ItemId) -> None:
        """The turn `item` was a whole command: a "please" that follows adds nothing."""
        self._whole = item

    def _only_polite(self, text: str, locale: Locale, before: ItemId | None) -> bool:
        """Whether "please" follows a whole command whose answer is under way: no reason to answer it again."""
        said = before is not None and before == self._whole and self._conversation.answers(before)
        return said and is_courtesy(text, locale)
