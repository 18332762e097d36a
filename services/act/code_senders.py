"""Ways a one-time code travels that are not the call."""

from collections import OrderedDict
from typing import Final

import httpx

from schemas.errors import DependencyFailed
from schemas.ids import CustomerId
from schemas.stepup import Challenge

MAX_WAITING: Final = 1_000
"""Codes the demo's phone remembers."""


class WebhookSender:
    """Hands codes to the bank's messaging service: POST {"customer", "challenge", "purpose", "code", "expires_at"}."""

    def __init__(self, url: str, channel: str, client: httpx.AsyncClient) -> None:
        self._url = url
        self._channel = channel
        self._client = client

    @property
    def channel(self) -> str:
        """How the bank's customers get it, speakable."""
        return self._channel

    async def send(self, customer: CustomerId, challenge: Challenge, code: str) -> None:
        """Deliver once. Raises DependencyFailed."""
        body = {
            "customer": customer,
            "challenge": challenge.id,
            "purpose": challenge.purpose,
            "code": code,
            "expires_at": challenge.expires_at.isoformat(),
        }
        try:
            answer = await self._client.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise DependencyFailed("the code could not be sent") from error
        if not answer.is_success:
            raise DependencyFailed("the code could not be sent")


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
