"""How far chance alone could move an error rate: its 95 % interval, had the same voices said other such sentences."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from rapidfuzz.distance import Levenshtein

from app.qa.figures import Figure
from deploy.bench._asr.score import Recognition, group

DRAWS: Final = 2_000
SEED: Final = 1
INTERVAL: Final = (2.5, 97.5)


def spread(heard: Sequence[Recognition]) -> dict[str, Figure]:
    """Ends of the interval for voices never heard, by language and condition, in percent of words (or characters).

    A bootstrap over utterances: as many are drawn again and again from those there are.
    """
    groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for each in heard:
        if group(each.case.voice) == "held_out":
            unit = "cer" if each.case.lang == "ja" else "wer"
            groups[f"{each.case.lang}_held_out_{each.condition}_{unit}"].append(_counted(each))
    flat: dict[str, Figure] = {}
    for name, found in groups.items():
        wrong, said = np.array(found).T
        drawn = np.random.default_rng(SEED).integers(0, len(found), (DRAWS, len(found)))
        low, high = np.percentile(100 * wrong[drawn].sum(axis=1) / said[drawn].sum(axis=1), INTERVAL)
        flat |= {f"{name}_low_percent": float(low), f"{name}_high_percent": float(high)}
    return flat


def _counted(heard: Recognition) -> tuple[int, int]:
    """(words wrong, words said); characters in Japanese, as `error_rate` counts them."""
    said, told = heard.case.text, heard.text
    if heard.case.lang == "ja":
        return Levenshtein.distance(said, told), len(said)
    return Levenshtein.distance(said.split(), told.split()), len(said.split())
