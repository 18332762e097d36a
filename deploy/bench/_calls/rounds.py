"""Rounds of measured calls: played side by side, and made into figures."""

import asyncio
from collections.abc import Iterable, Sequence

from app.client import Event, demo_token
from app.composition.speech import frequent_replies
from app.qa.figures import Figure
from deploy.bench._calls.corpus import PlayedUtterance
from deploy.bench._calls.line import Measured, Way, measure
from deploy.reporting import is_binding, percentile
from schemas.call import Patience
from schemas.decision import DecisionKind


def detection(patience: Patience) -> Event:
    """The session's turn_detection that asks for `patience`."""
    if patience.fixed_ms is not None:
        return {"type": "server_vad", "silence_duration_ms": patience.fixed_ms}
    return {"type": "semantic_vad", "tellerline.patience": patience.scale}


async def play_round(base: str, played: Sequence[PlayedUtterance], way: Way, at_once: int) -> list[Measured]:
    """Every utterance once, `at_once` calls at a time, out of step with each other."""
    places = asyncio.Semaphore(at_once)

    async def one(number: int, utterance: PlayedUtterance) -> Measured:
        async with places:
            await asyncio.sleep(number % 7 * 0.011)  # out of phase with the frames of the others
            return await measure(base, await demo_token(base, utterance.customer), utterance, way)

    return list(await asyncio.gather(*(one(n, u) for n, u in enumerate(played))))


def figures_of(calls: Sequence[Measured]) -> dict[str, Figure]:
    """Latency of the whole commands, cut-offs of the paused ones. What can't be undone is told of by its rule alone."""
    simple = [c for c in calls if not c.utterance.pause_s]
    paused = [c for c in calls if c.utterance.pause_s]
    first = [c.first_ms for c in simple if c.first_ms is not None and not any(map(is_binding, c.endings))]
    figures: dict[str, Figure] = {f"p{q}_ms": percentile(first, q) for q in (50, 95, 99)}
    figures["false_cutoff_rate"] = rate(c.cut for c in paused)
    figures["calls"] = len(calls)
    figures["unanswered"] = sum(c.first_ms is None and not c.polite for c in calls)
    figures["whole_cutoff_rate"] = rate(c.cut for c in simple)
    figures["cutoffs_merged"] = sum(c.cut and c.merged for c in calls)
    figures["words_right_rate"] = rate(same_words(c.transcript, c.utterance.words) for c in simple)
    final = [c.final_ms for c in simple if c.final_ms is not None]
    figures |= {f"final_p{q}_ms": percentile(final, q) for q in (50, 95, 99)}
    partial = [c.partial_ms for c in calls if c.partial_ms is not None]
    figures |= {f"first_partial_p{q}_ms": percentile(partial, q) for q in (50, 95)}
    after = [c.first_ms for c in paused if c.first_ms is not None and not c.cut]
    figures |= {f"paused_p{q}_ms": percentile(after, q) for q in (50, 95)}
    return figures | _by_rule(simple) | _split(simple) | _sounds([c for c in calls if not c.cut])


def _by_rule(calls: Sequence[Measured]) -> dict[str, Figure]:
    """What ended the turns of whole commands, and how long those callers waited: long ones for unclear words."""
    answered = [(c.endings[-1].rpartition(".")[2].partition("@")[0], c.first_ms) for c in calls if c.endings]
    figures: dict[str, Figure] = {}
    for rule in sorted({rule for rule, _ in answered}):
        waits = [ms for name, ms in answered if name == rule and ms is not None]
        figures |= {f"{rule}_calls": len(waits)} | {f"{rule}_p{q}_ms": percentile(waits, q) for q in (50, 95, 99)}
    return figures


def _split(calls: Sequence[Measured]) -> dict[str, Figure]:
    """Where the time goes: the decode runs inside the endpoint's wait, the others follow one another."""
    timed = [c for c in calls if {"turn_end", "response_sent", "asr_start", "asr_final"} <= c.moments.keys()]
    parts = {
        "endpoint": [c.moments["turn_end"] for c in timed],
        "decode_start": [c.moments["asr_start"] for c in timed],
        "decode": [c.moments["asr_final"] - c.moments["asr_start"] for c in timed],
        "text_and_decide": [c.moments["response_sent"] - c.moments["turn_end"] for c in timed],
        "wire": [c.first_ms - c.moments["response_sent"] for c in timed if c.first_ms is not None],
    }
    stages = {name for c in timed for name in c.stages}
    parts |= {f"stage_{name}": [c.stages[name] for c in timed if name in c.stages] for name in sorted(stages)}
    return {f"{name}_p{q}_ms": percentile(values, q) for name, values in parts.items() for q in (50, 95)}


def _sounds(calls: Sequence[Measured]) -> dict[str, Figure]:
    """To the first audible sample, where replies were spoken, and how much of it is the mouth's, by kind of reply.

    What can't be undone waits for the end of the answer, and is no frequent one.
    """
    most = frequent_replies()
    soon = [c for c in calls if c.reply and not any(map(is_binding, c.endings))]
    kinds = {"": calls, "frequent_": [c for c in soon if c.reply in most or _reads_back(c.reply or "")]}
    kinds |= {f"{kind}_": [c for c in calls if c.reply == kind] for kind in sorted({c.reply for c in calls if c.reply})}
    figures: dict[str, Figure] = {}
    for kind, some in kinds.items():
        waits = [c.sound_ms for c in some if c.sound_ms is not None]
        mouth = [c.mouth_ms for c in some if c.mouth_ms is not None]
        if waits:
            figures |= {f"{kind}sound_calls": len(waits)}
            figures |= {f"{kind}sound_p{q}_ms": percentile(waits, q) for q in (50, 95, 99)}
            figures |= {f"{kind}decision_to_sound_p{q}_ms": percentile(mouth, q) for q in (50, 95, 99)}
    return figures


def _reads_back(kind: str) -> bool:
    return kind.startswith(f"{DecisionKind.CONFIRM}.")


def same_words(heard: str, said: str) -> bool:
    """Whether the words came out as they were said, but for case, spaces and punctuation."""
    return _letters(heard) == _letters(said)


def _letters(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def rate(outcomes: Iterable[bool]) -> float:
    """The share of true ones; NaN of nothing."""
    counted = list(outcomes)
    return sum(counted) / len(counted) if counted else float("nan")
