"""What the desk's routes take and give, as JSON."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from app.qa.desk.agreement import Agreement
from app.qa.desk.desk import SeenTurn
from app.qa.desk.reviews import Review, ReviewAction, ReviewState
from app.qa.desk.turns import MAX_PAGE, Filters, Page
from app.qa.replay.judging.failures import FailureGroup
from app.qa.replay.labelling.vocabulary import replies
from app.qa.replay.manifests.manifest import EXPECTED
from app.qa.replay.playing.shadowed import ShadowTally
from app.qa.replay.records.recorded import machine_labels
from app.recordings.files import RecordedMove, RecordedSlot
from schemas.decision import DecisionKind
from schemas.intent import Intent, Route, Slots


class ListQuery(BaseModel):
    """What a list is asked for; `todo` asks for turns that await a look of whoever asks."""

    model_config = ConfigDict(extra="forbid")

    intent: Intent | None = None
    decision: DecisionKind | None = None
    state: ReviewState | None = None
    locale: Annotated[str | None, Field(pattern=r"^[a-z]{2,3}-[A-Z]{2}$")] = None
    handoff: bool | None = None
    error: bool | None = None
    money: bool | None = None
    todo: bool = False
    below: Annotated[float | None, Field(ge=0, le=1, description="a confidence: only less confident turns")] = None
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    failure: Annotated[
        str | None, Field(pattern=r"^[0-9a-f]{10}$", description="a group of /failures: what people say was wrong")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50
    after: Annotated[str | None, Field(max_length=120, description="as the page before named it")] = None
    sample: Annotated[int | None, Field(ge=1, le=MAX_PAGE, description="draw so many of all, in place of a page")] = (
        None
    )
    seed: Annotated[str, Field(max_length=64)] = ""

    def filters(self, who: str) -> Filters:
        """The filters, for the person who asks."""
        asked = self.model_dump(exclude={"todo", "limit", "after", "sample", "seed"})
        return Filters(**asked, to_review_by=who if self.todo else None, asked_by=who)

    @property
    def drawn(self) -> str | None:
        """The seed of a sample; None where a page is asked for."""
        return None if self.sample is None else self.seed


class RowOut(BaseModel):
    """A recorded turn in a list. `text` is empty where it is withheld."""

    call: str
    turn: int
    at: datetime
    locale: str
    text: str
    intent: str | None
    decision: str | None
    outcome: str | None
    reply: str | None
    confidence: float
    error: str | None
    money: bool
    withheld: bool
    state: ReviewState

    @classmethod
    def of(cls, seen: SeenTurn) -> "RowOut":
        """A turn as a row."""
        turn = seen.turn
        same = turn.model_dump(
            include={"turn", "at", "text", "intent", "decision", "outcome", "reply", "confidence", "error", "withheld"}
        )
        money = bool(turn.money) or turn.proposal is not None
        head = seen.call.head
        return cls(call=head.call, locale=head.locale, money=money, state=seen.review.state, **same)


class RowsOut(BaseModel):
    """Turns, newest first; `total` fit in all, and `after` asks for the next page where there is one."""

    turns: list[RowOut]
    total: int
    after: str | None

    @classmethod
    def of(cls, page: Page, shown: list[SeenTurn]) -> "RowsOut":
        """A page with the words of its turns."""
        return cls(turns=[RowOut.of(turn) for turn in shown], total=page.total, after=page.after)


class EntryOut(BaseModel):
    """One person's word on a turn."""

    by: str
    at: datetime
    action: ReviewAction
    labels: dict[str, JsonValue]
    note: str


class ReviewOut(BaseModel):
    """How far a turn's labels have come. Another's first look is not shown before one's own."""

    state: ReviewState
    entries: list[EntryOut]

    @classmethod
    def of(cls, review: Review) -> "ReviewOut":
        """A review as it is shown."""
        entries = [
            EntryOut(by=e.by, at=e.at, action=e.action, labels=named(e.labels), note=e.note) for e in review.entries
        ]
        return cls(state=review.state, entries=entries)


class ChoiceOut(BaseModel):
    """One of the caller's own that a label may name."""

    id: str
    name: str


