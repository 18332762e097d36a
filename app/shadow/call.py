"""One call's side of a shadow: what is said is told once it stands, and what comes back is compared and kept."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from pydantic import ValidationError

from app.recordings.files import RecordedTurn, RecordingHead
from app.shadow.counters import ShadowCounters
from app.shadow.differing import HEARD, ShadowedTurn, ShadowRecord, differences
from schemas.audio import Samples
from schemas.turn import ReplyId

log = logging.getLogger(__name__)

Keep = Callable[[ShadowRecord], Awaitable[None]]
"""Writes what is known of the call so far, sealed beside its turns; nothing where the recording is gone."""
_FIELDS: Final = frozenset(RecordedTurn.model_fields)


class ShadowWay(Protocol):
    """The way to the other pipeline; what is told never waits."""

    @property
    def other(self) -> str | None:
        """Which pipeline it is; None while there is none."""
        ...

    def tell(self, call: "ShadowedCall", message: Mapping[str, Any], body: bytes = b"") -> bool:
        """Whether it will be told."""
        ...

    def over(self, call: "ShadowedCall") -> None:
        """Nothing more comes of this call."""
        ...


@dataclass(frozen=True, slots=True)
class _Held:
    """A turn that the caller may still go on with."""

    reply: ReplyId
    here: RecordedTurn
    samples: Samples | None
    cut: bool = False


class ShadowedCall:
    """Tells one call's turns in order. Whatever can't be told or compared ends it, with the reason; never the call."""

    def __init__(self, beside: ShadowWay, head: RecordingHead, keep: Keep, counted: ShadowCounters) -> None:
        self.id = head.call
        self._beside = beside
        self._head, self._locale = head, ""
        self._keep = keep
        self._counted = counted
        self._held: _Held | None = None
        self._told: dict[int, RecordedTurn] = {}
        self._opened = False
        self._facts: bytes | None = None
        self._record = ShadowRecord(other=beside.other or "")
        self._left = self._ended = False
        self._writing: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Turns that were told and not answered."""
        return len(self._told)

    def turn(self, reply: ReplyId, here: RecordedTurn, samples: Samples | None, facts: bytes | None) -> None:
        """A turn was recorded. `facts` is what the call knows of its caller, as JSON."""
        self._flush()
        self._facts = facts
        self._locale = self._locale or here.locale
        if why := _unfit(here, facts) or ("other language" if here.locale != self._locale else None):
            self.leave(why)
        elif not self._left:
            self._held = _Held(reply, here, samples)

    def withdrawn(self) -> None:
        """The turn before came to nothing."""
        if self._held is None and self._opened:
            self.leave("withdrawn late")
        self._held = None

    def heard(self, reply: ReplyId, *, whole: bool) -> None:
        """The caller heard a reply, or part of it."""
        if self._held is not None and self._held.reply == reply and not whole:
            self._held = replace(self._held, cut=True)  # what is cut may yet be withdrawn
            return
        self._flush()
        self._tell({"heard": reply, "whole": whole})

    def silence(self, reply: ReplyId) -> None:
        """Nothing was said for long."""
        self._flush()
        self._tell({"silence": reply})

    def over(self) -> None:
        """The caller hung up; what was told is still compared."""
        self._flush()
        if not self._left:
            self._left = True
            self._tell({"over": True}, last=True)
            self._done()

    def leave(self, why: str) -> None:
        """Tell and compare nothing more."""
        if self._ended:
            return
        self._left = self._ended = True
        self._held = None
        self._told.clear()
        self._counted.left.labels(why).inc()
        if self._opened:
            self._tell({"over": True}, last=True)
            self._note(left=why)
        self._beside.over(self)

    def answered(self, number: int, there: Mapping[str, Any]) -> None:
        """What the other made of a turn."""
        here = self._told.pop(number, None)
        if here is None:
            return
        try:
            other = RecordedTurn.model_validate({k: v for k, v in there.items() if k in _FIELDS})
        except ValidationError:
            self.leave("not understood")
            return
        found = differences(here, other)
        self._counted.turns.labels("differs" if found else "same").inc()
        for name in found:
            self._counted.differs.labels(name).inc()
        turns = (*self._record.turns, ShadowedTurn(turn=number, differs=found)) if found else self._record.turns
        self._note(compared=self._record.compared + 1, turns=turns)
        if found.keys() - {HEARD}:
            self.leave("parted")  # what the caller says next answers another question there
        elif self._left:
            self._done()

    def _done(self) -> None:
        if not self._told and not self._ended:
            self._ended = True
            self._beside.over(self)

    def _flush(self) -> None:
        """The turn that was held stands: the caller can go on with it no more."""
        held, self._held = self._held, None
        if held is None or self._left:
            return
        here = held.here
        if not self._opened:
            self._opened = True
            opening = {"open": self._locale, "at": self._head.started_at.isoformat()}
            if not self._tell(opening, self._facts or b""):
                return
        sound = b"" if held.samples is None else held.samples.tobytes()
        message = {"turn": here.turn, "reply": held.reply, "at": here.at.isoformat(), "text": here.text}
        self._told[here.turn] = here
        if self._tell(message | {"sound": held.samples is not None}, sound) and held.cut:
            self._tell({"heard": held.reply, "whole": False})

    def _tell(self, message: Mapping[str, Any], body: bytes = b"", *, last: bool = False) -> bool:
        if not self._opened or (self._left and not last):
            return False
        if self._beside.tell(self, {"call": self.id} | dict(message), body):
            return True
        if not last:
            self.leave("behind")
        return False

    def _note(self, **changed: Any) -> None:
        """Keep it, after what is being kept already."""
        self._record = self._record.model_copy(update=changed)
        self._writing = asyncio.create_task(self._write(self._writing, self._record))

    async def _write(self, before: asyncio.Task[None] | None, record: ShadowRecord) -> None:
        if before is not None:
            await asyncio.wait({before})
        try:
            await self._keep(record)
        except Exception as failed:
            log.exception("a shadow is not kept: %s", type(failed).__name__)


def _unfit(here: RecordedTurn, facts: bytes | None) -> str | None:
    """Why a turn, and so what follows it, is not for the other."""
    if facts is None:
        return "no facts"
    if here.withheld:
        return "withheld"
    if here.error is not None:
        return "failed here"
    return None if here.decision is not None else "cut off"
