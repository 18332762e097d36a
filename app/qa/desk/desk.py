"""The desk itself: whatever a person reads or says there is on record before it is read or kept."""

import asyncio
import io
import re
import time
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from app.qa.desk.agreement import Agreement, by_field
from app.qa.desk.exported import SealedCase, case_of, sound_of
from app.qa.desk.reviews import Review, ReviewAction, ReviewEntry, ReviewState, read_labels
from app.qa.desk.shelf import RecordingShelf
from app.qa.desk.turns import Filters, ListedTurn, Page, page, sample
from app.qa.replay.judging.failures import FailureGroup, grouped
from app.qa.replay.manifests.manifest import dump_jsonl
from app.qa.replay.playing.shadowed import ShadowTally, tallied
from app.qa.replay.records.recorded import Recording
from app.recordings.files import RecordedTurn
from schemas.audit import AuditRecord, AuditValue
from schemas.errors import MalformedMessage, NotFound, StoreUnavailable, WrongState
from schemas.ids import CallId, CustomerId
from services.disk import on_disk
from services.ports import AuditLog, Clock
from services.timing import ANSWER_S

STAFF: Final = CustomerId("")
"""Whom records of staff are about: no customer."""
_LOOK_S: Final = 0.02
_NO_CODE: Final = re.compile(r"[^A-Za-z0-9_@.:/+=,-]")
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class SeenTurn:
    """A recorded turn as it is shown: with its call, its words, and what people said of it."""

    call: Recording
    turn: RecordedTurn
    review: Review


