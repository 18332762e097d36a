"""Manifests: which recordings to replay, as whom, at what time, and what should have happened.

A case is one call of one or more turns; a single utterance is a call of one turn. Cases are independent of each
other: each begins with a fresh bank and a clock set to its `now`.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints, model_validator

from app.qa.replay.provenance import file_hash
from app.recordings.facts import CallerFacts
from app.recordings.files import RecordedMove
from schemas.ids import Locale


def no_controls(text: str) -> str:
    """The text itself. Raises ValueError where a character of it can't be shown."""
    if not text.isprintable() or not text.strip():
        raise ValueError("a name has no control characters, and is not empty")
    return text


MAX_CASES: Final = 100_000
MAX_TURNS: Final = 60
"""Turns of one call."""
MAX_CALL_S: Final = 4 * 3_600.0
"""A recording that turns are cut from is not longer."""
DEFAULT_NOW: Final = datetime(2026, 1, 15, 17, 0, tzinfo=UTC)
"""The moment of replay where a manifest names none: fixed, so that two runs agree."""
EARLIEST, LATEST = datetime(1970, 1, 2, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Moments that calls are of: beyond them are none that a calendar of days can count from."""

MAX_ID: Final = 300
CaseId = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID), AfterValidator(no_controls)]
"""Any characters but control characters: what files and calls are called elsewhere is kept."""
Words = Annotated[str, StringConstraints(max_length=2_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=120)]
OneOf = Name | Annotated[tuple[Name, ...], Field(min_length=1)]
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
    """A movement of money: what was booked, or should have been. `source` is the account it leaves."""

    amount_minor: int = Field(ge=0, strict=True)
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
    payee: Name | None = None
    to_account: Name | None = None
    source: Name | None = None

    @classmethod
    def of(cls, move: RecordedMove) -> "MoneyMove":
        """What was recorded, as manifests write it."""
        return cls.model_validate(move.model_dump())


class Expectation(Strict):
    """What should have happened in a turn. A field that is absent is not judged.

    `money` is what should have been booked. It need not be said: where anything but words is expected, money that moves
    without being listed is a false accept. `decision` is the first of the turn, `outcome` the last (a transfer that is
    proposed and then refused is confirm, then refuse). `by_machine` names the fields that no person has looked at: they
    are counted apart.
    """

    transcript: Words | None = Field(default=None, description="what the caller said, word for word")
    spans: tuple[ExpectedSpan, ...] | None = Field(default=None, description="all typed expressions in the words")
    intent: OneOf | None = Field(default=None, description="what the caller wants, or the dialogue act")
    slots: dict[str, JsonValue] | None = Field(default=None, description="all slots that should be filled")
    payee: Name | None = Field(default=None, description="id of the payee who is meant")
    route: OneOf | None = Field(default=None, description="the path that should handle the words")
    decision: OneOf | None = Field(default=None, description="what the words should lead to")
    outcome: OneOf | None = Field(default=None, description="what the turn should end in, where that is another")
    reply: OneOf | None = Field(default=None, description="id of the reply's template")
    money: tuple[MoneyMove, ...] | None = Field(default=None, description="what should be booked in this turn")
    by_machine: tuple[Name, ...] = Field(default=(), description="fields above that no person has looked at")

    @model_validator(mode="after")
    def _named(self) -> Self:
        unknown = [name for name in self.by_machine if name not in EXPECTED]
        if unknown:
            raise ValueError(f"by_machine names no field: {unknown[0]!r}")
        return self

    @property
    def named(self) -> frozenset[str]:
        """The fields that say something."""
        return frozenset(name for name in EXPECTED if getattr(self, name) is not None)

    @property
    def behaviour(self) -> bool:
        """Whether more than words is expected, so that the turn can end right or wrong."""
        return bool(self.named - {"transcript", "spans"})

    @property
    def moves(self) -> tuple[MoneyMove, ...]:
        """What should be booked."""
        return self.money or ()

    def only(self, names: frozenset[str]) -> "Expectation | None":
        """Of what is expected these fields alone; None where they say nothing."""
        kept = self.named & names
        dropped: dict[str, object] = dict.fromkeys(self.named - kept)
        return self.model_copy(update={**dropped, "by_machine": ()}) if kept else None


EXPECTED: Final = tuple(name for name in Expectation.model_fields if name != "by_machine")


def by_people(expect: Expectation | None) -> Expectation | None:
    """Of an expectation what a person stands behind."""
    return expect and expect.only(expect.named - frozenset(expect.by_machine))


def by_machine(expect: Expectation | None) -> Expectation | None:
    """Of an expectation what only a machine says."""
    return expect and expect.only(frozenset(expect.by_machine))


class CaseTurn(Strict):
    """One turn of the caller: a recording, typed words, or keys. Exactly one of `audio`, `text`, `dtmf`.

    `audio` is relative to the manifest. `encoding` and `rate` are needed for headerless files only. `start` and `end`
    are seconds of the recording: a turn may be a part of a whole call. `channel` need not be said where only one holds
    speech. `after_s` is how long the caller waited since the last turn.
    """

    audio: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None
    text: Words | None = None
    dtmf: Annotated[str, StringConstraints(pattern=r"^[0-9*#A-D]{1,32}$")] | None = None
    alternatives: tuple[Words, ...] = Field(default=(), max_length=16)
    channel: Annotated[int, Field(ge=0, le=63)] | Literal["mix"] | None = None
    encoding: Literal["g711_ulaw", "g711_alaw", "pcm16"] | None = None
    rate: Annotated[int, Field(ge=4_000, le=96_000)] | None = None
    start: Annotated[float, Field(ge=0, le=MAX_CALL_S)] | None = None
    end: Annotated[float, Field(gt=0, le=MAX_CALL_S)] | None = None
    after_s: Annotated[float, Field(ge=0, le=3_600)] = 0.0
    expect: Expectation | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(source is not None for source in (self.audio, self.text, self.dtmf)) != 1:
            raise ValueError("exactly one of audio, text, dtmf")
        if self.end is not None and self.end <= (self.start or 0.0):
            raise ValueError("`end` is not after `start`")
        return self


class Case(Strict):
    """One call. `tags` are what scores can be sliced by: condition, voice, group, …

    `facts` are the caller's accounts, cards, bills and payees, in place of a `customer` of the demo bank.
    """

    id: CaseId
    locale: Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}-[A-Z]{2}$")]
    turns: tuple[CaseTurn, ...] = Field(min_length=1, max_length=MAX_TURNS)
    customer: Name | None = None
    facts: CallerFacts | None = None
    now: datetime = DEFAULT_NOW
    tags: dict[Name, Annotated[str, StringConstraints(max_length=120)]] = Field(default_factory=dict, max_length=16)

    @model_validator(mode="after")
    def _zoned(self) -> Self:
        if self.now.tzinfo is None:
            raise ValueError("`now` needs a time zone")
        if not EARLIEST <= self.now <= LATEST:
            raise ValueError(f"`now` is of {EARLIEST.year} to {LATEST.year}")
        if self.facts is not None and self.customer is not None:
            raise ValueError("`facts` or `customer`, not both")
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
                    yield located(self.base, turn.audio)

    def recordings(self) -> dict[str, str]:
        """Every recording by its name in the manifest, with a hash of its bytes; "absent" where it is not there."""
        named = dict.fromkeys(turn.audio for case in self.cases for turn in case.turns if turn.audio is not None)
        return {name: file_hash(located(self.base, name)) for name in named}

    def digest(self, recordings: Mapping[str, str] | None = None) -> str:
        """SHA-256 (hex) over all cases and their recordings' bytes: what a journal belongs to."""
        total = hashlib.sha256()
        for case in self.cases:
            total.update(orjson.dumps(case.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS))
        found = self.recordings() if recordings is None else recordings
        total.update(orjson.dumps(found, option=orjson.OPT_SORT_KEYS))
        return total.hexdigest()


def located(base: Path, name: str) -> Path:
    """Where a recording lies: under its name, or under the same letters as another system composes them."""
    forms = (base / name, base / unicodedata.normalize("NFC", name), base / unicodedata.normalize("NFD", name))
    return next((path for path in forms if path.exists()), forms[0])


def as_words(manifest: Manifest) -> Manifest:
    """The same calls with every recording replaced by its reference transcript; recordings without one stay."""
    return Manifest(base=manifest.base, cases=tuple(map(_case_as_words, manifest.cases)))


def _case_as_words(case: Case) -> Case:
    turns = tuple(
        CaseTurn(text=turn.expect.transcript, after_s=turn.after_s, expect=turn.expect)
        if turn.audio is not None and turn.expect is not None and turn.expect.transcript
        else turn
        for turn in case.turns
    )
    return case.model_copy(update={"turns": turns})


def json_schema() -> str:
    """The JSON schema of a case, as it is committed beside the documentation."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Case.model_json_schema()
    return json.dumps(schema, separators=(",", ":"), sort_keys=True, ensure_ascii=False) + "\n"


def dump_jsonl(cases: tuple[Case, ...]) -> bytes:
    """Cases as a JSONL manifest, one a line, without what is default."""
    lines = [orjson.dumps(c.model_dump(mode="json", exclude_defaults=True), option=orjson.OPT_SORT_KEYS) for c in cases]
    return b"\n".join(lines) + b"\n" if lines else b""
