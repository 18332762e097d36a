"""What only the demonstration has: tokens for its fictional customers, and their phones' screens."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from app.auth.demo import DemoIssuer
from app.auth.principal import Scope
from app.bootstrap import Gateway
from app.errors import documented
from rules.bank import demo_customers
from schemas.errors import BadInput, NotFound
from schemas.ids import CustomerId

Subject = Annotated[str, Query(max_length=64)]


class DemoCustomerOut(BaseModel):
    """A customer of the demo bank."""

    id: str
    name: str
    locale: str


class Token(BaseModel):
    """A short-lived access token."""

    access_token: str
    token_type: str = "bearer"  # noqa: S105 - the scheme's name


class Code(BaseModel):
    """What the customer's phone shows."""

    code: str


def router(gateway: Gateway, issuer: DemoIssuer) -> APIRouter:
    """The routes; they exist in demo mode alone."""
    routes = APIRouter(prefix="/demo", tags=["demo"])
    refused = documented(BadInput, NotFound)
    customers = {demo.customer: demo for demo in demo_customers()}

    @routes.get("/customers")
    async def list_customers() -> list[DemoCustomerOut]:
        """Everyone who may call."""
        return [DemoCustomerOut(id=d.customer, name=d.name, locale=d.locale) for d in customers.values()]

    @routes.post("/token", responses=refused)
    async def token(customer: Subject) -> Token:
        """An access token of a demo customer."""
        if customer not in customers:
            raise NotFound("no such demo customer")
        return Token(access_token=issuer.token(customer, [Scope.CALL], gateway.clock.now(), gateway.clock))

    @routes.get("/code", responses=refused)
    async def code(customer: Subject) -> Code:
        """The newest one-time code on a demo customer's phone."""
        shown = gateway.phone.shown(CustomerId(customer)) if gateway.phone else None
        if shown is None:
            raise NotFound("no code on this phone")
        return Code(code=shown)

    return routes
