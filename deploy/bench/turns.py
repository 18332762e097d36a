"""Turn-taking by audio time alone: who is cut off and how long others wait, however busy the machine.

The same listener, grammar and recogniser as in a live call are fed as fast as they go, so that the figures are those of
the rules. With an oracle for a recogniser they tell what turn-taking itself gets wrong from what misheard words do.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import orjson
import typer

from app.qa.figures import Figure
from deploy.bench._calls.curve import write_curve
from deploy.bench._calls.heard_by import HeardBy
from deploy.reporting import is_binding, percentile, publish
from schemas.call import Patience

if TYPE_CHECKING:
    from deploy.bench._calls.corpus import PlayedUtterance
    from deploy.bench._calls.taken import Taken
    from services.ports import Recognizer


def bench(
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A corpus file, recordings in a folder of its name.")] = None,
    recogniser: Annotated[list[HeardBy] | None, typer.Option(help="Whom to measure with; both by default.")] = None,
    curve: Annotated[Path | None, typer.Option(help="Draw the curve over thresholds: FILE.svg and FILE.json.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many utterances of each kind; 0 for all.", min=0)] = 0,
    details: Annotated[Path | None, typer.Option(help="Write one line of JSON an utterance here.")] = None,
) -> None:
    """False cut-offs and endpoint waits over a corpus, with the bundled recogniser and with one that never mishears."""
    from deploy.bench._calls.corpus import load, some, utterances

    loaded, folder = load(corpus), corpus and corpus.with_suffix("")
    played = [u for kind in ("simple", "paused") for u in some(utterances(loaded, kind, folder), limit)]
    figures: dict[str, Figure] = {"calls": len(played), "paused": sum(bool(u.pause_s) for u in played)}
    lines = []
    hearings = recogniser or list(HeardBy)
    for hearing in hearings:
        taken = asyncio.run(take_all(played, hearing, Patience()))
        figures |= {f"{hearing.value}_{key}": value for key, value in figures_of(taken).items()}
        lines += [{"recogniser": hearing.value} | one.as_dict() for one in taken]
    if details is not None:
        details.write_bytes(b"\n".join(orjson.dumps(one) for one in lines))
    publish("turns", "whole and paused commands as fast as they go; waits in audio time", figures, json)
    if curve is not None:

        def play(patience: Patience) -> dict[str, Figure]:
            return figures_of(asyncio.run(take_all(played, hearings[-1], patience)))

        write_curve(curve, f"end of turn, {hearings[-1].value} recogniser", play)


async def take_all(played: "Sequence[PlayedUtterance]", hearing: HeardBy, patience: Patience) -> "list[Taken]":
    """Every utterance, in order."""
    from app.qa.rehearsal import Rehearsal
    from app.settings import read_settings
    from deploy.bench._calls.oracle import Oracle
    from deploy.bench._calls.taken import UtteranceTaker
    from services.asr import load as load_recognizer
    from services.audio.vad import SileroVad

    rehearsal = Rehearsal(read_settings())
    recognizer: Recognizer = Oracle(played) if hearing is HeardBy.ORACLE else load_recognizer()
    vad = SileroVad()
    try:
        async with AsyncExitStack() as stack:
            ear = UtteranceTaker(stack, rehearsal, recognizer, vad)
            return [await ear.take(utterance, patience) for utterance in played]
    finally:
        await recognizer.close()
        vad.close()
        await rehearsal.close()


def figures_of(taken: "Sequence[Taken]") -> dict[str, Figure]:
    """Cut-offs of all and of whole commands, waits of whole ones, and which rules ended the turns of whole ones.

    Commands that lead to what can't be undone wait longer by design, and are told of apart.
    """
    paused = [one for one in taken if one.utterance.pause_s]
    whole = [one for one in taken if not one.utterance.pause_s]
    binding = [one for one in whole if one.last is not None and is_binding(one.last.rule)]
    waits = [one.wait_ms for one in whole if one.wait_ms is not None and one not in binding]
    figures: dict[str, Figure] = {"false_cutoff_rate": sum(one.cut for one in paused) / max(1, len(paused))}
    figures["whole_cutoff_rate"] = sum(one.cut for one in whole) / max(1, len(whole))
    figures["calls"] = len(taken)
    figures["unended"] = sum(one.last is None and not one.polite for one in taken)
    figures |= {f"p{q}_ms": percentile(waits, q) for q in (50, 95, 99)}
    bound = [one.wait_ms for one in binding if one.wait_ms is not None]
    figures |= {f"binding_p{q}_ms": percentile(bound, q) for q in (50, 95)}
    after = [one.wait_ms for one in paused if one.wait_ms is not None]
    figures |= {f"paused_p{q}_ms": percentile(after, q) for q in (50, 95)}
    rules = Counter(one.last.rule.rpartition(".")[2].partition("@")[0] for one in whole if one.last)
    return figures | {f"whole_ended_by_{rule}": number for rule, number in sorted(rules.items())}
