"""One turn against what should have happened: money first, then everything else."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from pydantic import JsonValue

from app.qa.replay.judging.words import Errors, NormalizedErrors, character_errors, hearing, word_errors
from app.qa.replay.manifests.manifest import Expectation, ExpectedSpan, MoneyMove, OneOf, by_machine, by_people
from app.qa.replay.records.record import SpanRecord, TurnRecord
from schemas.decision import DecisionKind
from schemas.intent import Intent
from schemas.money import EXPONENTS

RECALL_AT: Final = (1, 3, 5)
_TRANSFER: Final = Intent.TRANSFER_MONEY.value
_EXECUTE: Final = DecisionKind.EXECUTE.value
LOCKED: Final = " locked"
"""What the effect on a card ends with."""
_FIGURES: Final = re.compile(r"\d+(?:\.\d+)?")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3})")


class MoneyVerdict(StrEnum):
    """What became of money in a turn. FALSE_ACCEPT: something was booked that should not have been."""

    RIGHT = "right"
    FALSE_ACCEPT = "false_accept"
    WRONG_READ_BACK = "wrong_read_back"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Tally:
    """Found and expected items of one kind."""

    right: int = 0
    spurious: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A turn judged. A None is "not judged": the manifest says nothing of it.

    `failed` is whether the turn ended in an error or was never played: it is then never right, whatever else it is.
    """

    failed: bool = False
    behaviour: bool = False
    money: MoneyVerdict | None = None
    words: Errors | None = None
    characters: Errors | None = None
    hearing: NormalizedErrors | None = None
    exact: bool | None = None
    intent: bool | None = None
    decision: bool | None = None
    outcome: bool | None = None
    reply: bool | None = None
    route: bool | None = None
    payee_rank: int | None = None
    payee_choice: bool | None = None
    spans: dict[str, Tally] = field(default_factory=dict)
    slots: dict[str, Tally] = field(default_factory=dict)

    @property
    def right(self) -> bool | None:
        """Whether the turn ended as it should; a misheard word alone is not a failure. None where nothing is judged."""
        if not self.behaviour:
            return None
        parts = (self.intent, self.decision, self.outcome, self.reply, self.route, self.payee_choice)
        slots = not any(t.spurious or t.missed for t in self.slots.values())
        return not self.failed and self.money is MoneyVerdict.RIGHT and slots and False not in parts


def judge(turn: TurnRecord) -> Judgement:
    """Judge a turn by what people expect of it; what only a machine says of it is `judge_by_machine`'s."""
    return _judge(turn, by_people(turn.expect))


def judge_by_machine(turn: TurnRecord) -> Judgement:
    """Judge a turn by the labels that no person has looked at."""
    return _judge(turn, by_machine(turn.expect))


def _judge(turn: TurnRecord, expect: Expectation | None) -> Judgement:
    failed = turn.error is not None
    if expect is None:
        return Judgement(failed=failed)
    if not turn.played:
        return Judgement(failed=True, behaviour=expect.behaviour)
    return Judgement(
        failed=failed,
        behaviour=expect.behaviour,
        money=money_verdict(turn, expect) if expect.behaviour else None,
        intent=_among(turn.intent, expect.intent),
        decision=_among(turn.decision, expect.decision),
        outcome=_among(turn.outcome or turn.decision, expect.outcome),
        reply=_among(turn.reply, expect.reply),
        route=_among(turn.route, expect.route),
        payee_rank=_rank(turn, expect.payee),
        payee_choice=_choice(turn, expect.payee),
        spans={} if expect.spans is None else _spans(turn.spans, expect.spans),
        slots={} if expect.slots is None else _slots(turn.slots, expect.slots),
        **_heard(turn, expect),
    )


def _heard(turn: TurnRecord, expect: Expectation) -> dict[str, Any]:
    """The words of a recording against those that were said; typed words are no hearing."""
    said = expect.transcript
    if said is None or turn.audio is None:
        return {}
    words = word_errors(said, turn.heard, turn.locale)
    return {
        "words": words,
        "characters": character_errors(said, turn.heard, turn.locale),
        "hearing": hearing(said, turn.heard, turn.locale, expect.payee),
        "exact": words.edits == 0,
    }


def money_verdict(turn: TurnRecord, expect: Expectation) -> MoneyVerdict:
    """Booked money that was not asked for is the worst; a read-back of the wrong order, or in wrong words, is next."""
    allowed = (*expect.moves, *turn.owed, *_left_open(turn, expect))
    unasked, missed = unmatched(turn.money, allowed), unmatched(expect.moves, turn.money)
    if unasked or _unaccounted(turn):
        return MoneyVerdict.FALSE_ACCEPT
    if turn.proposal is not None and (_contradicts(turn.proposal, expect) or misread(turn)):
        return MoneyVerdict.WRONG_READ_BACK
    return MoneyVerdict.MISSED if missed else MoneyVerdict.RIGHT


def _left_open(turn: TurnRecord, expect: Expectation) -> tuple[MoneyMove, ...]:
    """What a machine saw booked, where people say that the turn books and not what: no false accept, and not judged."""
    machines = by_machine(turn.expect)
    if machines is None or expect.money is not None:
        return ()
    ends = expect.outcome if expect.outcome is not None else expect.decision
    return machines.moves if _among(_EXECUTE, ends) else ()


def unjudged_money(turn: TurnRecord) -> bool:
    """Whether money moved, and no person says whether it should: nothing they say of the turn, or not what it books."""
    expect = by_people(turn.expect)
    if expect is None or not expect.behaviour:
        return bool(turn.money) or _unaccounted(turn)
    open_ = _left_open(turn, expect)
    return bool(open_) and any(same_move(move, other) for move in turn.money for other in open_)


