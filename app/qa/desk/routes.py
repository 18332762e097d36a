"""GET /v1/recordings and what hangs below: the desk, with the `qa` scope. It exists only while recordings are kept."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as InPath
from fastapi.responses import FileResponse, RedirectResponse, Response

from app.auth.principal import Principal, Scope
from app.bootstrap import Gateway
from app.composition.keys import audit_keys
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS, body_of
from app.qa.desk.desk import Desk
from app.qa.desk.shelf import RecordingShelf
from app.qa.desk.turns import MAX_PAGE
from app.qa.desk.wire import (
    AgreementOut,
    ChoicesOut,
    FailureOut,
    ListQuery,
    ReviewIn,
    ReviewOut,
    RowsOut,
    ShadowOut,
    TurnOut,
)
from app.transports.http import parsed
from schemas.errors import BadInput, MalformedMessage, NotFound, StoreUnavailable, TooLarge, WrongState

PAGE: Final = Path(__file__).parent / "static"
MAX_BODY: Final = 64 * 1024
"""Bytes of a review."""
FILES: Final = frozenset({"desk.js", "wave.js", "style.css"})
Who = Callable[[Request], Awaitable[str]]
"""Who asks, by their token."""
CallName = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
TurnNumber = Annotated[int, InPath(ge=1, le=999)]


@dataclass(frozen=True, slots=True)
class DeskDeps:
    """What the routes need. `authenticate` raises NotAllowed."""

    desk: Desk
    authenticate: Callable[[Request], Awaitable[Principal]]


def routes(gateway: Gateway) -> APIRouter:
    """The routes of a gateway, and the page; none where it keeps no recordings."""
    made = APIRouter()
    if gateway.settings.recording_days:
        shelf = RecordingShelf(gateway.settings.recordings, audit_keys(gateway.settings), gateway.clock)
        desk = Desk(shelf, gateway.audit, gateway.clock)
        made.include_router(router(DeskDeps(desk, gateway.authenticator.principal)))
        _add_page(made)
    return made


def router(deps: DeskDeps) -> APIRouter:
    """The routes."""

    async def qa(request: Request) -> str:
        principal = await deps.authenticate(request)
        principal.require(Scope.QA)
        return principal.subject

    routes = APIRouter(
        prefix="/v1/recordings",
        tags=["qa"],
        dependencies=[*CREDENTIALS],
        responses=documented(*IDENTITY, BadInput, StoreUnavailable),
    )
    _add_lists(routes, deps.desk, qa)
    _add_turns(routes, deps.desk, qa)
    _add_files(routes, deps.desk, qa)
    return routes


def _add_lists(routes: APIRouter, desk: Desk, qa: Who) -> None:
    who = Annotated[str, Depends(qa)]

    @routes.get("")
    async def listed(by: who, asked: Annotated[ListQuery, Query()]) -> RowsOut:
        """Recorded turns that fit, newest first; or with `sample`, so many of them, drawn by `seed`."""
        filters = asked.filters(by)
        page, shown = await desk.listed(by, filters, asked.sample or asked.limit, asked.after, asked.drawn)
        return RowsOut.of(page, shown)

    @routes.get("/choices")
    async def choices(_: who) -> ChoicesOut:
        """What a review may name."""
        return ChoicesOut.by_rules()

    @routes.get("/agreement")
    async def agreement(by: who) -> dict[str, AgreementOut]:
        """How far two people agree who reviewed the same turns, by field."""
        return {name: AgreementOut.of(found) for name, found in (await desk.agreement(by)).items()}

    @routes.get("/shadow")
    async def shadow(by: who, limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50) -> ShadowOut:
        """What another pipeline made otherwise of the same calls, side by side, newest first."""
        return ShadowOut.of(await desk.shadowed(by, limit), limit)

    @routes.get("/failures")
    async def failures(by: who) -> list[FailureOut]:
        """Why turns failed, by what people say of them, grouped; `failure` in a list asks for a group's turns."""
        return [FailureOut.of(group) for group in await desk.failures(by)]


def _add_turns(routes: APIRouter, desk: Desk, qa: Who) -> None:
    who = Annotated[str, Depends(qa)]

    @routes.get("/{call}/{turn}", responses=documented(NotFound, MalformedMessage))
    async def seen(call: CallName, turn: TurnNumber, by: who) -> TurnOut:
        """A recorded turn: what was said and concluded, and what people said of it."""
        return TurnOut.of(await desk.seen(by, call, turn))

    @routes.post(
        "/{call}/{turn}/reviews",
        status_code=201,
        openapi_extra=body_of(ReviewIn),
        responses=documented(NotFound, MalformedMessage, WrongState, TooLarge),
    )
    async def review(call: CallName, turn: TurnNumber, by: who, request: Request) -> ReviewOut:
        """Say what is right in a turn, or settle what two people disagree on. The token tells who says it."""
        given = parsed(ReviewIn, await _body(request))
        kept = await desk.review(by, call, turn, given.action, given.labels, given.note, given.seen)
        return ReviewOut.of(kept)


def _add_files(routes: APIRouter, desk: Desk, qa: Who) -> None:
    who = Annotated[str, Depends(qa)]
    gone = documented(NotFound, MalformedMessage)

    @routes.get("/{call}/{turn}/sound", response_class=Response, responses=gone | _file("audio/flac"))
    async def sound(call: CallName, turn: TurnNumber, by: who) -> Response:
        """A turn's sound as the recogniser heard it: FLAC, 16 kHz, mono."""
        return Response(await desk.heard(by, call, turn), media_type="audio/flac")

    @routes.get("/{call}/{turn}/case", response_class=Response, responses=gone | _file("application/zip"))
    async def case(
        call: CallName,
        turn: TurnNumber,
        by: who,
        personal: Annotated[bool, Query(description="also the caller's words, facts and voice, unsealed")] = False,
    ) -> Response:
        """The call up to a turn as a test for `tellerline replay`: a ZIP of a manifest that names the recording."""
        made = await desk.exported(by, call, turn, personal=personal)
        name = f'attachment; filename="{call}-{turn:02d}.zip"'
        return Response(made, media_type="application/zip", headers={"Content-Disposition": name})


def _add_page(routes: APIRouter) -> None:
    @routes.get("/desk", include_in_schema=False)
    async def desk() -> Response:
        return RedirectResponse("/desk/")

    @routes.get("/desk/", include_in_schema=False)
    async def index() -> Response:
        return FileResponse(PAGE / "index.html")

    @routes.get("/desk/{name}", include_in_schema=False)
    async def file(name: str) -> Response:
        if name not in FILES:
            raise NotFound("no such route")
        return FileResponse(PAGE / name)


def _file(kind: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}}


async def _body(request: Request) -> bytes:
    """Raises BadInput, TooLarge."""
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        raise BadInput("a review states its length")
    if int(length) > MAX_BODY:
        raise TooLarge(f"a review is at most {MAX_BODY} bytes")
    return await request.body()
