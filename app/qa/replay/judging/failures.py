"""Why turns fail: each wrong value with the first stage in which it went wrong and how, grouped."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from app.qa.replay.judging.judge import Judgement, MoneyVerdict, judge, same_value
from app.qa.replay.judging.words import AMOUNT, DIGITS, NAME
from app.qa.replay.manifests.manifest import Expectation, OneOf, by_people
from app.qa.replay.records.record import TurnRecord

EXAMPLES: Final = 5
"""Turns of a group that are named."""
_OTHER: Final = ("decision", "outcome", "reply", "route")
_MISHEARD: Final = {NAME: "a name was misheard", AMOUNT: "an amount was misheard", DIGITS: "digits were misheard"}
_HEARD_BY: Final = {"amount": (AMOUNT, DIGITS), "payee": (NAME,), "merchant": (NAME,)}
"""The kinds of words that fill a slot; others are filled by any."""
_READ: Final = {"amount": ("money", "number"), "date": ("date",), "period": ("period", "date_range")}
"""The spans that a slot's value is taken from."""
_MONEY: Final = {
    MoneyVerdict.FALSE_ACCEPT: "booked and not asked for",
    MoneyVerdict.WRONG_READ_BACK: "read back wrongly",
    MoneyVerdict.MISSED: "not booked",
}


class FailedStage(StrEnum):
    """Where a value first went wrong, in the order of the pipeline."""

    FAILURE = "failure"
    HEARING = "hearing"
    NORMALIZATION = "normalization"
    PAYEE = "payee search"
    UNDERSTANDING = "understanding"
    DIALOGUE = "dialogue"


@dataclass(frozen=True, slots=True, order=True)
class TurnFailure:
    """A wrong value: the first stage that differs from what should have been, which value, and how. No words."""

    stage: FailedStage
    slot: str
    cause: str

    @property
    def id(self) -> str:
        """A short name, the same in every run."""
        return hashlib.sha256(f"{self.stage}|{self.slot}|{self.cause}".encode()).hexdigest()[:10]


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Turns that fail alike: how many, and some of them."""

    id: str
    stage: str
    slot: str
    cause: str
    turns: int
    examples: tuple[str, ...]


def failures(turn: TurnRecord, judged: Judgement | None = None) -> tuple[TurnFailure, ...]:
    """Why a turn is wrong, a line for each value that is; none where it is right, or nothing of it is judged."""
    verdict = judged or judge(turn)
    expect = by_people(turn.expect)
    if verdict.right is not False or expect is None:
        return ()
    if verdict.failed:
        return (
            TurnFailure(
                FailedStage.FAILURE, "", turn.error or ("not played" if turn.reached else "the call had parted before")
            ),
        )
    found = dict.fromkeys(_wrong(turn, verdict, expect))
    return tuple(found) or (TurnFailure(FailedStage.DIALOGUE, "", "unknown"),)


def grouped(turns: Iterable[tuple[str, Sequence[TurnFailure]]]) -> tuple[FailureGroup, ...]:
    """Turns by id with their failures as groups, the largest first. A turn may be in several."""
    members: dict[TurnFailure, list[str]] = {}
    for name, found in turns:
        for failure in found:
            members.setdefault(failure, []).append(name)
    return tuple(
        FailureGroup(one.id, one.stage.value, one.slot, one.cause, len(ids), tuple(ids[:EXAMPLES]))
        for one, ids in sorted(members.items(), key=lambda item: (-len(item[1]), item[0]))
    )


def by_stage(groups: Iterable[FailureGroup]) -> dict[str, int]:
    """How many failures began at each stage, in the order of the pipeline."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.stage] += group.turns
    return {stage.value: counts[stage] for stage in FailedStage if counts[stage]}


def _wrong(turn: TurnRecord, judged: Judgement, expect: Expectation) -> Iterator[TurnFailure]:
    """What the turn got wrong. Where the intent is, slots and decision follow from it."""
    if judged.intent is False:
        yield _understood(judged, "intent", _other(turn.intent, expect.intent, turn.vetoes, turn.rule))
    else:
        yield from _slots(turn, judged, expect)
    if judged.money not in {None, MoneyVerdict.RIGHT} and judged.money is not None:
        yield _understood(judged, "money", _MONEY[judged.money], FailedStage.DIALOGUE)
    told = judged.intent is False or any(t.missed or t.spurious for t in judged.slots.values())
    if told or judged.payee_choice is False:
        return
    for name in _OTHER:
        if getattr(judged, name) is False:
            got = (turn.outcome or turn.decision) if name == "outcome" else getattr(turn, name)
            yield _understood(
                judged, name, f"{got or 'none'} for {_named(getattr(expect, name))}", FailedStage.DIALOGUE
            )
            return


