"""`tellerline bench evidence`: fit when the answers' evidence is strong enough, and show what each threshold costs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from numpy.typing import NDArray

from app.qa.figures import Figure
from deploy.bench.qna import QuestionCase, cases_of
from deploy.reporting import publish
from services.answering.quote import Library
from services.answering.retrieve import RetrievalResult

Floats = NDArray[np.float64]
FOLDS: Final = 10
RIDGE: Final = 1.0
NEWTON: Final = 40
TAKEN_AWAY: Final = 0.3
"""The weight of a question asked again without the passages that answer it."""
SURE: Final = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
MORE: Final = 8
"""Hits looked at, so that some are left where the right ones are taken away."""


@dataclass(frozen=True)
class EvidenceTrial:
    """A search, and whether its best passage answers. `question` numbers the question; folds do not part its trials."""

    question: int
    signals: tuple[float, float, float]
    right: bool
    answerable: bool
    weight: float


def trials(library: Library, cases: Sequence[QuestionCase], day: date) -> Iterator[EvidenceTrial]:
    """Each question as it is, and each answerable one again as if the documents did not answer it."""
    for number, case in enumerate(cases):
        found = library.retriever.search(case.question, day, MORE)
        if found.personal or not found.hits:
            continue
        yield EvidenceTrial(
            number, _signals(found), found.hits[0].passage.id in case.passages, bool(case.passages), 1.0
        )
        rest = (
            library.retriever.search(case.question, day, MORE, without=case.passages)
            if case.passages
            else RetrievalResult()
        )
        if rest.hits:
            yield EvidenceTrial(number, _signals(rest), right=False, answerable=False, weight=TAKEN_AWAY)


def _signals(found: RetrievalResult) -> tuple[float, float, float]:
    return found.coverage, found.score, found.margin


def fit(data: Sequence[EvidenceTrial]) -> Floats:
    """Weights of coverage, score and margin, and the constant: logistic regression, by Newton's method with a ridge."""
    signals = np.array([each.signals for each in data])
    middle, spread = signals.mean(0), signals.std(0)
    rows = np.c_[(signals - middle) / spread, np.ones(len(data))]
    right, share = np.array([each.right for each in data], float), np.array([each.weight for each in data])
    ridge = np.array([RIDGE, RIDGE, RIDGE, 1e-6])
    weights = np.zeros(4)
    for _ in range(NEWTON):
        likely = 1.0 / (1.0 + np.exp(-rows @ weights))
        slope = rows.T @ (share * (right - likely)) - ridge * weights
        bend = (rows * (share * likely * (1.0 - likely))[:, None]).T @ rows + np.diag(ridge)
        weights += np.linalg.solve(bend, slope)
    plain = weights[:3] / spread
    return np.append(plain, weights[3] - plain @ middle)


def unseen(data: Sequence[EvidenceTrial]) -> Floats:
    """Each trial's probability by weights fitted without its question."""
    fold = np.array([each.question for each in data]) % FOLDS
    rows = np.array([(*each.signals, 1.0) for each in data])
    likely = np.empty(len(data))
    for held in range(FOLDS):
        weights = fit([each for each, mine in zip(data, fold, strict=True) if mine != held])
        likely[fold == held] = 1.0 / (1.0 + np.exp(-rows[fold == held] @ weights))
    return likely


def bench(
    questions: Path = Path("tests/data/answer"),
    on: Annotated[str, typer.Option(help="the day that decides which clauses are in force")] = "2026-11-21",
    json: Path | None = None,
) -> None:
    """Weights for rules/answer/thresholds.yaml from the development half, and, in cross-validation, what they give."""
    cases = cases_of(questions, "development")
    data = list(trials(Library.load(), cases, date.fromisoformat(on)))
    names = ("coverage", "score", "margin", "constant")
    figures: dict[str, Figure] = {name: round(float(each), 2) for name, each in zip(names, fit(data), strict=True)}
    likely = unseen(data)
    asked = np.array([each.weight == 1.0 for each in data])
    right, answerable = np.array([each.right for each in data]), np.array([each.answerable for each in data])
    figures |= {
        "answerable": sum(bool(case.passages) for case in cases),
        "unanswerable": sum(not case.passages for case in cases),
    }
    for sure in SURE:
        said, name = (likely >= sure) & asked, f"sure_{round(sure * 100)}_percent"
        figures[f"{name}_right"] = int((said & right).sum())
        figures[f"{name}_wrong"] = int((said & answerable & ~right).sum())
        figures[f"{name}_unanswerable_answered"] = int((said & ~answerable).sum())
    publish("evidence", f"{len(cases)} questions of the development half, {FOLDS} folds", figures, json)
