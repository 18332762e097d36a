"""Writes one call's turns, without what is secret."""

import asyncio
import logging
import re
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Final

from app.recordings.beside import CallShadow
from app.recordings.concluded import concluded
from app.recordings.facts import FACTS_FILE, CallerFacts
from app.recordings.files import HEAD_FILE, RecordedMove, RecordedTurn, RecordingHead, flac, remove
from app.recordings.shelf import SampleShelf, TurnSound
from schemas.audio import Samples
from schemas.errors import StoreUnavailable
from schemas.ids import Locale, ProposalId
from schemas.span import SpanKind
from schemas.transcript import Source, Transcript
from schemas.turn import Decided, Normalized, ReplyEvent, ReplyId
from services.disk import DISK_S, on_disk
from services.ports import Clock
from services.record.audit_keys import AuditKeys

log = logging.getLogger(__name__)

MAX_TURNS: Final = 60
"""Turns kept of one call; what follows is not recorded."""
_AGAIN_S: Final = 60.0
_FORGETTING: Final = set[asyncio.Task[None]]()
"""Deletions that outlive their calls, until the disk has done them; retention does those that outlive the process."""
_SECRET_KINDS: Final = frozenset({SpanKind.DIGITS})
_LONG_NUMBER: Final = re.compile(r"\d[\d\s-]{5,}\d")


class CallRecorder:
    """Records one call into `folder`. Whatever fails in it ends the recording, never the call."""

    def __init__(
        self,
        folder: Path,
        head: RecordingHead,
        keys: AuditKeys,
        clock: Clock,
        shelf: SampleShelf,
        facts: CallerFacts | None = None,
    ) -> None:
        """`facts` is what the call knows of its caller, kept with its first turn."""
        self._facts = facts
        self._known: bytes | None = None
        self._proposals: dict[ProposalId, RecordedMove] = {}
        self._folder = folder
        self._head = head
        self._sealed = head.sealed(folder, keys)
        self._clock = clock
        self._sound = TurnSound(shelf)
        self._turns = 0
        self._last: RecordedTurn | None = None
        self._lock = Lock()
        self._whole = True
        self._begun = False
        self.agreed = False
        self.shadow: CallShadow | None = None

    async def forget(self) -> None:
        """Delete what was recorded of the call: now, or as soon as the disk lets us."""
        if self.shadow is not None:
            self.shadow.leave("consent taken back")
        try:
            await on_disk.run(DISK_S, self._forget)
        except (OSError, StoreUnavailable) as error:
            log.error("a recording is still to be deleted: %s", type(error).__name__)  # noqa: TRY400 - its cause is known
            later = asyncio.create_task(self._forget_later())
            _FORGETTING.add(later)
            later.add_done_callback(_FORGETTING.discard)

    async def _forget_later(self) -> None:
        failing = True
        while failing:
            await asyncio.sleep(_AGAIN_S)
            with suppress(OSError, StoreUnavailable):
                await on_disk.run(None, self._forget)
                failing = False

    def _forget(self) -> None:
        with self._lock:
            self._begun = False
            remove(self._folder)

    async def turn(
        self, transcript: Transcript, events: list[ReplyEvent], error: str | None, reply: ReplyId | None = None
    ) -> None:
        """Write a turn, off the event loop; the shadow hears of it where all turns so far were written."""
        samples, self._last = self._sound.of(transcript), None
        if self._turns >= MAX_TURNS or not self.agreed:
            self._whole = False
            return
        self._turns += 1
        try:
            written = await on_disk.run(DISK_S, self._write, self._turns, transcript, samples, events, error)
        except Exception as failed:
            log.exception("a recording ends early: %s", type(failed).__name__)
            self._turns = MAX_TURNS
        else:
            if self.shadow is not None and reply is not None and self._whole and written is not None:
                self.shadow.turn(reply, written, samples, self._known)

    async def beside(self, name: str, data: bytes) -> None:
        """Write what belongs to the recording, sealed as it is; nothing where there is none any more."""
        await on_disk.run(DISK_S, self._beside, name, data)

    def _beside(self, name: str, data: bytes) -> None:
        with self._lock, suppress(FileNotFoundError):
            if self.agreed:
                self._sealed.write(name, data)

    async def withdrawn(self) -> None:
        """The turn written last came to nothing."""
        last, self._last = self._last, None
        if last is not None:
            with suppress(StoreUnavailable):
                await on_disk.run(DISK_S, self._withdraw, last)

    def _withdraw(self, last: RecordedTurn) -> None:
        with self._lock, suppress(OSError):
            if self.agreed:
                self._seal(last.model_copy(update={"withdrawn": True}))

    def _write(
        self, number: int, transcript: Transcript, samples: Samples | None, events: list[ReplyEvent], error: str | None
    ) -> RecordedTurn | None:
        with self._lock:
            if not self.agreed:  # it may have been taken back while this waited for its thread
                return None
            self._keep(number, transcript, samples, events, error)
            return self._last

    def _keep(
        self, number: int, transcript: Transcript, samples: Samples | None, events: list[ReplyEvent], error: str | None
    ) -> None:
        if not self._begun:
            self._begin(transcript.locale)
        elif not self._folder.exists():  # erased while the call goes on: what follows is not kept either
            self._turns, self._whole = MAX_TURNS, False
            return
        withheld = is_secret(transcript, events)
        audio = None
        if samples is not None and not withheld:
            audio = f"turn-{number:02d}.flac"
            self._sealed.write(audio, flac(samples))
        turn = RecordedTurn(
            turn=number,
            at=self._clock.now(),
            source=transcript.source,
            audio=audio,
            text="" if withheld else transcript.text,
            withheld=withheld,
            locale=transcript.locale,
            error=error,
        )
        self._last = turn.model_copy(update=concluded(events, self._proposals, withheld=withheld))
        self._seal(self._last)

    def _begin(self, locale: Locale) -> None:
        """The folder of a call whose first words are in `locale`: what it was opened with may be a default."""
        self._folder.mkdir(parents=True)
        head = self._head.model_copy(update={"locale": locale})
        (self._folder / HEAD_FILE).write_text(head.model_dump_json(indent=2) + "\n", encoding="utf-8")
        if self._facts is not None:
            facts = self._facts.model_copy(update={"locale": locale})
            self._known = facts.model_dump_json(exclude_defaults=True).encode()
            self._sealed.write(FACTS_FILE, self._known)
        self._begun = True

    def _seal(self, turn: RecordedTurn) -> None:
        self._sealed.write(f"turn-{turn.turn:02d}.json", turn.model_dump_json(exclude_defaults=True).encode())


def is_secret(transcript: Transcript, events: list[ReplyEvent]) -> bool:
    """Whether a turn holds keyed digits, a code, or a number long enough to be an account's or a card's.

    Words that were never looked at, since something failed before, may hold anything.
    """
    spans = next((e.spans for e in events if isinstance(e, Normalized)), None)
    decided = [e.understood.slots.digits for e in events if isinstance(e, Decided)]
    return (
        transcript.source is Source.DTMF
        or spans is None
        or any(slot is not None for slot in decided)
        or any(span.kind in _SECRET_KINDS for span in spans)
        or _LONG_NUMBER.search(transcript.text) is not None
    )
