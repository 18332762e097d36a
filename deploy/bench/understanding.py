"""`tellerline bench understanding`: precision and coverage of the fast path over sentences as callers say them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

if TYPE_CHECKING:
    from deploy.bench.cases.labelled import JudgedSentence

SENTENCES: Final = Path("tests/data/understanding")
_COVERED: Final = ("balance_inquiry", "transfer_money", "bill_payment")
"""The intents whose coverage is promised."""


def bench(
    folder: Annotated[Path, typer.Argument(help="labelled sentences, a YAML file each language")] = SENTENCES,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    show: Annotated[str, typer.Option(help="list these: wrong, or missed (not taken by the fast path) as well")] = "",
    unseen: Annotated[bool, typer.Option(help="list the unseen sentences as well")] = False,
) -> None:
    """Hear every sentence as the first of a call. Precision: right of those taken; coverage: right of all.

    Right is the intent, acted on or asked about, with no slot filled otherwise. What goes to extraction or to the
    documents is not taken. A fourth of the sentences is kept from the listing by which the grammar is mended: `unseen`.
    """
    from deploy.bench.cases.labelled import Judge, SentenceOutcome, labelled
    from deploy.bench.cases.player import ConversationPlayer

    figures: dict[str, Figure] = {}
    wrong = 0
    for language in ("en", "ja"):
        customer, sentences = labelled(folder / f"{language}.yaml")
        judge = Judge(ConversationPlayer.of(customer), customer)
        judged = [judge.judge(sentence) for sentence in sentences]
        wrong += sum(one.outcome is SentenceOutcome.WRONG for one in judged)
        figures |= {f"{language}_{name}": value for name, value in _figures(judged).items()}
        for one in judged:
            listed = one.outcome is SentenceOutcome.WRONG or (
                show == "missed" and one.outcome is not SentenceOutcome.RIGHT
            )
            if show and listed and (unseen or not one.sentence.unseen):
                label = "|".join(one.sentence.labels)
                typer.echo(f"{one.outcome.value}: {label}: {one.sentence.text}: {one.why}", err=True)
    publish("understanding", f"labelled sentences of {folder}", figures, json)


def _figures(judged: "list[JudgedSentence]") -> dict[str, Figure]:
    from deploy.bench.cases.labelled import AMBIGUOUS, OTHER

    held = [one for one in judged if one.sentence.unseen]
    figures: dict[str, Figure] = {"sentences": len(judged), "precision_percent": _precision(judged)}
    figures |= {"unseen_sentences": len(held), "unseen_precision_percent": _precision(held)}
    for name, ones in (("coverage", judged), ("unseen_coverage", held)):
        figures[f"{name}_percent"] = _coverage([one for one in ones if set(one.sentence.labels) & set(_COVERED)])
    for label in dict.fromkeys(label for one in judged for label in one.sentence.labels):
        if label not in {OTHER, AMBIGUOUS}:
            figures[f"{label}_coverage_percent"] = _coverage([j for j in judged if label in j.sentence.labels])
    return figures


def _precision(judged: "list[JudgedSentence]") -> float:
    """Right of those that the fast path acted on or asked about, in percent."""
    from deploy.bench.cases.labelled import SentenceOutcome

    taken = [one for one in judged if one.outcome in {SentenceOutcome.RIGHT, SentenceOutcome.WRONG}]
    return round(100 * sum(one.outcome is SentenceOutcome.RIGHT for one in taken) / max(1, len(taken)), 2)


def _coverage(judged: "list[JudgedSentence]") -> float:
    from deploy.bench.cases.labelled import SentenceOutcome

    return round(100 * sum(one.outcome is SentenceOutcome.RIGHT for one in judged) / max(1, len(judged)), 1)
