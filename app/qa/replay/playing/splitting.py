"""`replay split`: a manifest of whole calls made into one of their turns, for `replay` and for people to label."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.qa.replay.manifests import readers
from app.qa.replay.manifests.manifest import MAX_TURNS, Case, CaseTurn, dump_jsonl
from app.qa.replay.playing.house import PipelineHouse
from app.qa.replay.playing.player import House, source_of
from app.qa.replay.playing.split import FoundTurn, Split, split
from app.settings import Settings
from schemas.errors import BadInput, TellerlineError
from services.audio.vad import SileroVad


def split_all(manifest: Path, out: Path, settings: Settings) -> Iterator[str]:
    """Split every call of a manifest that is one recording without times, and write `out`; what was found, in words.

    Calls that have turns already are taken over. A call that can't be split is told and left out.
    Raises BadInput at the end where any was.
    """
    from services.asr import load

    read, out, left = readers.load(manifest), readers.lines(out), 0
    vad, cases = SileroVad(), list[Case]()
    with asyncio.Runner() as runner:
        recognizer = load(settings.asr_model, workers=1, device=settings.asr_device)
        runner.run(recognizer.warm_up())
        house = PipelineHouse(settings, recognizer)
        try:
            for case in read.cases:
                if not _whole(case):
                    cases.append(case)
                    continue
                try:
                    found = runner.run(_split(case, read.base, house, vad))
                except TellerlineError as error:
                    left += 1
                    yield f"{case.id}: {error.code}: {error.message}"
                    continue
                cases += parts(case, found)
                yield f"{case.id}: {_says(found)}"
        finally:
            runner.run(house.close())
            vad.close()
    out.write_bytes(dump_jsonl(tuple(cases)))
    if left:
        raise BadInput(f"{left} calls are left out")


async def _split(case: Case, base: Path, house: House, vad: SileroVad) -> Split:
    return await split(source_of(case.turns[0], base), case, house, vad)


def _whole(case: Case) -> bool:
    first = case.turns[0]
    return len(case.turns) == 1 and first.audio is not None and first.start is None and first.end is None


def parts(case: Case, found: Split) -> list[Case]:
    """A call as cases of its turns: one, unless it has more turns than a case may."""
    said, last = [], 0.0
    for turn in found.turns:
        said.append(_turn(case.turns[0], turn, max(turn.start - last, 0.0), found))
        last = turn.end
    tags = dict(case.tags)
    if found.talk is not None:
        tags |= {name: str(value) for name, value in asdict(found.talk).items()}
    pieces = [said[i : i + MAX_TURNS] for i in range(0, len(said), MAX_TURNS)]
    names = [case.id, *(f"{case.id} ({n})" for n in range(2, len(pieces) + 1))]
    return [
        case.model_copy(update={"id": name, "turns": tuple(piece), "tags": tags})
        for name, piece in zip(names, pieces, strict=False)
    ]


def _turn(whole: CaseTurn, turn: FoundTurn, wait: float, found: Split) -> CaseTurn:
    update: dict[str, Any] = {
        "channel": found.channel if found.channels > 1 else whole.channel,
        "start": turn.start,
        "end": turn.end,
        "after_s": round(min(wait, 3_600.0), 1),
        "expect": {"transcript": turn.transcript.text, "by_machine": ("transcript",)},
    }
    return CaseTurn.model_validate(whole.model_dump(exclude_defaults=True) | update)


def _says(found: Split) -> str:
    of = f" of {found.channels}" if found.channels > 1 else ""
    speed = found.seconds / found.took_s if found.took_s else 0.0
    wasted = ", ".join(f"{n} {reason}" for reason, n in sorted(found.wasted.items())) or "none"
    said = f"{len(found.turns)} turns in {found.seconds / 60:.1f} min ({speed:.0f}× real time)"
    said += f", channel {found.channel}{of} ({found.chosen}); sounds that were no turn: {wasted}"
    said += f"; pauses within turns: {found.resumed}"
    if found.talk is not None:
        told = ", ".join(f"{name} {value:g}" for name, value in asdict(found.talk).items())
        said += f"; {told}"
    return said
