"""POST /v1/replays and its results: for QA's own tools, with the `qa` scope."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import FileResponse, Response
from starlette.datastructures import UploadFile

from app.auth.principal import Principal, Scope
from app.bootstrap import Gateway
from app.errors import IDENTITY, documented
from app.openapi import CREDENTIALS
from app.qa.replay.jobs import MAX_FILES, Job, JobState, ReplayJobs
from app.qa.replay.records.journal import DECISIONS, REPORT, SCORES, TIMINGS
from app.transports.uploads import Room
from schemas.errors import BadInput, Busy, NotFound, StoreUnavailable, TooLarge, WrongState
from services.disk import on_disk
from services.timing import ANSWER_S

MAX_BYTES: Final = 128 * 1024 * 1024
"""Of one submission, recordings and all; and of those that come in at the same time."""
_HEADERS: Final = {
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class ReplayDeps:
    """What the routes need. `authenticate` raises NotAllowed."""

    jobs: ReplayJobs
    authenticate: Callable[[Request], Awaitable[Principal]]


def routes(gateway: Gateway) -> APIRouter:
    """The routes of a gateway, whose jobs lie in its state folder."""
    jobs = ReplayJobs(gateway.settings.state_dir / "replays", gateway.clock)
    return router(ReplayDeps(jobs, gateway.authenticator.principal))


def router(deps: ReplayDeps) -> APIRouter:
    """The routes; the queue is worked off as long as the application lives."""

    async def qa(request: Request) -> Principal:
        principal = await deps.authenticate(request)
        principal.require(Scope.QA)
        return principal

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        working = asyncio.create_task(deps.jobs.work())
        yield
        working.cancel()
        await asyncio.wait({working})

    routes = APIRouter(
        prefix="/v1/replays",
        tags=["qa"],
        lifespan=lifespan,
        dependencies=[*CREDENTIALS],
        responses=documented(*IDENTITY, StoreUnavailable),
    )
    _add_jobs(routes, deps, qa)
    _add_results(routes, deps, qa)
    return routes


def _add_jobs(routes: APIRouter, deps: ReplayDeps, qa: Callable[[Request], Awaitable[Principal]]) -> None:
    allowed = Annotated[Principal, Depends(qa)]
    room = Room(MAX_BYTES)

    @routes.post("", status_code=202, openapi_extra=_BODY, responses=documented(BadInput, TooLarge, Busy))
    async def submit(request: Request, response: Response, who: allowed) -> Job:
        """Queue a replay: a multipart form with `manifest` (JSONL or CSV) and the recordings it names as `files`."""
        with room.held(_length(request)):
            manifest, files = await _files(request)
            job = await on_disk.run(None, deps.jobs.submit, who.subject, manifest, files)
        deps.jobs.wake()
        response.headers["Location"] = f"/v1/replays/{job.id}"
        return job

    @routes.get("")
    async def listed(_: allowed) -> list[Job]:
        """All jobs, oldest first."""
        return await on_disk.run(ANSWER_S, deps.jobs.all)

    @routes.get("/{job}", responses=documented(NotFound))
    async def status(job: str, _: allowed) -> dict[str, Any]:
        """A job, and its scores once it is done."""
        return await on_disk.run(ANSWER_S, _with_scores, deps.jobs, job)

    @routes.delete("/{job}", status_code=204, responses=documented(NotFound, WrongState))
    async def remove(job: str, _: allowed) -> None:
        """Forget a job that is not running."""
        await on_disk.run(ANSWER_S, deps.jobs.remove, job)


def _with_scores(jobs: ReplayJobs, job: str) -> dict[str, Any]:
    found = jobs.get(job)
    body = found.model_dump(mode="json")
    if found.state is JobState.DONE:
        body["scores"] = orjson.loads(jobs.result(job, SCORES).read_bytes())
    return body


def _add_results(routes: APIRouter, deps: ReplayDeps, qa: Callable[[Request], Awaitable[Principal]]) -> None:
    guarded, unfinished = [Depends(qa)], documented(NotFound, WrongState)

    async def result(job: str, name: str, kind: str) -> FileResponse:
        found = await on_disk.run(ANSWER_S, deps.jobs.result, job, name)
        return FileResponse(found, media_type=kind, headers=_HEADERS)

    @routes.get("/{job}/report", response_class=FileResponse, dependencies=guarded, responses=unfinished)
    async def report(job: str) -> FileResponse:
        """The report, one HTML file."""
        return await result(job, REPORT, "text/html; charset=utf-8")

    @routes.get("/{job}/decisions", response_class=FileResponse, dependencies=guarded, responses=unfinished)
    async def decisions(job: str) -> FileResponse:
        """What was decided, a JSON line a turn."""
        return await result(job, DECISIONS, "application/x-ndjson")

    @routes.get("/{job}/timings", response_class=FileResponse, dependencies=guarded, responses=unfinished)
    async def timings(job: str) -> FileResponse:
        """How long it took, a JSON line a turn."""
        return await result(job, TIMINGS, "application/x-ndjson")


_FORM: Final = {
    "type": "object",
    "required": ["manifest"],
    "properties": {
        "manifest": {"type": "string", "format": "binary", "description": "manifest.jsonl or manifest.csv"},
        "files": {"type": "array", "maxItems": MAX_FILES, "items": {"type": "string", "format": "binary"}},
    },
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}
}


def _length(request: Request) -> int:
    """What it says of itself. Raises BadInput, TooLarge."""
    length = request.headers.get("content-length", "")
    if not length.isdigit():
        raise BadInput("a submission states its length")
    if int(length) > MAX_BYTES:
        raise TooLarge(f"a submission is at most {MAX_BYTES} bytes")
    return int(length)


async def _files(request: Request) -> tuple[str, dict[str, bytes]]:
    """The manifest's name and every file's bytes, by name. Raises BadInput."""
    async with request.form(max_files=MAX_FILES + 1, max_fields=8) as form:
        manifest, uploads = form.get("manifest"), form.getlist("files")
        if not isinstance(manifest, UploadFile):
            raise BadInput("a submission has a file called manifest")
        name = "manifest.csv" if (manifest.filename or "").endswith(".csv") else "manifest.jsonl"
        files = {name: await manifest.read()}
        for upload in uploads:
            if not isinstance(upload, UploadFile) or not upload.filename or upload.filename in files:
                raise BadInput("every recording is a file with a name of its own")
            files[upload.filename] = await upload.read()
    return name, files
