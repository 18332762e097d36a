"""What people say of a recorded turn: machine → reviewed → disputed → settled, each word with who and when."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import orjson
from pydantic import JsonValue, ValidationError

from app.meant import meant
from app.qa.replay.labelling.vocabulary import ANYONE, Owned, expectation_faults
from app.qa.replay.manifests.manifest import EXPECTED, Expectation, Strict, Words
from schemas.errors import MalformedMessage, WrongState

MAX_ENTRIES: Final = 32
"""Words of people on one turn; a reviewer may mend a review, but not for ever."""


class ReviewState(StrEnum):
    """How far a turn's labels have come. DISPUTED: two people say different things. SETTLED: nobody can go on."""

    MACHINE = "machine"
    REVIEWED = "reviewed"
    DISPUTED = "disputed"
    SETTLED = "settled"


class ReviewAction(StrEnum):
    """What a person does: say what is right, or settle what two people disagree on."""

    REVIEW = "review"
    SETTLE = "settle"


class ReviewEntry(Strict):
    """One person's word. `by` is the subject of their token."""

    by: str
    at: datetime
    action: ReviewAction
    labels: Expectation
    note: Words = ""


class Review(Strict):
    """All that people have said of a turn, oldest first."""

    state: ReviewState = ReviewState.MACHINE
    entries: tuple[ReviewEntry, ...] = ()

    @property
    def labels(self) -> Expectation | None:
        """What people stand behind; None while nobody has looked, or two people disagree."""
        return self.entries[-1].labels if self.state in {ReviewState.REVIEWED, ReviewState.SETTLED} else None

    @property
    def first(self) -> str | None:
        """Who looked first."""
        return self.entries[0].by if self.entries else None

    def labels_for(self, person: str | None) -> Expectation | None:
        """`labels`, unless they are another's first look and `person` has yet to give their own; None is everybody."""
        return self.labels if person is None or self.known_to(person) else None

    def known_to(self, person: str) -> bool:
        """Whether `person` may know what was said: another's first look is not shown before one's own."""
        return self.state is not ReviewState.REVIEWED or self.first == person

    def shown_to(self, person: str) -> "Review":
        """The review without another's labels where `person` has yet to give their own: a second look is blind."""
        if self.known_to(person):
            return self
        return self.model_copy(update={"entries": ()})

    def after(self, entry: ReviewEntry) -> "Review":
        """The review with one more word. Raises WrongState where that word can't be said now, or not by this person."""
        if len(self.entries) >= MAX_ENTRIES:
            raise WrongState(f"a turn takes {MAX_ENTRIES} reviews at most")
        step = self._reviewed if entry.action is ReviewAction.REVIEW else self._settled
        return Review(state=step(entry), entries=(*self.entries, entry))

    def _reviewed(self, entry: ReviewEntry) -> ReviewState:
        if self.state not in {ReviewState.MACHINE, ReviewState.REVIEWED}:
            raise WrongState(f"a turn that is {self.state.value} takes no further review")
        if self.first in {None, entry.by}:
            return ReviewState.REVIEWED
        return ReviewState.SETTLED if same_labels(self.entries[-1].labels, entry.labels) else ReviewState.DISPUTED

    def _settled(self, entry: ReviewEntry) -> ReviewState:
        if self.state is not ReviewState.DISPUTED:
            raise WrongState(f"a turn that is {self.state.value} has nothing to settle: only a disputed one has")
        own = [said.labels for said in self.entries if said.by == entry.by]
        others = [said.labels for said in self.entries[-2:] if said.by != entry.by]
        if own and not any(same_labels(entry.labels, labels) for labels in others):
            raise WrongState("who is party to a dispute settles it by the other's labels; a third person by any")
        return ReviewState.SETTLED


def same_labels(one: Expectation, other: Expectation) -> bool:
    """Whether two people say the same; white space and capitals of a transcript are no difference."""
    return label_key(one) == label_key(other)


def label_key(labels: Expectation) -> dict[str, str]:
    """Every field that is named, in a form in which what is the same is equal."""
    return {name: field_key(getattr(labels, name)) for name in sorted(labels.named)}


def field_key(value: object) -> str:
    """One field's value as text."""
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, tuple) and all(isinstance(item, str) for item in value):
        return "|".join(sorted(value))
    return orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS).decode()


def _plain(value: Any) -> object:
    return value.model_dump(mode="json", exclude_none=True)


def read_labels(given: Mapping[str, JsonValue], payees: frozenset[str] | None = None) -> Expectation:
    """Labels as a person sends them. `payees` are the ids of the caller's own, where they are known.

    Raises MalformedMessage: a field or name that there is not, with the one that may be meant.
    """
    names = tuple(EXPECTED)
    for name in given:
        if name not in names:
            raise MalformedMessage(f"unknown field {name[:60]!r}: {_hint(name, names)}")
    if not any(value is not None for value in given.values()):
        raise MalformedMessage(f"a review names a field: one of {', '.join(names)}")
    try:
        labels = Expectation.model_validate(dict(given))
    except ValidationError as error:
        places = sorted({".".join(str(part) for part in item["loc"][:1]) for item in error.errors()})
        raise MalformedMessage(f"labels can't be read: {', '.join(places)}") from error
    if faults := tuple(expectation_faults(labels, ANYONE, None if payees is None else Owned.of_payees(payees))):
        raise MalformedMessage("; ".join(faults[:8]))
    return labels


def _hint(name: str, names: tuple[str, ...]) -> str:
    near = meant(name, names)
    return f"did you mean {near}?" if near else f"one of {', '.join(names)}"
