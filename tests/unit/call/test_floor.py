"""Who has the floor: when a caller can't go on with a turn any more, by how it was given."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import pytest

from schemas.ids import EN_US, JA_JP, Locale, RuleId
from schemas.transcript import Source, Transcript
from schemas.turn import ItemId
from services.audio.keypad import Keypad
from services.audio.listener import COMMITTED, Listener
from services.call.floor import TYPED, Floor, silence_of
from services.call.user_turn import UserTurn
from services.timing.clock import ManualClock

CLOCK = ManualClock(datetime(2026, 3, 4, tzinfo=UTC))
ENDED = RuleId("endpointing.en.yes_no@1")


@dataclass
class FakeListener:
    now_ms: int = 0
    stirs: bool = False


@dataclass
class FakeKeypad:
    busy: bool = False


def turn(source: Source, rule: RuleId, locale: Locale = EN_US) -> UserTurn:
    return UserTurn(ItemId("i"), Transcript.typed("yes", locale), source, rule, 1_000, CLOCK.monotonic(), {})


def over(said: UserTurn, *, silence_ms: int = 0, stirs: bool = False, keying: bool = False) -> bool:
    listener = FakeListener(said.voiced_until_ms + silence_ms, stirs)
    return Floor(cast("Listener", listener), cast("Keypad", FakeKeypad(keying)), CLOCK).over(said)


@pytest.mark.parametrize("locale", [EN_US, JA_JP])
def test_speech_is_over_after_a_silence_of_the_calls_own_audio(locale: Locale) -> None:
    said = turn(Source.SPEECH, ENDED, locale)
    assert not over(said, silence_ms=silence_of(said) - 1)
    assert over(said, silence_ms=silence_of(said))


def test_a_client_that_ends_a_turn_is_believed() -> None:
    assert over(turn(Source.SPEECH, COMMITTED))


def test_typed_words_are_over_by_the_clock() -> None:
    said = turn(Source.TYPED, TYPED)
    CLOCK.advance((silence_of(said) - 1) / 1000)
    assert not over(said, silence_ms=60_000)
    CLOCK.advance(0.002)
    assert over(said)


def test_digits_are_over_at_once() -> None:
    assert over(turn(Source.DTMF, RuleId("keypad.hash@1")))


@pytest.mark.parametrize(("source", "rule"), [(Source.SPEECH, COMMITTED), (Source.DTMF, ENDED), (Source.TYPED, TYPED)])
def test_nothing_is_over_while_the_caller_stirs_or_keys(source: Source, rule: RuleId) -> None:
    said = turn(source, rule)
    CLOCK.advance(60)
    assert over(said, silence_ms=60_000)
    assert not over(said, silence_ms=60_000, stirs=True)
    assert not over(said, silence_ms=60_000, keying=True)