def _slots(turn: TurnRecord, judged: Judgement, expect: Expectation) -> Iterator[TurnFailure]:
    wanted = expect.slots or {}
    for name, tally in judged.slots.items():
        if name != "payee" and (tally.missed or tally.spurious):
            yield _slot(turn, judged, name, wanted.get(name))
    payee = judged.slots.get("payee")
    if judged.payee_choice is False or (payee is not None and (payee.missed or payee.spurious)):
        yield _payee(turn, judged, expect)


def _slot(turn: TurnRecord, judged: Judgement, name: str, wanted: JsonValue) -> TurnFailure:
    got = turn.slots.get(name)
    if wanted is None:
        return _understood(judged, name, "filled and not asked for")
    if (misheard := _misheard(judged, name)) is not None:
        return TurnFailure(FailedStage.HEARING, name, misheard)
    kinds = _READ.get(name)
    spans = [span for span in turn.spans if kinds and span.kind in kinds]
    if kinds and not any(same_value(span.value, wanted) for span in spans):
        return TurnFailure(FailedStage.NORMALIZATION, name, "read as another value" if spans else "no such words found")
    return _understood(judged, name, "left empty" if got is None else "another value was taken")


def _payee(turn: TurnRecord, judged: Judgement, expect: Expectation) -> TurnFailure:
    slot = (expect.slots or {}).get("payee")
    wanted = expect.payee or (slot if isinstance(slot, str) else None)
    if wanted is None:
        return _understood(judged, "payee", "filled and not asked for")
    if (misheard := _misheard(judged, "payee")) is not None:
        return TurnFailure(FailedStage.HEARING, "payee", misheard)
    if turn.payee is None:
        return TurnFailure(FailedStage.UNDERSTANDING, "payee", "no payee was looked for")
    ids = [candidate.id for candidate in turn.payee.candidates]
    if turn.payee.choice not in {None, wanted}:
        return TurnFailure(FailedStage.PAYEE, "payee", "another was chosen")
    if wanted not in ids and turn.payee.choice != wanted:
        return TurnFailure(FailedStage.PAYEE, "payee", "not among the candidates")
    return TurnFailure(
        FailedStage.PAYEE, "payee", "asked about" if turn.payee.choice is None else "found and not taken"
    )


def _understood(
    judged: Judgement, slot: str, cause: str, stage: FailedStage = FailedStage.UNDERSTANDING
) -> TurnFailure:
    """A failure of a later stage, unless words were misheard before it."""
    misheard = _misheard(judged, slot)
    return TurnFailure(stage, slot, cause) if misheard is None else TurnFailure(FailedStage.HEARING, slot, misheard)


def _misheard(judged: Judgement, slot: str) -> str | None:
    """How the words were misheard that a value came of; None where they were heard, or nobody says what was said."""
    if judged.hearing is None or not judged.hearing.errors.edits:
        return None
    kinds, own = judged.hearing.by_kind, _HEARD_BY.get(slot, (NAME, AMOUNT, DIGITS))
    wrong = [kind for kind in own if kind in kinds and kinds[kind].edits]
    if wrong:
        return _MISHEARD[wrong[0]]
    if slot in _HEARD_BY and any(kind in kinds for kind in own):
        return None
    elsewhere = sum(errors.edits for kind, errors in kinds.items() if kind not in own)
    return "words were misheard" if judged.hearing.errors.edits > elsewhere else None


def _other(got: str | None, wanted: OneOf | None, vetoes: Sequence[str], rule: str | None) -> str:
    """What was understood in place of an intent, and why nothing was."""
    why = f", vetoed by {vetoes[0]}" if vetoes else "" if rule or got else ", by no template"
    return f"{got or 'nothing'} for {_named(wanted)}{why}"


def _named(wanted: OneOf | None) -> str:
    return wanted if isinstance(wanted, str) else "|".join(wanted or ("none",))
