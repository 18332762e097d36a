"""A recogniser that never mishears, so that turn-taking is measured apart from recognition.

The sound itself says where it stands: the lowest bit of every sample of a frame, 60 dB under a whisper, carries which
utterance the frame belongs to and which frame of the call it is. What was said until then is the transcript.
"""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.client import FRAME
from deploy.bench._calls.corpus import LEAD_S, Part, PlayedUtterance, load, utterances
from rules.locales import space
from schemas.audio import SAMPLE_RATE, Samples
from schemas.ids import Locale
from schemas.transcript import Decode, Hypothesis, Transcript, Wordings

_SYNC: Final = np.frombuffer(np.random.default_rng(20).bytes(64), dtype=np.uint8) & 1
_KEY_BITS: Final = 32
_NUMBER_BITS: Final = 16
_SLACK_S: Final = 0.1
"""A word whose first sounds are missing is still heard."""
_STAMP: Final = _NUMBER_BITS + _KEY_BITS + _SYNC.size + _NUMBER_BITS
assert _STAMP <= FRAME


def _bits(value: int, width: int) -> NDArray[np.uint8]:
    return np.array([value >> shift & 1 for shift in range(width)], dtype=np.uint8)


def _value(bits: NDArray[np.uint8]) -> int:
    return sum(int(bit) << shift for shift, bit in enumerate(bits))


def stamped(key: int, pcm: bytes, number: int) -> bytes:
    """A frame of PCM16 that says that it is frame `number` of the utterance `key`'s call."""
    samples = np.frombuffer(pcm, dtype="<i2").copy()
    twice = _bits(number, _NUMBER_BITS)  # a stamp that is cut in half is not read
    stamp = np.concatenate((twice, _bits(key, _KEY_BITS), _SYNC, twice))
    samples[:_STAMP] = (samples[:_STAMP] & ~1) | stamp
    return samples.tobytes()


def stamps(samples: Samples) -> Iterator[tuple[int, int]]:
    """Utterance and number of every frame whose stamp lies in `samples`, in order."""
    bits = (np.rint(samples * 32768.0).astype(np.int32) & 1).astype(np.uint8)
    if bits.size < _STAMP:
        return
    windows = np.lib.stride_tricks.sliding_window_view(bits, _SYNC.size)
    for sync in np.flatnonzero((windows == _SYNC).all(axis=1)):
        start = sync - _KEY_BITS - _NUMBER_BITS
        if start < 0 or start + _STAMP > bits.size:
            continue
        number, again = bits[start : start + _NUMBER_BITS], bits[start + _STAMP - _NUMBER_BITS : start + _STAMP]
        if (number == again).all():
            yield _value(bits[start + _NUMBER_BITS : sync]), _value(number)


class Oracle:
    """The `Recognizer` port for utterances that are known. Within a part, words are taken to be evenly long."""

    def __init__(self, known: Iterable[PlayedUtterance]) -> None:
        self._known = {utterance.key: utterance for utterance in known}

    def know(self, utterance: PlayedUtterance, key: int | None = None) -> None:
        """One more that may be said; its sound is stamped with its own key unless another is given."""
        self._known[utterance.key if key is None else key] = utterance

    async def transcribe(
        self,
        samples: Samples,
        locale: Locale,
        decode: Decode,
        *,
        wordings: Wordings | None = None,
    ) -> Transcript:
        """What was said in `samples`, as far as its words have ended."""
        del decode, wordings
        found = list(stamps(samples))
        text = self._text(found) if found else ""
        return Transcript(text, locale, (Hypothesis(text, 0.0),), no_speech_prob=0.0 if text else 1.0)

    async def onward(self, samples: Samples, heard: Transcript) -> None:
        """Not told: waits are those of the words."""

    async def warm_up(self) -> None:
        """Nothing is loaded."""

    async def close(self) -> None:
        """Nothing is held."""

    def _text(self, found: list[tuple[int, int]]) -> str:
        key, first = found[0]
        utterance = self._known[key]
        frame_s = FRAME / SAMPLE_RATE
        begin_s, end_s = first * frame_s - LEAD_S, (found[-1][1] + 1) * frame_s - LEAD_S
        between = space(Locale(utterance.locale))
        units = [unit for part in utterance.parts for unit in _heard(part, begin_s, end_s, between)]
        return between.join(units)


def _heard(part: Part, begin_s: float, end_s: float, joiner: str) -> Iterator[str]:
    """The words of `part` (characters, where no spaces part them) that lie between two moments."""
    units = part.text.split() if joiner else list(part.text)
    lengths = np.array([len(unit) for unit in units], dtype=float)
    ends = part.start_s + np.cumsum(lengths) / lengths.sum() * (part.end_s - part.start_s)
    for unit, start, end in zip(units, (part.start_s, *ends[:-1]), ends, strict=True):
        if begin_s <= start + _SLACK_S and end <= end_s:
            yield unit


def main() -> None:
    """Serve with an oracle of the corpus that the command line names; of the project's own without one."""
    import uvloop

    from app.serve import serve

    file = Path(sys.argv[1]) if sys.argv[1:] else None
    corpus, folder = load(file), file and file.with_suffix("")
    uvloop.run(serve(Oracle(u for kind in ("simple", "paused") for u in utterances(corpus, kind, folder))))


if __name__ == "__main__":
    main()
