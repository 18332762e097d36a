"""Carriers whose streams are alike: what Twilio, Telnyx and Plivo call things, and what is asked of their HTTP APIs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from app.transports.telephone.line import WebRequest

SUMMARY: Final = "X-Tellerline-Summary"
"""The SIP header that tells a person what the call was about."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A carrier's HTTP API: `user` where its key is not enough, and to whom calls are handed off.

    `return_to`: where the call goes on once that person has hung up; it ends where there is none.
    """

    key: str = field(default="", repr=False)
    user: str = ""
    transfer_to: str = ""
    return_to: str = ""
    keys_before: tuple[str, ...] = field(default=(), repr=False)

    @property
    def keys(self) -> list[bytes]:
        """The key in use and those before it, each of which may have signed what comes; none without a key."""
        return [key.encode() for key in (self.key, *self.keys_before)] if self.key else []


Asked = Callable[[Credential, Mapping[str, str], str], WebRequest]
"""What is asked of a carrier for a call, whose ids are given; and the summary for the person, or the keys."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a carrier calls things. `numbered`: its sound may come in another order than it was sent."""

    stream: str
    call: str
    account: str
    parameters: str
    form: str
    rate: str
    medium: str
    mark: str
    marked: str
    clear: str
    transfer: Asked
    hang_up: Asked
    press: Asked | str = ""
    """What presses keys: a word to its API, or the name of a message."""
    numbered: bool = False
    described: bool = False
    """Whether every piece of sound says what it is."""


def _twilio(credential: Credential, ids: Mapping[str, str], form: Mapping[str, str]) -> WebRequest:
    account, call = quote(ids["account"], safe=""), quote(ids["call"], safe="")
    url = f"https://api.twilio.com/2010-04-01/Accounts/{account}/Calls/{call}.json"
    return WebRequest("POST", url, credential.key, ids["account"], form=form)


def _twilio_transfer(credential: Credential, ids: Mapping[str, str], summary: str) -> WebRequest:
    target = credential.transfer_to
    if target.startswith(("sip:", "sips:")):
        joint = "&" if "?" in target else "?"
        target = f"<Sip>{escape(f'{target}{joint}{SUMMARY}={quote(summary)}')}</Sip>"
    else:
        target = f"<Number>{escape(target)}</Number>"
    back = f" action={quoteattr(credential.return_to)}" if credential.return_to else ""
    return _twilio(credential, ids, {"Twiml": f"<Response><Dial{back}>{target}</Dial></Response>"})


def _telnyx(credential: Credential, ids: Mapping[str, str], action: str, **json: object) -> WebRequest:
    url = f"https://api.telnyx.com/v2/calls/{quote(ids['call'], safe='')}/actions/{action}"
    return WebRequest("POST", url, credential.key, json=json)


def _plivo(credential: Credential, ids: Mapping[str, str]) -> str:
    return f"https://api.plivo.com/v1/Account/{quote(credential.user, safe='')}/Call/{quote(ids['call'], safe='')}/"


TWILIO: Final = Carrier(
    stream="streamSid",
    call="callSid",
    account="accountSid",
    parameters="customParameters",
    form="mediaFormat",
    rate="sampleRate",
    medium="media",
    mark="mark",
    marked="mark",
    clear="clear",
    transfer=_twilio_transfer,
    hang_up=lambda credential, ids, _: _twilio(credential, ids, {"Status": "completed"}),
)
TELNYX: Final = Carrier(
    stream="stream_id",
    call="call_control_id",
    account="user_id",
    parameters="custom_parameters",
    form="media_format",
    rate="sample_rate",
    medium="media",
    mark="mark",
    marked="mark",
    clear="clear",
    transfer=lambda credential, ids, summary: _telnyx(
        credential,
        ids,
        "transfer",
        to=credential.transfer_to,
        custom_headers=[{"name": SUMMARY, "value": summary}],
        **({"park_after_unbridge": "self"} if credential.return_to else {}),
    ),
    hang_up=lambda credential, ids, _: _telnyx(credential, ids, "hangup"),
    press=lambda credential, ids, keys: _telnyx(credential, ids, "send_dtmf", digits=keys),
    numbered=True,
)
PLIVO: Final = Carrier(
    stream="streamId",
    call="callId",
    account="accountId",
    parameters="extra_headers",
    form="mediaFormat",
    rate="sampleRate",
    medium="playAudio",
    mark="checkpoint",
    marked="playedStream",
    clear="clearAudio",
    transfer=lambda credential, ids, _: WebRequest(
        "POST",
        _plivo(credential, ids),
        credential.key,
        credential.user,
        json={"legs": "aleg", "aleg_url": credential.transfer_to},
    ),
    hang_up=lambda credential, ids, _: WebRequest("DELETE", _plivo(credential, ids), credential.key, credential.user),
    press="sendDTMF",
    described=True,
)
