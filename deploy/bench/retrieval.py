"""`tellerline bench retrieval`: the time of one search among many passages, and how often the right one is found."""

import time
from datetime import date
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer

from app.qa.figures import Figure
from app.qa.locales import LOCALES
from deploy.bench._questions import read_questions
from deploy.reporting import percentile, publish
from schemas.answer import Question
from services.answering.knowledge import Passage, load_passages
from services.answering.retrieve import Retriever

SEED: Final = 5
WORDS: Final = 120


def library_of(size: int) -> list[Passage]:
    """`size` passages a language: the bank's own clauses, and as many mixed from their sentences as are missing."""
    rng = np.random.default_rng(SEED)
    passages: list[Passage] = []
    for name in LOCALES:
        own = [p for p in load_passages() if p.language == name]
        passages += own
        for number in range(size - len(own)):
            parts = [own[i].text for i in rng.integers(0, len(own), size=8)]
            text = " ".join(" ".join(parts).split()[:WORDS])
            base = own[number % len(own)]
            passages.append(
                Passage(f"mixed§{number}", base.title, text, name, base.product, base.effective_from, date.max)
            )
    return passages


def measure(retriever: Retriever, questions: list[Question], day: date, rounds: int) -> list[float]:
    """Milliseconds of each search."""
    taken = []
    for _ in range(rounds):
        for question in questions:
            began = time.perf_counter()
            retriever.search(question, day)
            taken.append((time.perf_counter() - began) * 1000)
    return taken


def recall(retriever: Retriever, half: str, folder: Path, day: date, k: int) -> float:
    """The share of answerable questions whose passage is among the first `k`."""
    found, asked = 0, 0
    for name, locale in LOCALES.items():
        for entry in read_questions(folder, name)[half].answerable:
            hits = retriever.search(Question(entry.q, locale), day, k).hits
            found += any(hit.passage.id in entry.passages for hit in hits)
            asked += 1
    return found / asked


def bench(
    passages: int = 2000,
    rounds: int = 20,
    questions: Path = Path("tests/data/answer"),
    on: Annotated[str, typer.Option(help="the day that decides which clauses are in force")] = "2026-11-21",
    json: Path | None = None,
) -> None:
    """Search p50 and p99 among PASSAGES passages a language; recall@1 and @3 on the bank's own documents."""
    day = date.fromisoformat(on)
    began = time.perf_counter()
    large = Retriever(library_of(passages))
    figures: dict[str, Figure] = {"passages": passages, "build_ms": (time.perf_counter() - began) * 1000}
    asked = [
        Question(entry.q, locale)
        for name, locale in LOCALES.items()
        for half in read_questions(questions, name).values()
        for entry in half.answerable
    ]
    measure(large, asked, day, 1)
    taken = measure(large, asked, day, rounds)
    quiet = [min(taken[i :: len(asked)]) for i in range(len(asked))]
    figures |= {"searches": len(taken), "p50_ms": percentile(taken, 50), "p99_ms": percentile(taken, 99)}
    figures |= {"best_of_rounds_p99_ms": percentile(quiet, 99), "slowest_question_best_ms": max(quiet)}
    own = Retriever(load_passages())
    for half in ("development", "held", "fresh"):
        figures[f"{half}_recall_at_1"] = recall(own, half, questions, day, 1)
        figures[f"{half}_recall_at_3"] = recall(own, half, questions, day, 3)
    publish("retrieval", f"{len(asked)} questions in English and Japanese, {rounds} rounds", figures, json)
