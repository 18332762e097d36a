"""Why recorded turns went wrong, by what people say of them: replay's own reasons, of what a recording holds."""

from collections.abc import Iterator

from app.qa.replay.judging.failures import FailedStage, TurnFailure, failures
from app.qa.replay.manifests.manifest import Expectation, MoneyMove
from app.qa.replay.records.record import PayeeSearchRecord, SpanRecord, TurnRecord
from app.recordings.files import RecordedTurn


def failures_of(turn: RecordedTurn, locale: str, labels: Expectation | None) -> tuple[TurnFailure, ...]:
    """Each value that people say was wrong; none where nobody has looked. Holds no words of anybody's."""
    if labels is None or turn.withheld:
        return ()
    return tuple(dict.fromkeys(_known(turn, found) for found in failures(_record(turn, locale, labels))))


def _record(turn: RecordedTurn, locale: str, labels: Expectation) -> TurnRecord:
    """A recorded turn as a replay would have left it. Money that people say nothing of is not judged."""
    judged = labels.money is not None
    choice = PayeeSearchRecord(heard="", start=0, end=0, candidates=(), outcome="", choice=turn.payee)
    return TurnRecord(
        case="",
        turn=turn.turn,
        locale=locale,
        audio=turn.audio,
        expect=labels,
        heard=turn.text,
        spans=tuple(_spans(turn)),
        payee=choice if turn.payee else None,
        intent=turn.intent,
        slots={name: slot.value for name, slot in turn.slots.items()},
        rule=turn.rule,
        route=turn.route or "",
        decision=turn.decision or "",
        outcome=turn.outcome or "",
        reply=turn.reply,
        money=tuple(map(MoneyMove.of, turn.money)) if judged else (),
        error=turn.error,
    )


def _spans(turn: RecordedTurn) -> Iterator[SpanRecord]:
    """The amount that was taken: of all that was read in the words a recording keeps no more."""
    amount = turn.slots.get("amount")
    if amount is not None:
        yield SpanRecord(kind="money", surface="", start=0, end=0, value=amount.value, rule="")


def _known(turn: RecordedTurn, found: TurnFailure) -> TurnFailure:
    """The failure, less what a recording can't tell: what else was read, and whom a search found."""
    if found.slot == "payee" and turn.payee is None and found.stage is not FailedStage.HEARING:
        return TurnFailure(FailedStage.PAYEE, "payee", "none was chosen")
    if found.stage is FailedStage.NORMALIZATION and found.slot not in turn.slots:
        return TurnFailure(FailedStage.UNDERSTANDING, found.slot, "left empty")
    return found
