"""Where a call goes on once the person to whom it was given hangs up."""

import orjson

from app.transports.telephone.carriers import TELNYX, TWILIO, Carrier, Credential
from app.transports.telephone.line import Act, WebRequest
from app.transports.telephone.media_stream import MediaStream
from tests.harness.phone_protocols import recorded, wire


def transferred(name: str, carrier: Carrier, return_to: str) -> Act:
    core = MediaStream(carrier, Credential("key", "", "+15550100", return_to))
    steps = next(steps for protocol, _, steps in recorded() if protocol == name)
    for step in steps[:2]:
        core.read(wire(step["in"]))
    (act,) = core.transfer("handoff.now", "unclear")
    return act


def test_twilio_goes_on_where_it_is_told() -> None:
    act = transferred("twilio", TWILIO, 'https://pbx.example/back?a=1&b="2"')
    assert isinstance(act, WebRequest)
    assert act.form is not None
    assert "<Dial action='https://pbx.example/back?a=1&amp;b=\"2\"'>" in act.form["Twiml"]


def test_telnyx_parks_the_call() -> None:
    act = transferred("telnyx", TELNYX, "https://pbx.example/back")
    assert isinstance(act, WebRequest)
    assert orjson.loads(orjson.dumps(act.json))["park_after_unbridge"] == "self"
    plain = transferred("telnyx", TELNYX, "")
    assert isinstance(plain, WebRequest)
    assert plain.json is not None
    assert "park_after_unbridge" not in plain.json
