"""What a call tells its shadow, and when it leaves it: by a way that keeps what it is told."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from app.recordings.files import RecordedMove, RecordedSlot, RecordedTurn, RecordingHead
from app.settings import Settings
from app.shadow.call import ShadowedCall
from app.shadow.counters import ShadowCounters
from app.shadow.differing import ShadowRecord, differences
from app.shadow.line import MOST_TURNS, ShadowLine
from schemas.transcript import Source
from schemas.turn import ReplyId
from services.observability import Metrics

AT = datetime(2026, 11, 18, 10, tzinfo=UTC)
FACTS = b"{}"
HEAD = RecordingHead(call="c", locale="en-US", started_at=AT, subject="s", seed="00")


class Way:
    """Keeps what it is told, as long as there is room."""

    other = "another"

    def __init__(self, room: int = 99) -> None:
        self.room = room
        self.told: list[str] = []
        self.ended = False

    def tell(self, call: ShadowedCall, message: Mapping[str, Any], body: bytes = b"") -> bool:
        if len(self.told) >= self.room and "over" not in message:
            return False
        self.told.append(next(name for name in ("open", "turn", "heard", "silence", "over") if name in message))
        return True

    def over(self, call: ShadowedCall) -> None:
        self.ended = True


def turn(number: int = 1, **more: Any) -> RecordedTurn:
    given = {"text": "send fifty", "locale": "en-US", "decision": "confirm", "intent": "transfer_money"} | more
    return RecordedTurn(turn=number, at=AT, source=Source.SPEECH, **given)


def made(way: Way) -> tuple[ShadowedCall, list[ShadowRecord], Metrics]:
    kept: list[ShadowRecord] = []

    async def keep(record: ShadowRecord) -> None:
        kept.append(record)

    metrics = Metrics()
    return ShadowedCall(way, HEAD, keep, ShadowCounters(metrics.registry)), kept, metrics


def say(call: ShadowedCall, number: int, **more: Any) -> ReplyId:
    call.turn(ReplyId(f"r{number}"), turn(number, **more), None, FACTS)
    return ReplyId(f"r{number}")


async def test_a_turn_is_told_once_nobody_can_go_on_with_it() -> None:
    way = Way()
    call, kept, _ = made(way)
    first = say(call, 1)
    assert way.told == []
    call.heard(first, whole=True)
    assert way.told == ["open", "turn", "heard"]
    second = say(call, 2)
    call.heard(second, whole=False)
    call.withdrawn()
    call.over()
    assert way.told == ["open", "turn", "heard", "over"]
    assert not way.ended, "what was told is still to be compared"
    call.answered(1, turn(1).model_dump(mode="json"))
    await asyncio.sleep(0)
    assert way.ended
    assert [(one.compared, one.turns) for one in kept] == [(1, ())]


@pytest.mark.parametrize("why", [{"withheld": True}, {"error": "bank_unavailable"}, {"decision": None}])
async def test_turns_that_are_nobodys_business_end_it(why: dict[str, Any]) -> None:
    way = Way()
    call, _, _ = made(way)
    call.heard(say(call, 1), whole=True)
    say(call, 2, **why)
    call.over()
    assert way.told == ["open", "turn", "heard", "over"]
    assert way.ended


async def test_where_another_question_was_asked_there_the_rest_is_left() -> None:
    way = Way()
    call, kept, metrics = made(way)
    call.heard(say(call, 1), whole=True)
    call.answered(1, turn(1, text="Send fifty.").model_dump(mode="json"))
    call.heard(say(call, 2), whole=True)
    call.answered(2, turn(2, decision="clarify").model_dump(mode="json"))
    say(call, 3)
    call.over()
    await asyncio.sleep(0.01)
    assert (kept[-1].compared, kept[-1].left) == (2, "parted")
    assert [one.differs for one in kept[-1].turns] == [{"decision": ("confirm", "clarify")}]
    assert b'shadow_left_total{reason="parted"} 1.0' in metrics.exposition()


async def test_a_way_without_room_loses_the_shadow_and_never_the_call() -> None:
    way = Way(room=2)
    call, kept, metrics = made(way)
    for number in (1, 2, 3):
        call.heard(say(call, number), whole=True)
    call.over()
    await asyncio.sleep(0)
    assert way.told == ["open", "turn", "over"]
    assert b'shadow_left_total{reason="behind"} 1.0' in metrics.exposition()
    assert kept[-1].left == "behind"


def test_more_turns_than_it_may_wait_for_are_not_queued(tmp_path: Any) -> None:
    given = {"state_dir": tmp_path, "recording_days": 1, "shadow_asr_model": "bundled"}
    line = ShadowLine(Settings.model_validate(given), Metrics())
    assert line.call(HEAD, None) is None, "there is none yet"  # type: ignore[arg-type]
    line._other = "another"
    call = line.call(HEAD, None)  # type: ignore[arg-type]
    assert call is not None
    call._told = dict.fromkeys(range(MOST_TURNS + 1), turn())
    assert not line.tell(call, {"call": "c", "turn": 99})
    assert line.tell(call, {"call": "c", "over": True})


def test_what_is_not_comparable_is_no_difference() -> None:
    slot = RecordedSlot(value="a", words="one")
    assert differences(turn(), turn(text="SEND, fifty!", rule="x", confidence=0.3)) == {}
    assert differences(turn(slots={"payee": slot}), turn()) == {"slot payee": ("a", None)}
    asked = {"intent": "open_question", "route": "qna"}
    assert differences(turn(**asked, reply="answer"), turn(**asked, reply="answer.not_found")) == {}
    moved = RecordedMove(amount_minor=1, currency="USD")
    assert list(differences(turn(money=(moved,)), turn())) == ["booked"]
