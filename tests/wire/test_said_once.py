"""An object of JSON that says a name twice is refused at every door: its readers would not agree on which counts."""

from collections.abc import Callable

import pytest

from app.qa.commands.text import answer
from app.transports.http import parsed
from app.transports.telephone.fields import Fields
from schemas.errors import BadInput
from schemas.text import TextIn
from schemas.wire import parse_client_event
from schemas.wire.realtime.client import parse_client_event as parse_realtime_event

UPDATE = '{"type": "session.update", "session": {"type": "realtime", %s}}'
KEY = '{"type": "tellerline.dtmf", "digit": "1"%s}'
TEXT = '{"text": "send $5 to mum", "locale": "en-US"%s}'

DOORS: dict[str, tuple[Callable[[str], object], str, str, str]] = {
    "WS /v1/calls": (parse_client_event, KEY % "", KEY % ', "digit": "2"', "malformed_message"),
    "WS /v1/realtime": (
        parse_realtime_event,
        UPDATE % '"tellerline": {"locale": "en-US"}',
        UPDATE % '"tellerline": {"locale": "en-US", "locale": "ja-JP"}',
        "malformed_message",
    ),
    "telephones": (Fields.read, '{"event": "stop"}', '{"event": "stop", "\\u0065vent": "start"}', "malformed_message"),
    "telephones, deep": (Fields.read, "{}", '{"a": ' * 1_020 + "{}" + "}" * 1_020, "malformed_message"),
    "POST": (lambda t: parsed(TextIn, t.encode()), TEXT % "", TEXT % ', "text": "send $500 to mum"', "bad_input"),
    "tellerline text": (lambda t: answer(t.encode()), TEXT % "", TEXT % ', "\\u0074ext": "no"', "malformed_message"),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_name_is_said_once(door: str) -> None:
    read, well, doubled, code = DOORS[door]
    read(well)
    with pytest.raises(BadInput) as refused:
        read(doubled)
    assert refused.value.code == code


def test_a_long_number_is_no_doubled_name() -> None:
    assert Fields.read('{"sequenceNumber": 1}').number("sequenceNumber") == 1
    with pytest.raises(BadInput, match="not JSON"):
        Fields.read('{"a": ' + "9" * 5_000 + ", }")
