"""What the caller is to hear, in packets that leave when they are due. Sans I/O: times are seconds of the call's clock.

A voice is made faster than it is heard and in pieces of any length; a line wants even packets at an even pace. The
schedule has no drift: a packet that leaves late does not delay the next.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final

from app.transports.telephone.line import Playing
from schemas.audio import AudioFormat, Encoding
from schemas.errors import SlowConsumer
from services.audio.codec import SILENCE

LATE_S: Final = 0.1
"""A packet that leaves later than this begins a new schedule; one that is less late is made up for by the next."""
MOST_S: Final = 60.0
"""So much may wait to be heard; the call gives out no more than some seconds ahead."""


@dataclass(frozen=True, slots=True)
class Packet:
    """Sound to be sent now."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Mark:
    """All before it was sent; where the line does not tell itself, it was heard as well."""

    name: str


class Playout:
    """One call's sound on its way out."""

    def __init__(self, playing: Playing) -> None:
        self._playing = playing
        self._packet_s = playing.packet_ms / 1000
        self._size = size_of(playing.form, playing.packet_ms)
        self._most = int(MOST_S / self._packet_s)
        self._rest = bytearray()
        self._queue: deque[Packet | Mark] = deque()
        self._heard_at = float("-inf")
        """When all that was sent will have been heard."""
        self.held = False

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, sound: bytes) -> None:
        """More sound, of any length. Raises SlowConsumer where the line takes none."""
        self._rest += sound
        while len(self._rest) >= self._size:
            self._append(Packet(bytes(self._rest[: self._size])))
            del self._rest[: self._size]

    def end(self, mark: str) -> None:
        """A reply ends here: its last packet is filled up with silence. Raises SlowConsumer."""
        if self._rest:
            missing = self._size - len(self._rest)
            self.put(SILENCE[self._playing.form.encoding] * missing)
        self._append(Mark(mark))

    @property
    def heard_at(self) -> float:
        """When all that was sent will have been heard."""
        return self._heard_at

    def flush(self) -> None:
        """Nothing of what waits is to be heard; what was sent is taken for flushed by the line."""
        self._queue.clear()
        self._rest.clear()
        self._heard_at = float("-inf")

    def due_at(self) -> float | None:
        """When there is something to do; null while there is nothing."""
        if not self._queue or self.held:
            return None
        if isinstance(self._queue[0], Packet):
            return self._heard_at - self._playing.lead_ms / 1000
        return float("-inf") if self._playing.marks else self._heard_at

    def take(self, now: float) -> Packet | Mark | None:
        """The next thing that is due, if any."""
        at = self.due_at()
        if at is None or at > now:
            return None
        item = self._queue.popleft()
        if isinstance(item, Packet):
            self._heard_at = (self._heard_at if now - self._heard_at <= LATE_S else now) + self._packet_s
        return item

    def burst(self, now: float) -> list[Packet]:
        """Every packet that waits, to be sent at once; none is late for the next, and marks are not told of."""
        packets = [item for item in self._queue if isinstance(item, Packet)]
        self._queue.clear()
        self._heard_at = max(self._heard_at, now) + len(packets) * self._packet_s
        return packets

    def _append(self, item: Packet | Mark) -> None:
        if len(self._queue) >= self._most:
            raise SlowConsumer("the line does not take its sound")
        self._queue.append(item)


def silence(playing: Playing) -> bytes:
    """A packet without sound."""
    return SILENCE[playing.form.encoding] * size_of(playing.form, playing.packet_ms)


def size_of(form: AudioFormat, ms: int) -> int:
    """Bytes of so many milliseconds of one channel."""
    return form.rate * ms // 1000 * (2 if form.encoding is Encoding.PCM16 else 1)
