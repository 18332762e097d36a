"""What one replayed turn leaves behind: a decision (byte-identical between runs) and, apart from it, its timings."""

from dataclasses import asdict
from typing import Final, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.qa.replay.manifests.manifest import Case, Expectation, MoneyMove
from schemas.intent import Slots
from schemas.payee import PayeeMatch
from schemas.span import Span, SpanJson, SpanReading, jsonable

SCORE_DIGITS: Final = 4
"""Digits kept of scores and log-probabilities, so that the last bits of a float never make two runs differ."""


class Record(BaseModel):
    """Frozen and strict about keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HypothesisRecord(Record):
    """One entry of the n-best list."""

    text: str
    avg_logprob: float


class ReadingRecord(Record):
    """Another reading of a span."""

    kind: str
    value: JsonValue
    rule: str


class SpanRecord(Record, SpanJson):
    """A typed span of the transcript that was heard."""

    readings: tuple[ReadingRecord, ...] = ()
    rejected: tuple[ReadingRecord, ...] = ()


class CandidateRecord(Record):
    """A payee that may have been meant."""

    id: str
    name: str
    score: float


class PayeeSearchRecord(Record):
    """The payee search of a turn."""

    heard: str
    start: int
    end: int
    candidates: tuple[CandidateRecord, ...]
    outcome: str
    choice: str | None = None


class EvidenceRecord(Record):
    """The words behind a slot."""

    slot: str
    surface: str
    start: int
    end: int
    rule: str


class ModelCall(Record):
    """A call of a model that needs a GPU. `purpose` is extract or answer."""

    purpose: str
    model: str
    prompt: str = ""
    outcome: str = ""


class SoundRecord(Record):
    """What was decoded: which channel of how many and why that one, from where to where in seconds, and how it sounds.

    Levels are decibels of full scale; `snr_db` is the speech's level over the background's, None without a pause.
    """

    channel: int | Literal["mix"]
    channels: int
    chosen: str
    start: float | None = None
    end: float | None = None
    encoding: str | None = None
    rate: int | None = None
    level_db: float = 0.0
    clipped: float = 0.0
    snr_db: float | None = None


class TurnRecord(Record):
    """Everything that was concluded in a turn. `money` is what was booked, `proposal` what was read back.

    `decision` is what the words led to; `outcome` what the turn ended in, where doing it came to something else.
    `error` is a code and `reason` says what was wrong; a turn that was not `played` has nothing else to say.
    A turn that was not `reached` was never said: the call had parted from the recorded one before; where and how says
    the `parting` of the turn after which it did.
    `effects` is what it changed at the bank: minor units by account, 1 where a card was locked and -1 where unlocked.
    `told` are the amounts, days and names that were said, in the order of the alphabet; `doubts` the warnings in the
    read-back, as that the account's holder has another name.
    `owed` is what earlier turns of the call should have booked and did not: a repeated question may book it late.
    """

    case: str
    turn: int
    locale: str
    tags: dict[str, str] = Field(default_factory=dict)
    audio: str | None = None
    sound: SoundRecord | None = None
    expect: Expectation | None = None
    heard: str = ""
    hypotheses: tuple[HypothesisRecord, ...] = ()
    no_speech_prob: float = 0.0
    spans: tuple[SpanRecord, ...] = ()
    payee: PayeeSearchRecord | None = None
    intent: str | None = None
    slots: dict[str, JsonValue] = Field(default_factory=dict)
    evidence: tuple[EvidenceRecord, ...] = ()
    missing: tuple[str, ...] = ()
    confidence: float = 0.0
    rule: str | None = None
    vetoes: tuple[str, ...] = ()
    route: str = ""
    decision: str = ""
    outcome: str = ""
    proposal: MoneyMove | None = None
    money: tuple[MoneyMove, ...] = ()
    owed: tuple[MoneyMove, ...] = ()
    effects: dict[str, int] = Field(default_factory=dict)
    reply: str | None = None
    spoken: str = ""
    told: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    models: tuple[ModelCall, ...] = ()
    error: str | None = None
    reason: str = ""
    played: bool = True
    reached: bool = True
    parting: str = ""
    recognizer: str = ""
    ruleset: str = ""

    @property
    def id(self) -> str:
        """`case#turn`, counted from 1."""
        return f"{self.case}#{self.turn}"


class Stage(Record):
    """A stage's place in a turn, in milliseconds from the turn's start."""

    name: str
    start_ms: float
    ms: float


class TurnTiming(Record):
    """How long a turn took: `audio_s` is the recording's length, `total_ms` the work once the audio was there.

    What was `kept` of an earlier run was not decoded: no time of the ear's, nor of the whole turn, was measured.
    `work` is the processor's own milliseconds: of the ear, and of all that follows.
    """

    case: str
    turn: int
    audio_s: float = 0.0
    total_ms: float | None = 0.0
    kept: bool = False
    stages: tuple[Stage, ...] = ()
    work: dict[str, float] = Field(default_factory=dict)


class TurnResult(Record):
    """A decision with its timing."""

    record: TurnRecord
    timing: TurnTiming


R = TypeVar("R", bound=Record)


def line(record: Record) -> bytes:
    """Canonical bytes: sorted keys, no defaults, one line without its end."""
    return orjson.dumps(record.model_dump(mode="json", exclude_defaults=True), option=orjson.OPT_SORT_KEYS)


def parse(model: type[R], data: bytes) -> R:
    """The inverse of `line`."""
    return model.model_validate(orjson.loads(data))


def span_record(span: Span) -> SpanRecord:
    """A span with its derivation."""
    return SpanRecord.of(
        span, readings=tuple(map(_reading, span.readings)), rejected=tuple(map(_reading, span.rejected))
    )


def _reading(reading: SpanReading) -> ReadingRecord:
    return ReadingRecord(kind=reading.kind.value, value=jsonable(reading.value), rule=reading.rule)


def payee_record(match: PayeeMatch | None) -> PayeeSearchRecord | None:
    """A payee search, scores rounded."""
    if match is None:
        return None
    candidates = tuple(
        CandidateRecord(id=c.id, name=c.display_name, score=round(c.score, SCORE_DIGITS)) for c in match.candidates
    )
    return PayeeSearchRecord(
        heard=match.heard,
        start=match.start,
        end=match.end,
        candidates=candidates,
        outcome=match.outcome.value,
        choice=match.choice,
    )


def slots_json(slots: Slots) -> tuple[dict[str, JsonValue], tuple[EvidenceRecord, ...]]:
    """The filled slots' values, and the words behind each."""
    values: dict[str, JsonValue] = {}
    evidence: list[EvidenceRecord] = []
    for name in Slots.__dataclass_fields__:
        slot = getattr(slots, name)
        if slot is not None:
            values[name] = jsonable(slot.value)
            evidence.append(EvidenceRecord(slot=name, **asdict(slot.evidence)))
    return values, tuple(evidence)


def unplayed(
    case: Case, number: int, *, error: str | None = None, reason: str = "", reached: bool = True
) -> TurnResult:
    """The result of a turn, counted from 1, that was not played: its call failed, or had parted before."""
    said = case.turns[number - 1]
    record = TurnRecord(
        case=case.id,
        turn=number,
        locale=case.locale,
        tags=case.tags,
        audio=said.audio,
        expect=said.expect,
        error=error,
        reason=reason,
        played=False,
        reached=reached,
    )
    return TurnResult(record=record, timing=TurnTiming(case=case.id, turn=number))
