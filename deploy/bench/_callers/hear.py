"""What a caller makes of what they hear: which of the service's sentences it was, by the templates it is made of."""

import re
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Any, Final

from rules.load import load
from services.response.phrases import RepliesFile


class AnswerKind(StrEnum):
    """The kinds of answers that a caller tells apart."""

    ASKS_AMOUNT = auto()
    ASKS_WHICH_AMOUNT = auto()
    ASKS_PAYEE = auto()
    ASKS_IS_IT = auto()
    ASKS_SOURCE = auto()
    ASKS_CHANGE = auto()
    OFFERS_TRANSFER = auto()
    OFFERS_BALANCE = auto()
    OFFERS_OTHER = auto()
    OFFERS_RESUME = auto()
    OFFERS_HUMAN = auto()
    READ_BACK = auto()
    YES_OR_NO = auto()
    WANTS_CODE = auto()
    DONE = auto()
    BALANCE = auto()
    HANDED_OVER = auto()
    NOT_UNDERSTOOD = auto()
    WHAT_ELSE = auto()
    SAID_SOMETHING = auto()  # a passage of a document, and whatever else gets the caller no further


_KINDS: Final = {
    AnswerKind.ASKS_AMOUNT: r"ask\.amount|ask\.amount_to|problem\.(amount_positive|currency|funds|limit)",
    AnswerKind.ASKS_WHICH_AMOUNT: r"ask\.amount_which",
    AnswerKind.ASKS_PAYEE: r"ask\.payee|ask\.payee_unknown|ask\.payee_which|problem\.payee_gone",
    AnswerKind.ASKS_IS_IT: r"ask\.payee_is_it",
    AnswerKind.ASKS_SOURCE: r"ask\.source|ask\.account_unknown|problem\.same_account",
    AnswerKind.ASKS_CHANGE: r"ask\.what_to_change.*",
    AnswerKind.OFFERS_TRANSFER: r"offer\.transfer_.*",
    AnswerKind.OFFERS_BALANCE: r"offer\.balance_inquiry",
    AnswerKind.OFFERS_RESUME: r"offer\.resume",
    AnswerKind.OFFERS_HUMAN: r"offer\.human|answer\.not_found",
    AnswerKind.OFFERS_OTHER: r"offer\..+|ask\.(bill|card|date).*",
    AnswerKind.READ_BACK: r"confirm\.(transfer|own|bill)",
    AnswerKind.YES_OR_NO: r"confirm\.yes_or_no",
    AnswerKind.WANTS_CODE: r"step_up\.(ask|waiting|wrong).*",
    AnswerKind.DONE: r"transfer\.(done|scheduled|settled|unknown)",
    AnswerKind.BALANCE: r"balance\.(one|all)",
    AnswerKind.HANDED_OVER: r"handoff\..+",
    AnswerKind.NOT_UNDERSTOOD: r"missed\..+|ask\.what",
    AnswerKind.WHAT_ELSE: r"say\.ok_what_else|cancel\..+|start_over\..+|help\..+|say\.goodbye",
}
_FIELD: Final = re.compile(r"\\\{[a-z0-9_]+(?:\\\|(?:or|and))?\\\}")
_WHEN_BOTH: Final = (AnswerKind.NOT_UNDERSTOOD, AnswerKind.WHAT_ELSE)
"""What yields to any question that follows it in the same reply."""


@dataclass(frozen=True, slots=True)
class ReplyHeard:
    """A reply as heard. `named` is what an amount or a payee was asked about; `read_back` and `moved` are events."""

    text: str
    kinds: tuple[AnswerKind, ...]
    read_back: dict[str, Any] | None = None
    moved: tuple[dict[str, Any], ...] = ()
    intent: str | None = None
    route: str = ""
    rule: str | None = None

    @property
    def kind(self) -> AnswerKind:
        """What the caller reacts to: the last question, else the last thing said."""
        asked = [kind for kind in self.kinds if kind not in _WHEN_BOTH]
        return asked[-1] if asked else self.kinds[-1] if self.kinds else AnswerKind.SAID_SOMETHING

    @property
    def missed(self) -> bool:
        """Whether the service said that it did not follow."""
        return AnswerKind.NOT_UNDERSTOOD in self.kinds


class ReplyClassifier:
    """Knows the service's sentences."""

    def __init__(self) -> None:
        templates = load("replies/en/replies.yaml", RepliesFile).templates
        self._forms = [
            (kind, re.compile(_FIELD.sub(".+?", re.escape(text))))
            for id_, text in templates.items()
            if (kind := _kind(id_)) is not None
        ]

    def kinds(self, text: str) -> tuple[AnswerKind, ...]:
        """What `text` is made of, in the order heard."""
        found = [(m.end(), -m.start(), kind) for kind, form in self._forms for m in form.finditer(text)]
        return tuple(kind for _, _, kind in sorted(found))


def _kind(id_: str) -> AnswerKind | None:
    return next((kind for kind, ids in _KINDS.items() if re.fullmatch(ids, id_)), None)
