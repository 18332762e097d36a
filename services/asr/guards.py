"""What a recogniser says when nobody spoke: silence, loops and the phrases that models invent."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rules.asr import AsrRules
from schemas.audio import SAMPLE_RATE, Samples
from schemas.transcript import Hypothesis
from services.asr.decoder import Decoded, Witness

_WINDOW: Final = 1024
_PITCH_HZ: Final = (80.0, 280.0)
"""A voice's pitch lies in between: a caller's first sound may be a held vowel, little but its lowest two tones."""
_ONE_TONE: Final = 4
"""Bins that a steady tone fills."""
_TWO_TONES: Final = 9
_LONGEST_LOOP: Final = 12
"""Units of the longest run looked for."""


class Guard:
    """Empties transcripts that no speech stands behind, by the thresholds and phrases of a language."""

    def __init__(self, rules: AsrRules) -> None:
        self._rules = rules
        self._respelt = tuple((re.compile(heard), meant) for heard, meant in rules.respelt)
        self._phantoms = frozenset(_plain(p) for p in rules.phantom_phrases)

    def wordless(self, samples: Samples) -> bool:
        """Whether this can't be speech: too faint to decode, or nothing but steady tones."""
        if samples.size == 0 or float(np.abs(samples).max()) < self._rules.inaudible_peak:
            return True
        return tone_share(samples) > self._rules.tone_share

    def keep(self, decoded: Decoded, *, final: bool) -> tuple[Hypothesis, ...]:
        """The hypotheses that may stand; one empty hypothesis where the best of them may not."""
        best = decoded.hypotheses[0] if decoded.hypotheses else Hypothesis("", 0.0)
        if not best.text or self._silent(best, decoded, final=final) or self._invented(best):
            return (Hypothesis("", best.avg_logprob),)
        kept = (best, *(h for h in decoded.hypotheses[1:] if h.text and not self._loops(h.text)))
        texts: dict[str, Hypothesis] = {}
        for hypothesis in kept:
            texts.setdefault(self._written(hypothesis), hypothesis)
        return tuple(replace(hypothesis, text=text) for text, hypothesis in texts.items())

    def _written(self, hypothesis: Hypothesis) -> str:
        """Its text, with words for numbers of the same sound where no number is spoken so."""
        text = hypothesis.text
        for heard, meant in self._respelt:
            text = heard.sub(meant, text)
        return text

    def _silent(self, best: Hypothesis, decoded: Decoded, *, final: bool) -> bool:
        rules, none = self._rules, decoded.no_speech_prob
        if none > rules.certain_no_speech_prob:
            return True
        if decoded.witness is None:
            unsure = none > rules.no_speech_prob and best.avg_logprob < rules.no_speech_logprob
            return unsure or best.avg_logprob < rules.floor_logprob
        return self._denied(decoded.witness, final=final)

    def _denied(self, witness: Witness, *, final: bool) -> bool:
        """Whether the CTC head does not hear what the decoder wrote."""
        rules = self._rules
        floor = rules.floor_joint_logprob if final else rules.floor_partial_logprob
        least = rules.least_over_silence if final else rules.least_partial_over_silence
        return (
            witness.joint_logprob < floor
            or witness.surest < rules.least_surest
            or witness.over_silence < least
            or witness.unwritten > rules.most_unwritten
        )

    def _invented(self, best: Hypothesis) -> bool:
        phantom = _plain(best.text) in self._phantoms and best.avg_logprob < self._rules.phantom_logprob
        return phantom or self._loops(best.text)

    def _loops(self, text: str) -> bool:
        """Whether some run of words (of characters, where no spaces part them) follows itself too often."""
        units = text.split() if " " in text else list(text)
        limits = self._rules.loop_repeats
        return any(_repeats(units, size) > limits[min(size, len(limits)) - 1] for size in range(1, _LONGEST_LOOP + 1))


def _repeats(units: Sequence[str], size: int) -> int:
    """The most times in a row that any `size` units come."""
    most = run = 0
    for here, there in zip(units, units[size:], strict=False):
        run = run + 1 if here == there else 0
        most = max(most, run)
    return most // size + 1


def tone_share(samples: Samples) -> float:
    """Share of the energy in the bins of one steady tone, or of two outside a voice's pitch; there are 513 bins."""
    padded = np.pad(samples, (0, max(0, _WINDOW - samples.size)))
    frames = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)[:: _WINDOW // 2]
    power = np.square(np.abs(np.fft.rfft(frames * np.hanning(_WINDOW), axis=1))).mean(axis=0)
    hertz = np.fft.rfftfreq(_WINDOW, 1 / SAMPLE_RATE)
    pitch = (hertz > _PITCH_HZ[0]) & (hertz < _PITCH_HZ[1])
    one, two = np.sort(power)[-_ONE_TONE:].sum(), np.sort(power[~pitch])[-_TWO_TONES:].sum()
    return float(max(one, two) / (power.sum() + 1e-20))


def _plain(text: str) -> str:
    """Lower case, letters and digits alone."""
    return "".join(c for c in text.lower() if c.isalnum())
