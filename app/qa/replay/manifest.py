"""Manifests: which recordings to replay, as whom, at what time, and what should have happened.

A case is one call of one or more turns; a single utterance is a call of one turn. Cases are independent of each
other: each begins with a fresh bank and a clock set to its `now`.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from schemas.ids import Locale

MAX_CASES: Final = 100_000
MAX_TURNS: Final = 60
"""Turns of one call."""
DEFAULT_NOW: Final = datetime(2026, 1, 15, 17, 0, tzinfo=UTC)
"""The moment of replay where a manifest names none: fixed, so that two runs agree."""

CaseId = Annotated[str, StringConstraints(pattern=r"^[\w.\-:/ ]{1,120}$")]
Words = Annotated[str, StringConstraints(max_length=2_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
OneOf = Name | tuple[Name, ...]
"""A name, or any of several that are all right."""


class Strict(BaseModel):
    """Frozen, and no unknown keys: a misspelt expectation must not pass in silence."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ExpectedSpan(Strict):
    """A typed expression that should be found; `value` as in the text contract, `surface` where it matters."""

    kind: Name
    value: JsonValue
    surface: Words | None = None


class MoneyMove(Strict):
    """A movement of money: what was booked, or should have been."""

    amount_minor: int = Field(ge=0)
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    payee: Name | None = None
    to_account: Name | None = None


class Expectation(Strict):
    """What should have happened in a turn. A field that is absent is not judged, but `money` is:

    where anything at all is expected, money that moves without being listed is a false accept. `decision` is the first
    of the turn, `outcome` the last (a transfer that is proposed and then refused is confirm, then refuse).
    """

    transcript: Words | None = None
    spans: tuple[ExpectedSpan, ...] | None = None
    intent: OneOf | None = None
    slots: dict[str, JsonValue] | None = None
    payee: Name | None = None
    route: OneOf | None = None
    decision: OneOf | None = None
    outcome: OneOf | None = None
    reply: OneOf | None = None
    money: tuple[MoneyMove, ...] = ()


class Utterance(Strict):
    """One turn of the caller: a recording, typed words, or keys. Exactly one of `audio`, `text`, `dtmf`.

    `audio` is relative to the manifest. `encoding` and `rate` are needed for headerless files only.
    `after_s` is how long the caller waited since the last turn.
    """

    audio: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None
    text: Words | None = None
    dtmf: Annotated[str, StringConstraints(pattern=r"^[0-9*#A-D]{1,32}$")] | None = None
    alternatives: tuple[Words, ...] = Field(default=(), max_length=16)
    channel: int | Literal["mix"] = 0
    encoding: Literal["g711_ulaw", "g711_alaw", "pcm16"] | None = None
    rate: Annotated[int, Field(ge=4_000, le=96_000)] | None = None
    after_s: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    expect: Expectation | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(source is not None for source in (self.audio, self.text, self.dtmf)) != 1:
            raise ValueError("exactly one of audio, text, dtmf")
        return self


class Case(Strict):
    """One call. `tags` are what scores can be sliced by: condition, voice, group, …"""

    id: CaseId
    locale: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}-[A-Z]{2}$")]
    turns: tuple[Utterance, ...] = Field(min_length=1, max_length=MAX_TURNS)
    customer: Name | None = None
    now: datetime = DEFAULT_NOW
    tags: dict[Name, Annotated[str, StringConstraints(max_length=120)]] = Field(default_factory=dict, max_length=16)

    @model_validator(mode="after")
    def _zoned(self) -> Self:
        if self.now.tzinfo is None:
            raise ValueError("`now` needs a time zone")
        return self

    @property
    def language(self) -> Locale:
        """The locale as the pipeline types it."""
        return Locale(self.locale)


class Manifest(Strict):
    """Cases, and the folder that their audio is relative to."""

    base: Path
    cases: tuple[Case, ...] = Field(max_length=MAX_CASES)

    @model_validator(mode="after")
    def _unique(self) -> Self:
        seen: set[str] = set()
        for case in self.cases:
            if case.id in seen:
                raise ValueError(f"two cases are called {case.id!r}")
            seen.add(case.id)
        return self

    def audio(self) -> Iterator[Path]:
        """Every recording, in order."""
        for case in self.cases:
            for turn in case.turns:
                if turn.audio is not None:
                    yield self.base / turn.audio

    def digest(self) -> str:
        """SHA-256 (hex) over all cases and their recordings' bytes: what a journal belongs to."""
        total = hashlib.sha256()
        for case in self.cases:
            total.update(orjson.dumps(case.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS))
        for path in self.audio():
            total.update(hashlib.sha256(path.read_bytes()).digest() if path.is_file() else b"absent")
        return total.hexdigest()


def as_words(manifest: Manifest) -> Manifest:
    """The same calls with every recording replaced by its reference transcript; recordings without one stay."""
    return Manifest(base=manifest.base, cases=tuple(map(_case_as_words, manifest.cases)))


def _case_as_words(case: Case) -> Case:
    turns = tuple(
        Utterance(text=turn.expect.transcript, after_s=turn.after_s, expect=turn.expect)
        if turn.audio is not None and turn.expect is not None and turn.expect.transcript
        else turn
        for turn in case.turns
    )
    return case.model_copy(update={"turns": turns})


def dump_jsonl(cases: tuple[Case, ...]) -> bytes:
    """Cases as a JSONL manifest, one a line, without what is default."""
    lines = [orjson.dumps(c.model_dump(mode="json", exclude_defaults=True), option=orjson.OPT_SORT_KEYS) for c in cases]
    return b"\n".join(lines) + b"\n" if lines else b""
