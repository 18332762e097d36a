"""Fitting the calibration: a conditional logit by gradient, on what the search retrieves for development calls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import orjson

from deploy.bench._payees.dice import Dice
from deploy.bench._payees.sample import Setting, development
from deploy.bench._payees.stock import book
from services.payees.calibration import CANDIDATE, NOBODY, calibration
from services.payees.evidence import NameEvidence, evidence, retrieve
from services.payees.forms import Forms
from services.payees.said import NameHypotheses, heard
from services.payees.score import MAX_OWNERS, nobody_features

Floats = npt.NDArray[np.float64]
_WIDTH: Final = 24
_STEPS: Final = 800
_RATE: Final = 0.05
_RIDGE: Final = 2e-4


@dataclass(frozen=True, slots=True)
class Sample:
    """One call as the model sees it: a row of features and an offset for each candidate; the place of the truth."""

    rows: Floats
    offsets: Floats
    nobody: Floats
    truth: int
    """A row; or the number of rows, which stands for nobody."""


def samples(setting: Setting) -> Iterator[Sample]:
    """Every call of a setting."""
    forms = Forms(book(setting.persons))
    for call in setting.calls:
        said = heard(call.names, forms)
        if said.said:
            yield _sample(said, call.meant, forms)


def _sample(said: NameHypotheses, meant: int | None, forms: Forms) -> Sample:
    rows: list[tuple[float, ...]] = []
    offsets: list[float] = []
    owners: list[int] = []
    for each in evidence(said, forms, retrieve(said, forms)).evidence:
        for owner, offset in _owners(each, forms, meant):
            if owner not in owners and len(rows) < _WIDTH:
                rows.append((*each.features, 0.0))
                offsets.append(offset)
                owners.append(owner)
    truth = owners.index(meant) if meant in owners else len(rows)
    return Sample(np.array(rows), np.array(offsets), np.array(nobody_features(said, forms)), truth)


def _owners(each: NameEvidence, forms: Forms, meant: int | None) -> Iterator[tuple[int, float]]:
    """Two payees of a form, the meant one among them, with the rest as an offset of the second's utility."""
    owners = forms.owners(each.form)
    first = meant if meant is not None and meant in owners else owners[0]
    yield first, 0.0
    rest = [owner for owner in owners[: MAX_OWNERS + 1] if owner != first]
    if rest:
        yield rest[0], log(len(owners) - 1)


def fit(data: Sequence[Sample], start: Floats) -> Floats:
    """Weights of `CANDIDATE` and `NOBODY`, one after the other, by Adam on the likelihood with a small ridge."""
    width, known = max(len(s.rows) for s in data), len(CANDIDATE)
    rows = np.zeros((len(data), width + 1, known + len(NOBODY)))
    offsets = np.full((len(data), width + 1), -np.inf)
    for place, each in enumerate(data):
        count = len(each.rows)
        rows[place, :count, :known] = each.rows
        offsets[place, :count] = each.offsets
        rows[place, width, known:] = each.nobody
        offsets[place, width] = 0.0
    truth = np.array([width if s.truth == len(s.rows) else s.truth for s in data])
    return _climb(rows, offsets, truth, start)


def _climb(rows: Floats, offsets: Floats, truth: npt.NDArray[np.int64], start: Floats) -> Floats:
    weights, momentum, scale = start.copy(), np.zeros_like(start), np.zeros_like(start)
    place = np.arange(len(truth))
    spread = rows.reshape(-1, rows.shape[-1]).std(axis=0) + 1e-6
    for step in range(1, _STEPS + 1):
        utility = rows @ weights + offsets
        utility -= utility.max(axis=1, keepdims=True)
        share = np.exp(utility)
        share /= share.sum(axis=1, keepdims=True)
        share[place, truth] -= 1.0
        slope = np.einsum("nk,nkf->f", share, rows) / len(truth) + _RIDGE * weights * spread**2
        slope /= spread
        momentum = 0.9 * momentum + 0.1 * slope
        scale = 0.999 * scale + 0.001 * slope**2
        rate = _RATE / (1.0 + 3.0 * step / _STEPS)
        weights -= rate * (momentum / (1 - 0.9**step)) / (np.sqrt(scale / (1 - 0.999**step)) + 1e-8) / spread
    return weights


def refit(target: Path, dice: Dice) -> None:
    """Fit on the development settings; write the calibration with new weights and the next version.

    How much recency tells is not in this data; its weight and the thresholds are kept.
    """
    now = calibration()
    start = np.array([*(now.candidate[name] for name in CANDIDATE), *(now.nobody[name] for name in NOBODY)])
    data = [sample for setting in development(dice) for sample in samples(setting) if len(sample.rows)]
    weights = [round(float(weight), 3) for weight in fit(data, start)]
    body = now.model_dump() | {
        "version": now.version + 1,
        "fitted_on": f"{len(data)} development calls (tellerline bench payees --fit FILE --stage weights)",
        "candidate": dict(zip(CANDIDATE, weights, strict=False)) | {"recent": now.candidate["recent"]},
        "nobody": dict(zip(NOBODY, weights[len(CANDIDATE) :], strict=True)),
    }
    target.write_bytes(orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n")