class TurnOut(RowOut):
    """A recorded turn with all that was concluded. `machine` are labels as a review writes them."""

    route: str | None
    rule: str | None
    slots: dict[str, RecordedSlot]
    payee: str | None
    proposal: RecordedMove | None
    booked: list[RecordedMove]
    sound: bool
    turns: int
    machine: dict[str, JsonValue]
    review: ReviewOut
    payees: list[ChoiceOut]
    accounts: list[ChoiceOut]

    @classmethod
    def of(cls, seen: SeenTurn) -> "TurnOut":
        """A turn as it is looked at."""
        turn, facts = seen.turn, seen.call.facts
        row = RowOut.of(seen).model_dump()
        more: dict[str, Any] = {
            "slots": turn.slots,
            "booked": list(turn.money),
            "sound": turn.audio is not None,
            "turns": len(seen.call.turns),
            "machine": {} if turn.withheld else machine_labels(turn),
            "review": ReviewOut.of(seen.review),
            "payees": [ChoiceOut(id=p.id, name=p.name) for p in facts.payees] if facts else [],
            "accounts": [ChoiceOut(id=a.id, name=a.name) for a in facts.accounts] if facts else [],
        }
        return cls(**row, route=turn.route, rule=turn.rule, payee=turn.payee, proposal=turn.proposal, **more)


class ReviewIn(BaseModel):
    """A person's word: the fields of an expectation that they stand behind, on a turn that they saw in a state."""

    model_config = ConfigDict(extra="forbid")

    seen: ReviewState
    labels: Annotated[dict[str, JsonValue], Field(max_length=16)]
    action: ReviewAction = ReviewAction.REVIEW
    note: Annotated[str, Field(max_length=2_000)] = ""


class FailureOut(BaseModel):
    """Turns that are wrong alike, by what people say: the first stage that differs, which value, and how."""

    id: str
    stage: str
    slot: str
    cause: str
    turns: int

    @classmethod
    def of(cls, group: FailureGroup) -> "FailureOut":
        """A group, without the names of its turns."""
        return cls(id=group.id, stage=group.stage, slot=group.slot, cause=group.cause, turns=group.turns)


class ShadowTurnOut(BaseModel):
    """A turn that differs: by the value's name what it is here, and there. `money`: other money would move."""

    call: str
    turn: int
    at: datetime
    other: str
    money: bool
    differs: dict[str, tuple[JsonValue, JsonValue]]


class ShadowOut(BaseModel):
    """How many turns went through both, how many differ, in which value how often, and why calls were left."""

    calls: int
    compared: int
    differ: int
    values: dict[str, int]
    left: dict[str, int]
    turns: list[ShadowTurnOut]

    @classmethod
    def of(cls, found: ShadowTally, most: int) -> "ShadowOut":
        """All of it, with the first `most` turns."""
        shown = [
            ShadowTurnOut(
                call=one.call.head.call,
                turn=turn.turn,
                at=one.call.head.started_at,
                other=one.record.other,
                money=turn.money,
                differs=turn.differs,
            )
            for one, turn in found.turns[:most]
        ]
        return cls(
            calls=found.calls,
            compared=found.compared,
            differ=len(found.turns),
            values=found.values,
            left=found.left,
            turns=shown,
        )


class AgreementOut(BaseModel):
    """Of `pairs` of two people's labels the share that is the same, and Cohen's κ."""

    pairs: int
    same: float | None
    kappa: float | None

    @classmethod
    def of(cls, found: Agreement) -> "AgreementOut":
        """A field's agreement."""
        return cls(pairs=found.pairs, same=found.same, kappa=found.kappa)


class ChoicesOut(BaseModel):
    """The fields that a review may name, and the names that mean something in them."""

    fields: list[str]
    intent: list[str]
    decision: list[str]
    route: list[str]
    reply: list[str]
    slot: list[str]
    state: list[Literal["machine", "reviewed", "disputed", "settled"]]

    @classmethod
    def by_rules(cls) -> "ChoicesOut":
        """What the rules know."""
        return cls(
            fields=list(EXPECTED),
            intent=sorted(Intent),
            decision=sorted(DecisionKind),
            route=sorted(Route),
            reply=sorted(replies()),
            slot=sorted(Slots.__dataclass_fields__),
            state=["machine", "reviewed", "disputed", "settled"],
        )


def named(labels: BaseModel) -> dict[str, JsonValue]:
    """The fields that labels name."""
    found: dict[str, JsonValue] = labels.model_dump(mode="json", exclude_none=True, exclude={"by_machine"})
    return found
