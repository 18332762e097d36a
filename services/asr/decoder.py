"""What one decode gives, and the decoder's interface; both kinds of checkpoint fit it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from schemas.audio import SAMPLE_RATE, Samples
from schemas.transcript import Hypothesis, Onward

CONFIG: Final = "preprocessor_config.json"
"""What a checkpoint's folder tells of it."""
TRAINED_S: Final = 11.0
"""Speech longer than the training of our checkpoints ever was is decoded in pieces."""
TRAINED_TOKENS: Final = 120
"""Of such a piece, at most."""
ALTERNATIVES: Final = 4
"""Hypotheses asked of a final decode."""
BEAM: Final = 4
TOKENS_PER_SECOND: Final = 14
"""More tokens than anyone speaks in a second, in either language; a longer decode is a loop."""
MIN_TOKENS: Final = 12
_FRAME: Final = SAMPLE_RATE // 50


@dataclass(frozen=True, slots=True)
class Witness:
    """What a CTC head, which hears sounds but guesses no phrases, says of the best hypothesis."""

    joint_logprob: float
    """Natural-log probability a token by decoder and head together."""
    surest: float
    """Probability of the surest label in the sound, whatever the hypothesis."""
    over_silence: float
    """Natural-log odds of the hypothesis against silence."""
    unwritten: float
    """Labels that the head hears beyond those written, for each one written."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Best hypothesis first; `no_speech_prob` is the model's own estimate, the witness a CTC head's, where one is."""

    hypotheses: tuple[Hypothesis, ...]
    no_speech_prob: float
    witness: Witness | None = None


class Decoder(Protocol):
    """One language of one checkpoint. Blocking: runs in a worker thread, many may run at once."""

    def decode(self, samples: Samples, *, final: bool) -> Decoded:
        """Decode mono float32 samples at 16 kHz. A final has `ALTERNATIVES` hypotheses, a partial one."""
        ...

    def odds(self, samples: Samples, texts: Sequence[str]) -> tuple[float, ...]:
        """Natural-log odds of each text against the first, by the sound alone; empty where that can't be told."""
        ...

    def onward(self, samples: Samples, text: str) -> Onward | None:
        """Whether the speaker goes on after `text`, which was heard; None where that can't be told."""
        ...


def witness(written: int, joint: float, over_silence: float, new: NDArray[np.float32]) -> Witness:
    """The testimony on `written` labels, out of their joint log-probability and `CtcHead.new`."""
    return Witness(
        joint_logprob=joint / (1 + written),
        surest=float(new.max()),
        over_silence=over_silence,
        unwritten=(float(new.sum()) - written) / (1 + written),
    )


def token_limit(seconds: float, most: int) -> int:
    """How many tokens `seconds` of speech may have, at most `most`."""
    return min(most, MIN_TOKENS + int(seconds * TOKENS_PER_SECOND))


def max_length(tokens: int, prompt: int) -> int:
    """CTranslate2's `max_length` that really allows `tokens`: it stops at min(max_length / 2, max_length - prompt)."""
    return max(2 * tokens, tokens + prompt)


def in_pieces(samples: Samples, longest_s: float, decode: Callable[[Samples], Decoded], between: str) -> Decoded:
    """The decode of an utterance, piece by piece of at most `longest_s`; `between` stands between two words."""
    return joined([decode(piece) for piece in split(samples, longest_s)], between)


def split(samples: Samples, longest_s: float) -> list[Samples]:
    """Pieces of at most `longest_s`, cut where the second half of each is quietest."""
    limit = int(longest_s * SAMPLE_RATE)
    pieces = []
    while samples.size > limit:
        cut = limit // 2 + _quietest(samples[limit // 2 : limit])
        pieces.append(samples[:cut])
        samples = samples[cut:]
    return [*pieces, samples]


def _quietest(samples: Samples) -> int:
    """Offset of the middle of the quietest 100 ms."""
    frames = samples[: samples.size // _FRAME * _FRAME].reshape(-1, _FRAME)
    energy: NDArray[np.float32] = np.square(frames).mean(axis=1)
    smooth = np.convolve(energy, np.ones(5), mode="same")
    return int(smooth.argmin()) * _FRAME + _FRAME // 2


def joined(parts: list[Decoded], between: str) -> Decoded:
    """The decode of a whole utterance out of its pieces, rank by rank; a piece's last stands in for a rank it lacks."""
    if len(parts) == 1:
        return parts[0]
    ranks = max(len(p.hypotheses) for p in parts)
    rows = [[p.hypotheses[min(rank, len(p.hypotheses) - 1)] for p in parts if p.hypotheses] for rank in range(ranks)]
    hypotheses = tuple(
        Hypothesis(between.join(h.text for h in row if h.text), sum(h.avg_logprob for h in row) / len(row))
        for row in rows
    )
    witnesses = [p.witness for p in parts if p.witness is not None]
    clearest = max(witnesses, key=lambda w: w.over_silence, default=None)
    return Decoded(hypotheses, min(p.no_speech_prob for p in parts), clearest)
