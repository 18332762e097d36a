"""Liveness, readiness and metrics. Liveness touches nothing; readiness means that the next caller can be served."""

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from app.bootstrap import Gateway
from app.errors import documented
from app.version import VERSION
from rules.load import ruleset_hash
from schemas.errors import Draining, NotReady


class Health(BaseModel):
    """`ok`, always: a process that can't say so says nothing."""

    status: str = "ok"


class ReadyGateway(Health):
    """What is ready: the version, and a hash of all rules that calls are understood by."""

    version: str
    ruleset: str


def router(gateway: Gateway) -> APIRouter:
    """The routes."""
    routes = APIRouter(tags=["operations"])

    @routes.get("/healthz")
    async def healthz() -> Health:
        """The process lives."""
        return Health()

    @routes.get("/readyz", responses=documented(Draining, NotReady))
    async def readyz() -> ReadyGateway:
        """Callers are let in and known, the database takes what a transfer writes, and what is done goes on record.

        Rules and recogniser are loaded and warm: the process listens only once they are.
        """
        if gateway.admission.draining:
            raise Draining("going away")
        await gateway.readiness.check()
        return ReadyGateway(version=VERSION, ruleset=ruleset_hash())

    @routes.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        """Prometheus text format."""
        return Response(gateway.metrics.exposition(), media_type=CONTENT_TYPE_LATEST)

    return routes
