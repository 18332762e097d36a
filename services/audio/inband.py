"""Keys that come as tones in a line's own sound: told as keys, and silenced before anybody hears them. Pure.

What a secret is keyed with must reach neither recogniser nor recorder: sound waits for as long as a tone could yet be
found in it (32 ms), and whatever sounds like a key is silence from a block before to a block behind.
"""

from collections import deque
from typing import Final, NamedTuple

from schemas.audio import AudioFormat, Encoding
from services.audio.codec import SILENCE, decode
from services.audio.tones import ToneDetector

TWICE_S: Final = 2.0
"""A key that is heard and told of within this time was pressed once."""


class InBand:
    """One line's sound, in its own format."""

    def __init__(self, form: AudioFormat) -> None:
        self._form = form
        self._detector = ToneDetector(form.rate)
        self._width = 2 if form.encoding is Encoding.PCM16 else 1
        self._holds = 2 * self._detector.block + self._detector.block // 2
        self._waiting = bytearray()
        self._released = 0
        self._quiet: deque[tuple[int, int]] = deque()

    def push(self, data: bytes) -> tuple[bytes, str]:
        """The sound that may be heard now, and the keys that were pressed. Raises MalformedAudio on half samples."""
        keys, blocks = self._detector.push(decode(data, self._form))
        self._waiting += data
        around = self._detector.block
        self._quiet.extend((block.start - around, block.end + around) for block in blocks)
        return self._release(len(self._waiting) // self._width - self._holds), keys

    def rest(self) -> bytes:
        """What waits, where no more follows in this format."""
        return self._release(len(self._waiting) // self._width)

    def _release(self, samples: int) -> bytes:
        if samples <= 0:
            return b""
        sound = self._waiting[: samples * self._width]
        del self._waiting[: samples * self._width]
        begun, self._released = self._released, self._released + samples
        for start, end in self._quiet:
            first, last = max(start - begun, 0), min(end - begun, samples)
            if first < last:
                part = slice(first * self._width, last * self._width)
                sound[part] = SILENCE[self._form.encoding] * (part.stop - part.start)
        while self._quiet and self._quiet[0][1] <= self._released:
            self._quiet.popleft()
        return bytes(sound)


class _Press(NamedTuple):
    key: str
    heard: bool
    at: float


class Once:
    """Tells a key that comes in both ways from one that was pressed twice. Times are seconds."""

    def __init__(self) -> None:
        self._pending: deque[_Press] = deque()

    def new(self, key: str, at: float, *, heard: bool) -> bool:
        """Whether the key, `heard` as a tone or told by the protocol, is not the other half of one before."""
        while self._pending and at - self._pending[0].at > TWICE_S:
            self._pending.popleft()
        for one in self._pending:
            if one.key == key and one.heard is not heard:
                self._pending.remove(one)
                return False
        self._pending.append(_Press(key, heard, at))
        return True
