"""POST /v1/ivr/calls and GET /v1/ivr/calls/{id}: a bridge announces a call, and asks what is to become of it."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Request
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from app.bootstrap import Gateway
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS
from app.transports.telephone.connection import Ending
from schemas.errors import BadInput, BankUnavailable, Busy, NotFound
from services.guard.expected_calls import LIFE, ExpectedCalls

_WORD: Final[dict[str, Any]] = {"content": {"text/plain": {"schema": {"type": "string", "enum": [*Ending]}}}}


class ExpectedOut(BaseModel):
    """The id that the call has to bring, and how long it may take to come."""

    id: str
    expires_in_s: float


def router(gateway: Gateway, expected: ExpectedCalls) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/ivr/calls", tags=["telephones"])

    @routes.post("", dependencies=[*CREDENTIALS], responses=documented(*IDENTITY, NotFound, BankUnavailable, Busy))
    async def announce(request: Request) -> ExpectedOut:
        """Announce a call of the customer whom the request's credential names."""
        customer = (await gateway.authenticator.principal(request)).caller()
        async with gateway.limits.shares.request(customer):
            await gateway.limits.rates.request(customer)
            await gateway.callers.exists(customer)
            return ExpectedOut(id=await expected.announce(customer), expires_in_s=LIFE.total_seconds())

    @routes.get("/{identity}", response_model=None, responses={200: _WORD, **documented(NotFound, BadInput)})
    async def outcome(identity: Annotated[str, Path(max_length=64)]) -> PlainTextResponse:
        """What is to become of a call that the assistant is done with: `transfer` or `end`."""
        return PlainTextResponse(await expected.outcome(identity))

    return routes
