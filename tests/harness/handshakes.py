"""Handshakes of calls: what a bridge signs for its caller, and how the service answers."""

from collections.abc import Mapping

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.http11 import Response

from app.auth.dependencies import HEADERS, SIGNATURE
from app.auth.signature import SignedRequest, sign

LET_IN = 101


def headers_of(request: SignedRequest, secret: str) -> dict[str, str]:
    """The headers of a bridge's request, signed."""
    values = (request.key_id, request.timestamp, request.nonce, request.customer)
    return dict(zip(HEADERS, values, strict=True)) | {SIGNATURE: sign(secret.encode(), request)}


async def refusal(url: str, headers: Mapping[str, str] | None = None) -> Response | None:
    """The answer to a call that is not let in; None where one is, which ends at once."""
    try:
        async with connect(url, compression=None, additional_headers=headers):
            return None
    except InvalidStatus as error:
        return error.response


async def status(url: str, headers: Mapping[str, str] | None = None) -> int:
    """What a call's handshake is answered with."""
    refused = await refusal(url, headers)
    return LET_IN if refused is None else refused.status_code
