"""What only the demonstration has: tokens for its fictional customers, and their phones' screens."""

import re
from collections.abc import Callable, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel

from app.auth.demo import DemoIssuer
from app.auth.principal import Scope
from app.bootstrap import Gateway
from app.errors import documented
from app.settings.places import LOOPBACK
from rules.bank import DemoCustomer
from schemas.errors import BadInput, NotAllowed, NotFound
from schemas.ids import CustomerId

_HOST: Final = re.compile(r"(?P<name>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
Subject = Annotated[str, Query(max_length=64)]


class DemoCustomerOut(BaseModel):
    """A customer of the demo bank; `names` are those of the customer's payees and accounts by id."""

    id: str
    name: str
    locale: str
    names: dict[str, str]


class Token(BaseModel):
    """A short-lived access token."""

    access_token: str
    token_type: str = "bearer"  # noqa: S105 - the scheme's name


class Code(BaseModel):
    """What the customer's phone shows."""

    code: str


def router(gateway: Gateway, issuer: DemoIssuer) -> APIRouter:
    """The routes; they exist in demo mode alone."""
    neighbours = [ip_network(part.strip()) for part in gateway.settings.demo_peers.split(",") if part]
    routes = APIRouter(prefix="/demo", tags=["demo"], dependencies=[Depends(_local(neighbours))])
    refused = documented(BadInput, NotFound, NotAllowed)
    customers = {demo.customer: demo for demo in gateway.customers}

    @routes.get("/customers", responses=documented(NotAllowed))
    async def list_customers() -> list[DemoCustomerOut]:
        """Everyone who may call."""
        return [_shown(demo) for demo in customers.values()]

    @routes.post("/token", responses=refused)
    async def token(customer: Subject) -> Token:
        """An access token of a demo customer."""
        if customer not in customers:
            raise NotFound("no such demo customer: /demo/customers lists them")
        return Token(access_token=issuer.token(customer, [Scope.CALL], gateway.clock.now(), gateway.clock))

    @routes.post("/staff", responses=refused)
    async def staff(name: Annotated[str, Query(pattern=r"^[a-z]{1,32}$")]) -> Token:
        """An access token of somebody who works at QA's desk."""
        subject = f"staff-{name}"
        return Token(access_token=issuer.token(subject, [Scope.QA], gateway.clock.now(), gateway.clock))

    @routes.get("/code", responses=refused)
    async def code(customer: Subject) -> Code:
        """The newest one-time code on a demo customer's phone."""
        shown = gateway.phone.shown(CustomerId(customer)) if gateway.phone else None
        if shown is None:
            raise NotFound("no code on this phone: one comes once a call asks for it")
        return Code(code=shown)

    return routes


def _shown(demo: DemoCustomer) -> DemoCustomerOut:
    names = {payee.id: payee.name for payee in demo.payees} | {account.id: account.name for account in demo.accounts}
    return DemoCustomerOut(id=demo.customer, name=demo.name, locale=demo.locale, names=names)


def _local(neighbours: Sequence[IPv4Network | IPv6Network]) -> Callable[[Request], None]:
    """Tokens and codes are given to this machine's own pages and programs alone. Raises NotAllowed."""

    def check(request: Request) -> None:
        host, origin = request.headers.get("host", ""), request.headers.get("origin")
        peer = request.client.host if request.client else ""
        if not any(ip_address(peer) in network for network in neighbours):
            raise NotAllowed("the demo speaks to its own machine alone")
        if _name(host) not in LOOPBACK or (origin is not None and origin.partition("://")[2] != host):
            raise NotAllowed("the demo speaks to its own pages alone")

    return check


def _name(host: str) -> str | None:
    """The name in a Host header; none where it holds anything but a name and a port."""
    found = _HOST.fullmatch(host)
    return None if found is None else found["name"].strip("[]").lower()
