"""Fitting when a choice may be made: a logistic model of being right, and how sure it must be, on development calls."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from deploy.bench._payees.dice import Dice
from deploy.bench._payees.sample import Setting, overheard, setting
from deploy.bench._payees.stock import book
from services.payees.calibration import Script, Trust, calibration
from services.payees.decide import choosable
from services.payees.forms import Forms
from services.payees.said import heard
from services.payees.score import score
from services.payees.trust import SIGNALS, lead, script, signals

Floats = npt.NDArray[np.float64]
_UNLIKELY: Final = 0.8
"""Whoever is less likely than this is never chosen, and would only blur the fit."""
_NEWTON: Final = 40
_RIDGE: Final = 1.0
_FOLDS: Final = 5
_AIM: Final = 0.0013
"""The share of wrong choices aimed at: some room below the goal of 0.2 %."""
_ODDS: Final = np.arange(3.0, 8.01, 0.125)
_STRANGERS: Final = 0.2
_SETTINGS: Final = (
    *(("en", 10_000, 4000, 0.0, seed) for seed in range(101, 104)),
    *(("ja", 10_000, 4000, 0.0, seed) for seed in range(101, 104)),
    *((language, 400, 500, 0.1, seed) for language in ("en", "ja") for seed in range(201, 213)),
    *((language, 60, 100, 0.35, seed) for language in ("en", "ja") for seed in range(301, 371)),
)
"""Language, payees, calls, share of calls by one part of a name, seed: none that the weights were fitted on."""
_OVERHEARD: Final = ((10_000, 401), (10_000, 402), (400, 403), (400, 404), (60, 405), (60, 406), (60, 407))
"""Payees, seed: every overheard name in other books, now a stranger and now known."""


class TrustTrial(NamedTuple):
    """What would be chosen in one call."""

    script: Script
    signals: tuple[float, ...]
    right: bool


def trials(setting: Setting) -> Iterator[TrustTrial]:
    """Every call of a setting in which a whole name may be chosen."""
    forms = Forms(book(setting.persons))
    for call in setting.calls:
        said = heard(call.names, forms)
        scored = score(said, forms)[0] if said.said else []
        if not scored or scored[0].probability < _UNLIKELY or scored[0].evidence.part:
            continue
        ahead = lead(said, scored, forms)
        if choosable(said, scored, forms, ahead):
            values = signals(said, scored, forms, ahead)
            yield TrustTrial(script(scored, forms), values, scored[0].owner == call.meant)


def fit(data: Sequence[TrustTrial]) -> Trust:
    """Weights of `SIGNALS`, and the lowest odds at which choices keep to the aim.

    What is right or wrong at which odds is counted in cross-validation.
    """
    rows, right = np.array([each.signals for each in data]), np.array([float(each.right) for each in data])
    fold = np.arange(len(data)) % _FOLDS
    odds = np.empty(len(data))
    for held in range(_FOLDS):
        odds[fold == held] = rows[fold == held] @ _newton(rows[fold != held], right[fold != held])
    weights = {name: round(float(weight), 3) for name, weight in zip(SIGNALS, _newton(rows, right), strict=True)}
    return Trust(weights=weights, accept=_least(odds, right))


def _data(half: int) -> Iterator[TrustTrial]:
    for language, payees, calls, parts, seed in _SETTINGS:
        dice = Dice(seed, half)
        yield from trials(
            setting("development", language, payees=payees, calls=calls, strangers=_STRANGERS, parts=parts, dice=dice)
        )
    for payees, seed in _OVERHEARD:
        for each in overheard("development", payees, Dice(seed, half)):
            yield from trials(each)


def refit(target: Path, half: int) -> None:
    """Fit trust with the weights in force and write the calibration with it and the next version.

    `half` seeds the development half.
    """
    data = list(_data(half))
    now = calibration()
    body = now.model_dump() | {
        "version": now.version + 1,
        "trust_fitted_on": f"{len(data)} development choices (tellerline bench payees --fit FILE)",
        "trust": {
            script: fit([trial for trial in data if trial.script == script]).model_dump() for script in now.trust
        },
    }
    target.write_bytes(orjson.dumps(body, option=orjson.OPT_INDENT_2) + b"\n")


def _newton(rows: Floats, right: Floats) -> Floats:
    weights = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], _RIDGE)
    ridge[0] = 0.0
    for _ in range(_NEWTON):
        likely = 1.0 / (1.0 + np.exp(-rows @ weights))
        slope = rows.T @ (right - likely) - ridge * weights
        bend = (rows * (likely * (1.0 - likely))[:, None]).T @ rows + np.diag(ridge + 1e-9)
        weights += np.linalg.solve(bend, slope)
    return weights


def _least(odds: Floats, right: Floats) -> float:
    """The lowest log odds at which the share of wrong choices keeps to the aim."""
    for least in _ODDS.tolist():
        chosen = odds >= least
        if (1.0 - right[chosen]).sum() <= _AIM * chosen.sum():
            return float(least)
    return float(_ODDS[-1])
