"""Ways a one-time code travels that are not the call."""

import asyncio
import hashlib
import hmac
import logging
from collections import OrderedDict
from typing import Final

import httpx
import orjson

from schemas.ids import CustomerId
from schemas.printable import fault_words
from schemas.stepup import Challenge, CodeNotSent
from services.ports import Clock
from services.timing import left

log = logging.getLogger(__name__)

_SEND_S: Final = 3.0
_AFTER_S: Final = 0.4
"""What is left of an answer's time to call off what the code was for."""
MAX_WAITING: Final = 1_000
"""Codes the demo's phone remembers."""


class WebhookSender:
    """Hands codes to the bank's messaging service: POST {"customer", "challenge", "purpose", "code", "expires_at"}.

    `X-Tellerline-Signature` is `v1=` and the hex HMAC-SHA256 over `X-Tellerline-Time` (seconds since 1970), a dot and
    the body, under the key that both sides know; `challenge` tells a repeated request from a new one.
    """

    def __init__(self, url: str, key: bytes, channel: str, client: httpx.AsyncClient, clock: Clock) -> None:
        self._url = url
        self._key = key
        self._channel = channel
        self._client = client
        self._clock = clock

    @property
    def channel(self) -> str:
        """How the bank's customers get it, speakable."""
        return self._channel

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:
        """Deliver once. Raises CodeNotSent."""
        body = orjson.dumps(
            {
                "customer": customer,
                "challenge": challenge.id,
                "purpose": challenge.purpose,
                "code": code,
                "expires_at": challenge.expires_at.isoformat(),
            }
        )
        refused = False
        try:
            async with asyncio.timeout(min(_SEND_S, left(_SEND_S + _AFTER_S) - _AFTER_S)):
                sending = self._client.stream("POST", self._url, content=body, headers=self._headers(body))
                async with sending as answer:  # what it says besides is not read: it may have no end
                    refused = not answer.is_success
                    said = f"status {answer.status_code}" if refused else ""
        except httpx.ConnectError as error:
            refused, said = True, fault_words(error)
        except (httpx.HTTPError, TimeoutError) as error:
            said = fault_words(error)
        if said:
            log.error("a one-time code was not taken by the code service: %s", said)
            raise CodeNotSent("the code could not be sent", refused=refused)

    def _headers(self, body: bytes) -> dict[str, str]:
        at = str(int(self._clock.now().timestamp()))
        signed = hmac.new(self._key, at.encode() + b"." + body, hashlib.sha256).hexdigest()
        return {
            "Content-Type": "application/json",
            "X-Tellerline-Time": at,
            "X-Tellerline-Signature": f"v1={signed}",
        }


class DemoPhone:
    """The demo customers' phones, in memory: whoever runs the demo may read the codes there."""

    channel = "app"

    def __init__(self) -> None:
        self._codes: OrderedDict[CustomerId, str] = OrderedDict()

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:  # noqa: ARG002 - the port's signature
        """Show the code on the customer's phone."""
        self._codes[customer] = code
        self._codes.move_to_end(customer)
        while len(self._codes) > MAX_WAITING:
            self._codes.popitem(last=False)

    def shown(self, customer: CustomerId) -> str | None:
        """The newest code on the customer's phone."""
        return self._codes.get(customer)
