"""What is asked of a carrier over its HTTP API, one request at a time."""

import asyncio
from typing import Final

import httpx

from app.transports.telephone.line import WebRequest
from schemas.errors import CarrierUnavailable

TIMEOUT_S: Final = 5.0


class CarrierClient:
    """Asks carriers; nothing that they answer is kept."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def ask(self, request: WebRequest) -> None:
        """Ask once. Raises CarrierUnavailable; the message holds no key and no number."""
        headers = {} if request.user else {"Authorization": f"Bearer {request.key}"}
        auth = httpx.BasicAuth(request.user, request.key) if request.user else None
        try:
            asking = self._client.stream(
                request.method, request.url, data=request.form, json=request.json, headers=headers, auth=auth
            )
            async with asyncio.timeout(TIMEOUT_S), asking as answer:  # what it says besides is not read
                done, status = answer.is_success, answer.status_code
        except (httpx.HTTPError, TimeoutError) as error:
            raise CarrierUnavailable(f"the carrier did not answer: {type(error).__name__}") from error
        if not done:
            raise CarrierUnavailable(f"the carrier answered {status}")
