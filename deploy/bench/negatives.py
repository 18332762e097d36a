"""`tellerline bench negatives`: tens of thousands of sentences that must never move money."""

import time
from pathlib import Path
from typing import Annotated, Final

import typer

from app.qa.figures import Figure
from deploy.reporting import publish

SENTENCES: Final = Path("tests/data/never")


def bench(
    folder: Annotated[Path, typer.Argument(help="patterns and words, a YAML file each language")] = SENTENCES,
    json: Annotated[Path | None, typer.Option(help="write the figures there")] = None,
    each: Annotated[int, typer.Option(help="sentences of each pattern, at most", min=1)] = 800,
    english: Annotated[Path | None, typer.Option(help="further English sentences, one a line")] = None,
    japanese: Annotated[Path | None, typer.Option(help="further Japanese sentences, one a line")] = None,
    show: Annotated[int, typer.Option(help="list so many of the incomplete starts", min=0)] = 0,
) -> None:
    """Hear every sentence as the first of a call; a money decision is one that is read back to be confirmed.

    An incomplete start asks for the amount, the payee or the bill: nothing moves, but a caller wonders.
    """
    from deploy.bench.cases.labelled import Judge
    from deploy.bench.cases.negatives import QUESTIONS, SentenceTally, negatives, sentences
    from deploy.bench.cases.player import ConversationPlayer

    figures: dict[str, Figure] = {}
    money = 0
    for language, further in (("en", english), ("ja", japanese)):
        file = negatives(folder / f"{language}.yaml")
        judge = Judge(ConversationPlayer.of(file.customer), file.customer)
        heard, about = SentenceTally(), SentenceTally()
        begun = time.process_time()
        for kind, sentence in sentences(file, each):
            (about if kind in QUESTIONS else heard).take(judge, sentence)
        for line in further.read_text(encoding="utf-8").splitlines() if further else ():
            heard.take(judge, line)
        offending, started = [*heard.money, *about.money], [*heard.started, *about.started]
        money += len(offending)
        for sentence in (*offending, *started[:show]):
            typer.echo(sentence, err=True)
        figures |= {
            f"{language}_sentences": heard.count + about.count,
            f"{language}_about_transfers": about.count,
            f"{language}_money_decisions": len(offending),
            f"{language}_incomplete_starts": len(started),
            f"{language}_cpu_s": round(time.process_time() - begun, 1),
        }
    publish("negatives", f"sentences made of {folder}, {each} a pattern at most", figures, json)
    raise typer.Exit(1 if money else 0)
