"""POST /v1/replays: submit, poll, fetch; refused without the scope; bounded; taken up again after a restart."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI, Request

from app import errors
from app.auth.principal import Principal, Scope
from app.qa.replay import jobs as replay_jobs
from app.qa.replay.jobs import JobState, ReplayJobs
from app.qa.replay.manifests.readers import load
from app.qa.replay.playing.run import replay
from app.qa.replay.records.journal import REPORT, SCORES
from app.qa.replay.report.build import write_report
from app.qa.replays import ReplayDeps, router
from schemas.errors import BadInput, Busy, NotFound, Unauthenticated, WrongState
from services.observability.metrics import Metrics
from services.timing.clock import ManualClock, SystemClock
from tests.replay.fakes import FakeSpec

LINE = {"id": "a", "locale": "en-US", "text": "hi", "expect": {"intent": "deny"}}
MANIFEST = json.dumps(LINE).encode()


async def authenticate(request: Request) -> Principal:
    scopes = {"qa": frozenset({Scope.QA}), "caller": frozenset({Scope.CALL})}
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token not in scopes:
        raise Unauthenticated("no credential")
    return Principal("tester", None, scopes[token])


async def in_process(manifest: Path, out: Path) -> int:
    """What `tellerline replay` does, with a player that needs no models."""
    results = await asyncio.to_thread(replay, load(manifest), FakeSpec(out / "log"), out)
    from app.qa.replay.records.journal import read_run

    write_report(out / REPORT, read_run(out), manifest.parent)
    (out / SCORES).write_text(json.dumps({"turns": len(results)}))
    return 0


@pytest.fixture
def jobs(tmp_path: Path) -> ReplayJobs:
    return ReplayJobs(tmp_path / "replays", ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), in_process)


@pytest.fixture
async def client(jobs: ReplayJobs) -> AsyncIterator[httpx.AsyncClient]:
    app = FastAPI()
    errors.install(app, Metrics())
    app.include_router(router(ReplayDeps(jobs, authenticate)))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://t") as open_client,
    ):
        open_client.headers["authorization"] = "Bearer qa"
        yield open_client


async def finished(client: httpx.AsyncClient, job: str) -> dict[str, object]:
    for _ in range(200):
        body: dict[str, object] = (await client.get(f"/v1/replays/{job}")).json()
        if body["state"] in {"done", "failed"}:
            return body
        await asyncio.sleep(0.02)
    raise AssertionError("the job does not end")


async def test_submit_poll_fetch(client: httpx.AsyncClient, jobs: ReplayJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    touching = set[threading.Thread]()
    for name in ("_read", "_write"):
        touch = getattr(jobs, name)
        monkeypatch.setattr(
            jobs, name, lambda *of, touch=touch: (touching.add(threading.current_thread()), touch(*of))[1]
        )
    answer = await client.post("/v1/replays", files={"manifest": ("manifest.jsonl", MANIFEST)})
    assert answer.status_code == 202
    job = answer.json()["id"]
    assert answer.headers["location"] == f"/v1/replays/{job}"
    body = await finished(client, job)
    assert (body["state"], body["cases"], body["done"]) == ("done", 1, 1)
    assert body["scores"] == {"turns": 1}
    report = await client.get(f"/v1/replays/{job}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "<!doctype html>" in report.text
    decisions = (await client.get(f"/v1/replays/{job}/decisions")).text.splitlines()
    assert json.loads(decisions[0])["case"] == "a"
    assert [j["id"] for j in (await client.get("/v1/replays")).json()] == [job]
    assert (await client.delete(f"/v1/replays/{job}")).status_code == 204
    assert (await client.get(f"/v1/replays/{job}")).status_code == 404
    assert touching
    assert threading.main_thread() not in touching, "calls wait for the state folder"


@pytest.mark.parametrize(("token", "status"), [("", 401), ("caller", 403)])
@pytest.mark.parametrize("path", ["", "/x", "/x/report", "/x/decisions", "/x/timings"])
async def test_nothing_without_the_scope(client: httpx.AsyncClient, token: str, status: int, path: str) -> None:
    headers = {"authorization": f"Bearer {token}"}
    assert (await client.get(f"/v1/replays{path}", headers=headers)).status_code == status
    posted = await client.post("/v1/replays", files={"manifest": MANIFEST}, headers=headers)
    assert posted.status_code == status


@pytest.mark.parametrize(
    "line",
    [
        {"id": "a", "locale": "en-US", "audio": "/etc/passwd"},
        {"id": "a", "locale": "en-US", "audio": "../job.json"},
        {"id": "a", "locale": "en-US", "audio": "absent.wav"},
        {"id": "a", "locale": "en-US"},
    ],
)
async def test_a_manifest_reaches_only_its_own_files(client: httpx.AsyncClient, jobs: ReplayJobs, line: object) -> None:
    answer = await client.post("/v1/replays", files={"manifest": json.dumps(line).encode()})
    assert answer.status_code == 400
    assert jobs.all() == []


@pytest.mark.parametrize("name", ["../x.wav", "/x.wav", "x.py", "a\\b.wav", "manifest.jsonl"])
async def test_odd_file_names_are_refused(client: httpx.AsyncClient, jobs: ReplayJobs, name: str) -> None:
    files = [("manifest", ("m.jsonl", MANIFEST)), ("files", (name, b"x"))]
    assert (await client.post("/v1/replays", files=files)).status_code == 400
    assert jobs.all() == []


async def test_submissions_at_once_have_a_bound(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(_: Request) -> object:
        await asyncio.sleep(60)
        return None

    monkeypatch.setattr("app.qa.replays._files", never)
    large = {"content-length": str(100 * 1024 * 1024)}
    coming = asyncio.create_task(client.post("/v1/replays", headers=large))
    await asyncio.sleep(0.1)
    assert (await client.post("/v1/replays", headers=large)).status_code == 503
    coming.cancel()
    await asyncio.gather(coming, return_exceptions=True)


async def test_no_manifest(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/replays", data={"manifest": "words"})).status_code == 400


async def test_ids_lead_nowhere_else(client: httpx.AsyncClient) -> None:
    for job in ("..", "%2e%2e", "a/b", "none"):
        assert (await client.get(f"/v1/replays/{job}")).status_code == 404


def test_the_queue_is_bounded(jobs: ReplayJobs) -> None:
    for _ in range(replay_jobs.MAX_WAITING):
        jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST})
    with pytest.raises(Busy) as full:
        jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST})
    assert full.value.retry_after_s


async def run_until(jobs: ReplayJobs, done: Callable[[], bool], looks: int = 200) -> None:
    worker = asyncio.create_task(jobs.work())
    for _ in range(looks):
        if done():
            break
        await asyncio.sleep(0.01)
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)


async def test_a_restarted_gateway_goes_on(tmp_path: Path, jobs: ReplayJobs) -> None:
    first = jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST})
    stuck = asyncio.Event()

    def hanging() -> Callable[[Path, Path], Awaitable[int]]:
        async def play(_manifest: Path, _out: Path) -> int:
            stuck.set()
            await asyncio.Event().wait()
            return 0

        return play

    clock = ManualClock(datetime(2026, 1, 15, 1, tzinfo=UTC))
    dying = ReplayJobs(tmp_path / "replays", clock, hanging())
    await run_until(dying, stuck.is_set)
    assert dying.get(first.id).state is JobState.RUNNING
    again = ReplayJobs(tmp_path / "replays", clock, in_process)
    await run_until(again, lambda: again.get(first.id).state is JobState.DONE)
    assert again.result(first.id, REPORT).is_file()


async def test_a_job_that_can_not_be_read_or_begun_keeps_no_other_waiting(tmp_path: Path, jobs: ReplayJobs) -> None:
    torn, stuck, sound = (jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST}) for _ in range(3))
    (tmp_path / "replays" / torn.id / "job.json").write_bytes(b"")
    (tmp_path / "replays" / stuck.id / "out").write_bytes(b"")
    await run_until(jobs, lambda: jobs.get(sound.id).state is JobState.DONE)
    assert [(job.id, job.state) for job in jobs.all()] == [(stuck.id, JobState.QUEUED), (sound.id, JobState.DONE)]


async def test_a_job_is_one_gateways_until_it_ends(tmp_path: Path, jobs: ReplayJobs) -> None:
    """Another one of the same state folder neither plays it too, nor has it removed, nor calls it failed."""
    job, clock = jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST}), SystemClock()
    began, plays, ends = list[str](), asyncio.Event(), asyncio.Event()

    def gateway(name: str) -> ReplayJobs:
        async def play(_manifest: Path, _out: Path) -> int:
            began.append(name)
            plays.set()
            await ends.wait()
            return 3

        return ReplayJobs(tmp_path / "replays", clock, play)

    one, other = gateway("one"), gateway("other")
    async with asyncio.timeout(9), asyncio.TaskGroup() as group:
        group.create_task(run_until(one, lambda: one.get(job.id).state is JobState.FAILED))
        await plays.wait()
        await run_until(other, lambda: len(began) > 1 or other.get(job.id).state is not JobState.RUNNING, 20)
        with pytest.raises(WrongState):
            other.remove(job.id)
        ends.set()
    assert began == ["one"]
    other.remove(job.id)
    assert not one.all()


async def test_a_run_that_fails_says_so(tmp_path: Path) -> None:
    async def broken(_manifest: Path, _out: Path) -> int:
        return 3

    jobs = ReplayJobs(tmp_path / "r", ManualClock(datetime(2026, 1, 15, tzinfo=UTC)), broken)
    job = jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST})
    with pytest.raises(WrongState):
        jobs.result(job.id, REPORT)
    await run_until(jobs, lambda: jobs.get(job.id).state is JobState.FAILED)
    assert jobs.get(job.id).reason == "exit status 3"
    jobs.remove(job.id)
    with pytest.raises(NotFound):
        jobs.get(job.id)


def test_old_jobs_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_jobs, "MAX_KEPT", 2)
    clock = ManualClock(datetime(2026, 1, 15, tzinfo=UTC))
    jobs = ReplayJobs(tmp_path / "r", clock)
    ids = []
    for _ in range(4):
        clock.advance(1)
        job = jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST})
        (tmp_path / "r" / job.id / "job.json").write_text(
            job.model_copy(update={"state": JobState.DONE}).model_dump_json()
        )
        ids.append(job.id)
    assert [job.id for job in jobs.all()] == ids[-2:]


def test_a_file_too_many_is_refused(jobs: ReplayJobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_jobs, "MAX_FILES", 1)
    with pytest.raises(BadInput):
        jobs.submit("t", "manifest.jsonl", {"manifest.jsonl": MANIFEST, "a.wav": b""})