@dataclass(frozen=True, slots=True)
class Desk:
    """What QA does with recorded calls. `who` is the subject of the token that asks, everywhere.

    Everything raises StoreUnavailable where it can't be put on record, and is then not done.
    """

    shelf: RecordingShelf
    audit: AuditLog
    clock: Clock

    async def listed(
        self, who: str, filters: Filters, limit: int, after: str | None, seed: str | None
    ) -> tuple[Page, list[SeenTurn]]:
        """A page of turns with their words, or where there is a `seed` a sample of `limit`. Raises BadInput."""
        turns = await on_disk.run(ANSWER_S, self.shelf.turns)
        if seed is None:
            found = await asyncio.to_thread(page, turns, filters, limit, after)
        else:
            found = await asyncio.to_thread(sample, turns, filters, limit, seed)
        await self._note("qa.listed", who, None, {"turns": len(found.turns)})
        return found, await on_disk.run(ANSWER_S, self._shown, found.turns)

    def _shown(self, turns: tuple[ListedTurn, ...]) -> list[SeenTurn]:
        shown = []
        for listed in turns:
            try:
                shown.append(SeenTurn(*self.shelf.turn(listed.call, listed.turn)))
            except (NotFound, MalformedMessage):
                continue  # erased since it was listed
        return shown

    async def seen(self, who: str, call: str, turn: int) -> SeenTurn:
        """A turn. Raises NotFound, MalformedMessage."""
        recording, found, review = await on_disk.run(ANSWER_S, self.shelf.turn, call, turn)
        await self._note("qa.read", who, call, {"turn": turn})
        return SeenTurn(recording, found, review.shown_to(who))

    async def heard(self, who: str, call: str, turn: int) -> bytes:
        """A turn's sound, a FLAC file. Raises NotFound, MalformedMessage."""
        sound = await on_disk.run(ANSWER_S, self.shelf.sound, call, turn)
        await self._note("qa.heard", who, call, {"turn": turn})
        return sound

    async def review(
        self,
        who: str,
        call: str,
        turn: int,
        action: ReviewAction,
        labels: Mapping[str, JsonValue],
        note: str,
        seen: ReviewState,
    ) -> Review:
        """Keep a person's word on a turn that was `seen` in a state. Raises NotFound, MalformedMessage, WrongState."""
        async with self._alone(call):
            recording, said, before = await on_disk.run(ANSWER_S, self.shelf.turn, call, turn)
            if said.withheld:
                raise WrongState("a withheld turn has nothing to review")
            if before.state is not seen:
                raise WrongState(f"the turn is {before.state.value} by now, not {seen.value}: look again")
            given = read_labels(labels, _payees(recording))
            entry = ReviewEntry(by=who, at=self.clock.now(), action=action, labels=given, note=note)
            after = before.after(entry)
            moved: dict[str, AuditValue] = {"before": before.state.value, "after": after.state.value}
            fields: list[AuditValue] = [*sorted(given.named)]
            await self._note("qa.reviewed", who, call, moved | {"turn": turn, "action": action.value, "fields": fields})
            await on_disk.run(ANSWER_S, self.shelf.save, recording, turn, after)
        return after.shown_to(who)

    @asynccontextmanager
    async def _alone(self, call: str) -> AsyncIterator[None]:
        """Nobody else reviews the call within the block, at no gateway: what was seen is what is written over."""
        until = time.monotonic() + ANSWER_S
        with ExitStack() as ours:
            while True:
                try:
                    await on_disk.run(ANSWER_S, ours.enter_context, self.shelf.alone(call))
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise StoreUnavailable("others review this call") from None
                await asyncio.sleep(_LOOK_S)
            yield

    async def exported(self, who: str, call: str, turn: int, *, personal: bool) -> bytes:
        """The call up to a turn as a test: a ZIP of a manifest. Raises NotFound, MalformedMessage.

        The manifest names the recording and holds nothing of it, unless `personal` is asked for: then it has the
        caller's words, facts and voice, and the labels of people as far as `who` may know them.
        """
        made = await on_disk.run(ANSWER_S, self._test, who, call, turn, personal)
        await self._note("qa.exported", who, call, {"turn": turn, "personal": personal})
        return made

    def _test(self, who: str, call: str, turn: int, personal: bool) -> bytes:
        recording, _, _ = self.shelf.turn(call, turn)
        name = f"{call}-{turn:02d}"
        case = case_of(recording, name, turn, who)  # also says whether there is anything that may be used
        if not personal:
            return _zipped({"manifest.jsonl": SealedCase(id=name, recording=call, last=turn).line()})
        return _zipped({"manifest.jsonl": dump_jsonl((case,))} | sound_of(recording, case))

    async def shadowed(self, who: str, most: int) -> ShadowTally:
        """What the other pipeline made otherwise, of which the newest `most` turns that differ are looked at."""
        found = tallied(await on_disk.run(ANSWER_S, self.shelf.shadowed))
        await self._note("qa.listed", who, None, {"turns": min(len(found.turns), most)})
        return found

    async def agreement(self, who: str) -> dict[str, Agreement]:
        """How far people agree, by field."""
        pairs = await on_disk.run(ANSWER_S, self.shelf.pairs)
        await self._note("qa.compared", who, None, {"pairs": len(pairs)})
        return by_field(pairs)

    async def failures(self, who: str) -> tuple[FailureGroup, ...]:
        """Why turns failed, by what people say, grouped; without what `who` may not know yet."""
        turns = await on_disk.run(ANSWER_S, self.shelf.turns)
        found = grouped((f"{turn.call}/{turn.turn}", turn.failed(who)) for turn in turns)
        await self._note("qa.compared", who, None, {"groups": len(found)})
        return found

    async def _note(self, event: str, who: str, call: str | None, facts: dict[str, AuditValue]) -> None:
        by: dict[str, AuditValue] = {"by": _NO_CODE.sub("_", who)[:128]}
        about = None if call is None else CallId(call)
        await self.audit.append(STAFF, AuditRecord(event, about, self.clock.now(), by | facts))


def _payees(recording: Recording) -> frozenset[str] | None:
    """The caller's own payees, where they are known."""
    return None if recording.facts is None else frozenset(payee.id for payee in recording.facts.payees)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    """The same files give the same bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return made.getvalue()
