"""The folder of recordings as the desk reads it, and the reviews that it keeps there, sealed beside their turns."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from app.qa.desk.agreement import Pair, pair_of
from app.qa.desk.reviews import Review
from app.qa.desk.turns import ListedTurn
from app.qa.replay.playing.shadowed import ShadowedRecording, shadowed_calls
from app.qa.replay.records.recorded import Recording, read_recording
from app.recordings.files import RecordedTurn
from schemas.errors import MalformedMessage, NotFound, TellerlineError
from services.disk import locked
from services.ports import Clock
from services.record.audit_keys import AuditKeys

_CALL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOCK: Final = ".reviewing"
_SETTLED_S: Final = 2.0
"""A folder that changed less long ago may change again within one tick of its file system's clock."""
_BREATH_S: Final = 0.0005
"""Between two calls that are read: live calls share the interpreter."""


class RecordingShelf:
    """Reads recordings and their reviews; blocking, for a thread. What it remembers of a call holds no words."""

    def __init__(self, folder: Path, keys: AuditKeys, clock: Clock) -> None:
        self._clock = clock
        self._folder = folder
        self._keys = keys
        self._known: dict[str, tuple[int, tuple[ListedTurn, ...], tuple[Pair, ...]]] = {}
        self._lock = Lock()

    def turns(self) -> list[ListedTurn]:
        """Every turn of every recording that can be read."""
        with self._lock:
            self._refresh()
            return [turn for _, turns, _ in self._known.values() for turn in turns]

    def pairs(self) -> list[Pair]:
        """What two people said of each turn that two have reviewed."""
        with self._lock:
            self._refresh()
            return [pair for _, _, pairs in self._known.values() for pair in pairs]

    def shadowed(self) -> list[ShadowedRecording]:
        """Every recording that went through another pipeline too, the newest first."""
        return shadowed_calls(self._folder, self._keys)

    def call(self, call: str) -> Recording:
        """A recorded call. Raises NotFound, MalformedMessage where it can't be read."""
        try:
            return read_recording(self._place(call), self._keys)
        except NotFound:
            raise NotFound("no such recording") from None

    @contextmanager
    def alone(self, call: str) -> Iterator[None]:
        """Nobody else reviews the call within the block, in no process. Raises BlockingIOError where another does."""
        with still_there(), locked(self._place(call) / _LOCK, wait=False):
            yield

    def _place(self, call: str) -> Path:
        if not _CALL.fullmatch(call):
            raise NotFound("no such recording")
        return self._folder / call

    def turn(self, call: str, turn: int) -> tuple[Recording, RecordedTurn, Review]:
        """A turn, its call, and what people said of it. Raises NotFound, MalformedMessage."""
        recording = self.call(call)
        found = next((said for said in recording.turns if said.turn == turn), None)
        if found is None:
            raise NotFound("no such turn")
        with still_there():
            return recording, found, review_of(recording, turn)

    def sound(self, call: str, turn: int) -> bytes:
        """A turn's FLAC file. Raises NotFound where there is none, MalformedMessage."""
        recording, found, _ = self.turn(call, turn)
        if found.audio is None:
            raise NotFound("the turn has no sound")
        with still_there():
            return recording.files.read(found.audio)

    def save(self, recording: Recording, turn: int, review: Review) -> None:
        """Write a review, sealed, beside its turn. Raises NotFound where the recording was erased meanwhile."""
        body = review.model_dump_json(exclude_defaults=True).encode()
        with still_there():
            recording.files.write(_name(turn), body)
        with self._lock:
            self._known.pop(recording.head.call, None)

    def _refresh(self) -> None:
        """Read what is new or changed, forget what is gone."""
        now = self._clock.now().timestamp()
        found = dict(_folders(self._folder))
        self._known = {call: known for call, known in self._known.items() if call in found}
        for call, changed in found.items():
            if call in self._known and self._known[call][0] == changed:
                continue
            turns, pairs = self._read(call)
            self._known[call] = (changed if now - changed / 1e9 > _SETTLED_S else -1, turns, pairs)
            time.sleep(_BREATH_S)

    def _read(self, call: str) -> tuple[tuple[ListedTurn, ...], tuple[Pair, ...]]:
        try:
            recording = self.call(call)
            reviews = {turn.turn: review_of(recording, turn.turn) for turn in recording.turns}
        except (TellerlineError, OSError):
            return (), ()
        locale = recording.head.locale
        turns = tuple(
            ListedTurn.of(call, locale, turn, reviews[turn.turn]) for turn in recording.turns if not turn.withdrawn
        )
        return turns, tuple(pair for review in reviews.values() if (pair := pair_of(review)) is not None)


def review_of(recording: Recording, turn: int) -> Review:
    """What people said of a turn. Raises OSError where the recording is gone, MalformedMessage."""
    if not recording.files.names(_name(turn)):
        return Review()
    try:
        return Review.model_validate_json(recording.files.read(_name(turn)))
    except ValueError as error:
        raise MalformedMessage("a review can't be read") from error


def _name(turn: int) -> str:
    return f"review-{turn:02d}.json"


def _folders(folder: Path) -> Iterator[tuple[str, int]]:
    """Every recording's name, and when it changed last, in nanoseconds."""
    for entry in os.scandir(folder) if folder.is_dir() else ():
        with suppress(FileNotFoundError):
            if entry.is_dir(follow_symlinks=False):
                yield entry.name, entry.stat().st_mtime_ns


@contextmanager
def still_there() -> Iterator[None]:
    """Retention and erasure remove recordings at any moment: what is gone is NotFound."""
    try:
        yield
    except FileNotFoundError:
        raise NotFound("no such recording") from None
