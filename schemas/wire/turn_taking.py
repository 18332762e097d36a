"""What the service sends about turns: eager, resumed, ended, discarded, merged."""

from typing import Literal

from schemas.wire.event import Event


class EagerEvent(Event):
    """The final words, unless the caller goes on within `wait_ms` of the last sound. Nothing was done yet."""

    type: Literal["tellerline.turn.eager"] = "tellerline.turn.eager"
    item_id: str
    revision: int
    transcript: str
    completeness: str
    wait_ms: int
    rule: str


class ResumedEvent(Event):
    """The caller went on: the eager transcript is void."""

    type: Literal["tellerline.turn.resumed"] = "tellerline.turn.resumed"
    item_id: str
    revision: int


class EndedEvent(Event):
    """The turn is over, by threshold `rule`."""

    type: Literal["tellerline.turn.ended"] = "tellerline.turn.ended"
    item_id: str
    revision: int
    rule: str
    source: Literal["speech", "typed", "dtmf"]
    voiced_until_ms: int
    ended_at_ms: int


class DiscardedEvent(Event):
    """Sound that became no turn."""

    type: Literal["tellerline.turn.discarded"] = "tellerline.turn.discarded"
    item_id: str
    reason: Literal["no_speech", "backchannel", "courtesy", "cleared", "failed"]


class MergedEvent(Event):
    """The turn `item_id` was withdrawn: the caller had gone on, and its words belong to `into_item_id`."""

    type: Literal["tellerline.turn.merged"] = "tellerline.turn.merged"
    item_id: str
    into_item_id: str
