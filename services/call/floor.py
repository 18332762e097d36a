"""Who has the floor: whether the caller speaks, types or keys, and whether they may still go on with a turn."""

from typing import Final

from schemas.ids import RuleId
from schemas.transcript import Source
from services.audio.completeness import binding_ms
from services.audio.endpointing import endpointing
from services.audio.keypad import Keypad
from services.audio.listener import COMMITTED, Listener
from services.call.user_turn import UserTurn
from services.ports import Clock

TYPED: Final = RuleId("typed@1")


class Floor:
    """What is heard and keyed now, as those see it who only wait."""

    def __init__(self, listener: Listener, keypad: Keypad, clock: Clock) -> None:
        self._listener = listener
        self._keypad = keypad
        self._clock = clock

    def over(self, turn: UserTurn) -> bool:
        """Whether the caller can't go on with it any more."""
        if self._keypad.busy or self._listener.stirs:
            return False
        if turn.source is Source.DTMF:
            return True  # a pause or a key has ended the digits
        if turn.source is Source.TYPED:  # it may be one message of several
            return (self._clock.monotonic() - turn.since) * 1000 >= silence_of(turn)
        return turn.rule == COMMITTED or not self.settling(turn)

    def settling(self, turn: UserTurn) -> bool:
        """Whether it was spoken so little ago that silence has to be heard before anything is done."""
        return self._listener.now_ms - turn.voiced_until_ms < silence_of(turn)


def silence_of(turn: UserTurn) -> int:
    """The silence in ms after which it may lead to what can't be undone."""
    return binding_ms(turn.transcript.text, endpointing(turn.transcript.locale))
