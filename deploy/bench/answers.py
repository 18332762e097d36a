"""Answers to a read-back that begin with a yes: what is booked before the caller is done, or against the words."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import orjson
import typer

from app.qa.figures import Figure
from app.qa.options import RunningService
from deploy.bench._calls.heard_by import HeardBy
from deploy.reporting import percentile, publish

if TYPE_CHECKING:
    from deploy.bench._answers.heard import AnswerTimes
    from deploy.bench._answers.said import AnswerCase

A_CALL_S: Final = 8.0
"""About how long an answer takes in real time, with the order before it and the quiet behind it."""


def bench(  # noqa: PLR0913, PLR0917 - one for each option
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    url: RunningService = None,
    locale: Annotated[str, typer.Option(help="Answers in this language alone.")] = "",
    kind: Annotated[str, typer.Option(help="Answers of this kind alone: plain, refusal, courtesy …")] = "",
    at_once: Annotated[int, typer.Option(help="Calls at a time.", min=1, max=256)] = 2,
    limit: Annotated[int, typer.Option(help="At most so many answers, evenly chosen; 0 for all.", min=0)] = 0,
    minutes: Annotated[int, typer.Option(help="So many answers as take about so long; 0 for all.", min=0)] = 20,
    details: Annotated[Path | None, typer.Option(help="Write one line of JSON an answer here.")] = None,
    recogniser: Annotated[
        HeardBy, typer.Option(help="Bundled: spoken in real time. Oracle: audio time.")
    ] = HeardBy.BUNDLED,
) -> None:
    """A yes, and a yes that goes on after a pause; spoken to a service in real time, or in process in audio time."""
    from app.demo.run import service
    from deploy.bench._answers.said import cases, load

    every = [case for case in cases(load()) if locale in {"", case.locale} and kind in {"", case.kind}]
    timed = minutes and recogniser is not HeardBy.ORACLE
    wanted = evenly(every, min(limit or len(every), within(every, minutes) if timed else len(every)))
    if recogniser is HeardBy.ORACLE:
        answered = asyncio.run(in_audio_time(wanted))
    elif url:
        answered = asyncio.run(_spoken(url, wanted, at_once))
    else:
        with service() as base:
            answered = asyncio.run(_spoken(base, wanted, at_once))
    if details is not None:
        details.write_bytes(b"\n".join(orjson.dumps(one.as_dict()) for one in answered))
    how = "in audio time" if recogniser is HeardBy.ORACLE else f"in real time, {at_once} at once"
    publish("answers", f"{len(answered)} of {len(every)} answers to a read-back, {how}", figures_of(answered), json)


def within(wanted: "Sequence[AnswerCase]", minutes: int) -> int:
    """How many are answered in so long: a customer's calls come one after the other, however many there are at once."""
    most = max(Counter(case.customer for case in wanted).values(), default=1)
    return int(len(wanted) * min(1.0, minutes * 60 / A_CALL_S / most))


def evenly(wanted: "Sequence[AnswerCase]", number: int) -> "list[AnswerCase]":
    """So many of them, from the first to the last."""
    return [wanted[at * len(wanted) // number] for at in range(number)]


async def in_audio_time(wanted: "Sequence[AnswerCase]") -> "list[AnswerTimes]":
    """Every answer in order, by a recogniser that is told what was said: the same whatever the machine does."""
    from app.qa.rehearsal import Rehearsal
    from app.settings import Settings
    from deploy.bench._answers.heard import Booth
    from deploy.bench._answers.said import babbled
    from deploy.bench._calls.oracle import Oracle
    from services.audio.vad import SileroVad

    said = [babbled(case) for case in wanted]
    rehearsal, vad = Rehearsal(Settings()), SileroVad()
    booth = Booth(rehearsal, Oracle(said), vad)
    try:
        return [await booth.take(case, utterance) for case, utterance in zip(wanted, said, strict=True)]
    finally:
        vad.close()
        await rehearsal.close()


async def _spoken(base: str, wanted: "Sequence[AnswerCase]", at_once: int) -> "list[AnswerTimes]":
    from app.client import demo_token
    from deploy.bench._answers.heard import over_the_wire
    from deploy.bench._answers.said import spoken

    places = asyncio.Semaphore(at_once)
    # What one call leaves open, the customer's next takes up.
    alone = {customer: asyncio.Lock() for customer in {case.customer for case in wanted}}

    async def one(case: "AnswerCase") -> "AnswerTimes":
        async with alone[case.customer], places:
            return await over_the_wire(base, await demo_token(base, case.customer), case, spoken(case))

    return list(await asyncio.gather(*map(one, wanted)))


def figures_of(answered: "Sequence[AnswerTimes]") -> dict[str, Figure]:
    """All together, then what was kept apart while the wait was chosen."""
    figures = _figures(answered, "")
    for locale in sorted({one.case.locale for one in answered}):
        figures |= _figures([one for one in answered if one.case.locale == locale], f"{locale}_")
    return figures | _figures([one for one in answered if one.case.unseen], "unseen_")


def _figures(answered: "Sequence[AnswerTimes]", name: str) -> dict[str, Figure]:
    against = Counter(one.case.kind for one in answered if one.times_moved and not one.case.moves)
    moved = [one for one in answered if one.times_moved and one.case.moves]
    waits = [one.told_s * 1000 for one in moved if one.told_s is not None]
    figures: dict[str, Figure] = {
        "answers": len(answered),
        "booked_before_the_end": sum(one.early for one in answered),
        "booked_against_the_words": sum(against.values()),
        "booked_twice": sum(one.times_moved > 1 for one in answered),
        "outcome_unheard": sum(not one.outcome_heard for one in answered if one.times_moved),
        "yes": sum(one.case.moves for one in answered),
        "yes_booked": len(moved),
    }
    figures |= {f"against_{kind}": number for kind, number in sorted(against.items())}
    figures |= {f"yes_to_done_p{q}_ms": percentile(waits, q) for q in (50, 95, 99)}
    return {f"{name}{key}": value for key, value in figures.items()}
