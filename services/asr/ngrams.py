"""How likely a transcript is as a sentence: an n-gram model of tokens that a checkpoint may carry beside its heads.

`language.npz.xz`, written by `recogniser language`, has for each order n the `cost` of its n-grams, ascending, and the
`backoff` of each context of n - 1 tokens that some n-gram begins with: both in `steps` a nat. The n-grams themselves
are the level n of a tree: how many `branches` each node of the level above has, the last of the `tokens` of each node,
and whether it is an n-gram of its `own` or but the beginning of longer ones. Read as a number to the `base`, one more
than the size of the vocabulary, an n-gram is a key: each token counts one more than its id, a sentence's boundary 0.
"""

import lzma
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rules.kept import kept

OURS: Final = Path(__file__).parent
"""Other checkpoints are somebody's, and many."""
UNKNOWN_COST: Final = 14.0
"""Nats of a token that no text had."""
END: Final = -1
"""The token that ends a sentence."""

Keys = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Order:
    """n-grams of one length: natural-log probability of each, and of leaving each context for a shorter one."""

    keys: Keys
    log_prob: Floats
    contexts: Keys
    log_backoff: Floats

    def lengthen(self, shorter: Floats, keys: Keys, contexts: Keys) -> Floats:
        """Log-probabilities by this order where it knows the context, by the shorter one where it does not."""
        at = _places(self.contexts, contexts)
        known = self.contexts[at] == contexts
        passed = shorter + np.where(known, self.log_backoff[at], 0.0)
        place = _places(self.keys, keys)
        seen = self.keys[place] == keys
        return np.where(seen, np.logaddexp(self.log_prob[place], passed), passed)


class Ngrams:
    """Interpolated n-grams over token ids.

    Raises ValueError for a file of another vocabulary, EOFError or LZMAError for a torn one.
    """

    def __init__(self, path: Path, vocabulary: int) -> None:
        with np.load(BytesIO(_unpacked(path))) as packed:
            arrays = dict(packed)
        self._base = int(arrays["base"])
        if self._base != vocabulary + 1:
            raise ValueError(f"a language model of {self._base - 1} tokens, where the checkpoint has {vocabulary}")
        self._orders = [self._read(arrays, n, keys) for n, keys in enumerate(self._keys(arrays), 1)]
        every = np.arange(self._base)
        self._pairs = self._lengthened(np.full((self._base, self._base), -UNKNOWN_COST), every, every, 0, 2)

    def _keys(self, arrays: Mapping[str, NDArray[np.uint8]]) -> Iterator[Keys]:
        """Of each order, ascending."""
        nodes = np.zeros(1, dtype=np.int64)
        for n in range(1, int(arrays["order"]) + 1):
            nodes = nodes.repeat(_numbers(arrays[f"branches{n}"])) * self._base + _numbers(arrays[f"tokens{n}"])
            yield nodes[np.unpackbits(arrays[f"own{n}"], count=len(nodes)) > 0]

    def _read(self, arrays: Mapping[str, NDArray[np.uint8]], n: int, keys: Keys) -> _Order:
        cost, backoff = (arrays[f"{name}{n}"] / -float(arrays["steps"]) for name in ("cost", "backoff"))
        contexts = keys // self._base  # ascending, as keys are
        return _Order(keys, cost, contexts[np.diff(contexts, prepend=-1) > 0], backoff)

    def score(self, candidates: Sequence[Sequence[int]]) -> Floats:
        """Natural-log probability of each candidate from its beginning to its end."""
        reach = len(self._orders) - 1
        tokens = np.array(
            [t for c in candidates for t in (*[0] * reach, *(token + 1 for token in c), 0)], dtype=np.int64
        )
        lengths = np.array([len(c) + 1 for c in candidates])
        at = np.arange(lengths.sum()) + reach * (1 + np.repeat(np.arange(len(lengths)), lengths))
        found, context = np.full(len(at), -UNKNOWN_COST), np.zeros(len(at), dtype=np.int64)
        for n, order in enumerate(self._orders):
            if n:
                context += tokens[at - n] * self._base ** (n - 1)
            found = order.lengthen(found, context * self._base + tokens[at], context)
        scores: Floats = np.add.reduceat(found, lengths.cumsum() - lengths)
        return scores

    def context(self, before: Keys, tokens: Keys) -> Keys:
        """The contexts that `tokens` make of those before them; that of a sentence's beginning is 0."""
        longer: Keys = (before * self._base + tokens + 1) % self._base ** (len(self._orders) - 1)
        return longer

    def follow(self, contexts: Keys, tokens: Keys) -> Floats:
        """(contexts, tokens): natural-log probability of each token in each context."""
        found = self._pairs[contexts[:, None] % self._base, tokens + 1]
        return self._lengthened(found, contexts, tokens + 1, 2, len(self._orders))

    def _lengthened(self, found: Floats, contexts: Keys, tokens: Keys, known: int, order: int) -> Floats:
        """(contexts, tokens): `found` by n-grams of `known` tokens, made better by those of up to `order`."""
        for n in range(known, min(order, len(self._orders))):
            context = contexts[:, None] % self._base**n
            found = self._orders[n].lengthen(found, context * self._base + tokens, context)
        return found


def _unpacked(path: Path) -> bytes:
    """A model's arrays. LZMA takes a fifth of a second of every start; of our own model a quicker form is kept."""
    packed = path.read_bytes()
    if OURS not in path.parents:
        return lzma.decompress(packed)
    name = f"ngrams-{sha256(packed).hexdigest()[:16]}"
    return zlib.decompress(kept(name, lambda: zlib.compress(lzma.decompress(packed))))


def _numbers(planes: NDArray[np.uint8]) -> Keys:
    """Of their low and their high bytes."""
    made: Keys = planes[0] + 256 * planes[1].astype(np.int64)
    return made


def _places(keys: Keys, wanted: Keys) -> NDArray[np.int64]:
    return np.minimum(keys.searchsorted(wanted), len(keys) - 1)