def misread(turn: TurnRecord) -> bool:
    """Whether a read-back's words do not say the amount that would be booked, or not the name of the payee."""
    move = turn.proposal
    if move is None or not turn.spoken:
        return False
    said = set(figures(turn.spoken))
    major, minor = divmod(move.amount_minor, 10 ** EXPONENTS.get(move.currency, 2))
    if (major and str(major) not in said) or (minor and not {str(minor), f"{major}.{minor:02}"} & said):
        return True
    names = {c.id: c.name for c in turn.payee.candidates} if turn.payee else {}
    name = names.get(move.payee or "")
    return name is not None and turn.intent == _TRANSFER and not _says(turn.spoken, name)


def _unaccounted(turn: TurnRecord) -> bool:
    """Whether more has left an account of the customer's than was booked in the turn."""
    left = {name: -by for name, by in turn.effects.items() if by < 0 and not name.endswith(LOCKED)}
    for move in turn.money:
        name = f"{move.source} {move.currency}"
        left[name] = left.get(name, 0) - move.amount_minor
    return any(minor > 0 for minor in left.values())


def _says(spoken: str, name: str) -> bool:
    """Whether any word of a name is said: names are told by first name, or by their reading."""
    parts = re.split(r"\s+", name.casefold())
    return any(part in spoken.casefold() for part in parts) or not name.isascii()


def figures(text: str) -> tuple[str, ...]:
    """The figures in words that are spoken, without the marks that group thousands."""
    return tuple(_FIGURES.findall(_GROUPED.sub("", text)))


def owed_after(turn: TurnRecord) -> tuple[MoneyMove, ...]:
    """What people say that the call should have booked by the end of `turn`, and it has not."""
    expect = by_people(turn.expect)
    wanted = (*turn.owed, *(expect.moves if expect else ()))
    return unmatched(wanted, turn.money)


def unmatched(moves: tuple[MoneyMove, ...], others: tuple[MoneyMove, ...]) -> tuple[MoneyMove, ...]:
    """The moves that are not among the others, each of which answers for one."""
    free, left = list(others), []
    for move in moves:
        match = next((other for other in free if same_move(move, other)), None)
        if match is None:
            left.append(move)
        else:
            free.remove(match)
    return tuple(left)


def same_move(one: MoneyMove, other: MoneyMove) -> bool:
    """Equal, where an account that only one of them names fits any."""
    sources = {one.source, other.source} - {None}
    return len(sources) <= 1 and one.model_copy(update={"source": None}) == other.model_copy(update={"source": None})


def _contradicts(proposal: MoneyMove, expect: Expectation) -> bool:
    if expect.decision is not None and not _among("confirm", expect.decision):
        return True
    slots = expect.slots or {}
    if expect.payee is not None and proposal.payee not in {None, expect.payee}:
        return True
    if "payee" in slots and proposal.payee != slots["payee"]:
        return True
    if "source" in slots and proposal.source not in {None, slots["source"]}:
        return True
    if "target" in slots and proposal.to_account != slots["target"]:
        return True
    read_back: JsonValue = {"amount_minor": proposal.amount_minor, "currency": proposal.currency}
    return "amount" in slots and not same_value(read_back, slots["amount"])


def _among(got: str | None, wanted: OneOf | None) -> bool | None:
    if wanted is None:
        return None
    return got == wanted if isinstance(wanted, str) else got in wanted


def _rank(turn: TurnRecord, wanted: str | None) -> int | None:
    """The place of the payee among the candidates, from 1; 0 when absent."""
    if wanted is None:
        return None
    ids = [c.id for c in turn.payee.candidates] if turn.payee else []
    return ids.index(wanted) + 1 if wanted in ids else 0


def _choice(turn: TurnRecord, wanted: str | None) -> bool | None:
    """Right where the payee meant was chosen, or asked about; wrong where another was, or it was not found."""
    if wanted is None:
        return None
    if turn.payee is None:
        return turn.slots.get("payee") == wanted
    return turn.payee.choice == wanted or (turn.payee.choice is None and bool(_rank(turn, wanted)))


def same_value(got: JsonValue, wanted: JsonValue) -> bool:
    """Equal, where an amount without a currency fits any."""
    if isinstance(got, dict) and isinstance(wanted, dict) and "amount_minor" in wanted:
        currencies = {got.get("currency"), wanted.get("currency")} - {None}
        return got.get("amount_minor") == wanted["amount_minor"] and len(currencies) <= 1
    return got == wanted


def _spans(got: tuple[SpanRecord, ...], wanted: tuple[ExpectedSpan, ...]) -> dict[str, Tally]:
    left = list(wanted)
    counts: dict[str, list[int]] = {}
    for span in got:
        count = counts.setdefault(span.kind, [0, 0, 0])
        match = next((w for w in left if _same_span(span, w)), None)
        if match is None:
            count[1] += 1
        else:
            count[0] += 1
            left.remove(match)
    for absent in left:
        counts.setdefault(absent.kind, [0, 0, 0])[2] += 1
    return {kind: Tally(*count) for kind, count in sorted(counts.items())}


def _same_span(got: SpanRecord, wanted: ExpectedSpan) -> bool:
    said = wanted.surface is None or wanted.surface.strip().casefold() == got.surface.strip().casefold()
    return said and wanted.kind == got.kind and same_value(got.value, wanted.value)


def _slots(got: dict[str, JsonValue], wanted: dict[str, JsonValue]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    for name in sorted({*got, *wanted}):
        if name not in wanted:
            tallies[name] = Tally(spurious=1)
        elif name not in got:
            tallies[name] = Tally(missed=1)
        else:
            right = same_value(got[name], wanted[name])
            tallies[name] = Tally(right=int(right), spurious=int(not right), missed=int(not right))
    return tallies
