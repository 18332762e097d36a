"""A whole replay as one call: play, score, write the report, hold to a policy."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from app.client import reach
from app.qa.desk import exported
from app.qa.replay.cache.recognizer import CacheUse
from app.qa.replay.cache.store import TranscriptCache
from app.qa.replay.comparing import policy
from app.qa.replay.judging.score import score
from app.qa.replay.labelling.vocabulary import label_faults
from app.qa.replay.manifests import readers, remote
from app.qa.replay.manifests.manifest import Manifest, as_words
from app.qa.replay.playing.house import PipelineSpec
from app.qa.replay.playing.live import LiveSpec
from app.qa.replay.playing.run import PlayerSpec, Watcher, replay
from app.qa.replay.playing.run import Progress as Done
from app.qa.replay.records.journal import REPORT, SCORES, begun, read_run
from app.qa.replay.report.build import write_report
from app.qa.replay.report.summary import print_played, print_scores
from app.settings import read_settings
from schemas.errors import BadInput, MalformedMessage
from services.timing import SystemClock


@dataclass(frozen=True, slots=True)
class Request:
    """The options of `tellerline replay`. `jobs` 0 is one a core; `realtime` is a gateway's URL, or empty.

    `mirror` is where recordings are brought that lie elsewhere; without it they are not. `heard` is where transcripts
    are kept between runs; without it none are, nor on other machines.
    """

    manifest: Path
    out: Path
    jobs: int = 0
    fresh: bool = False
    realtime: str = ""
    token: str = ""
    policy: str = ""
    words: bool = False
    mirror: Path | None = None
    follow: bool = False
    on_ray: bool = False
    heard: Path | None = None
    hear_anew: bool = False


def execute(request: Request, console: Console | None = None) -> tuple[str, ...]:
    """Do it; the bounds of the policy that are broken, in words. Raises the errors of the tree."""
    shown = console or Console()
    with read(request) as (manifest, sound):
        return _played(request, manifest, sound, shown)


def _played(request: Request, manifest: Manifest, sound: Path, shown: Console) -> tuple[str, ...]:
    unknown = label_faults(manifest, elsewhere=bool(request.realtime))
    if unknown:
        raise MalformedMessage("; ".join(unknown))
    bounds = policy.policy_for(request.policy, manifest) if request.policy else None
    spec = _spec(request, manifest)
    jobs = 1 if request.realtime else request.jobs or os.cpu_count() or 1
    with _bar(shown) as watch:
        replay(
            manifest,
            spec,
            request.out,
            jobs=jobs,
            fresh=request.fresh,
            watch=watch,
            corpus=request.manifest.resolve().name,
            on_ray=request.on_ray,
        )
    run = read_run(request.out)
    scores = score(run.results)
    (request.out / SCORES).write_bytes(orjson.dumps(scores, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    write_report(request.out / REPORT, run, sound, scores)
    print_scores(scores, shown)
    print_played(run, shown)
    shown.print(f"report: {request.out / REPORT}")
    broken = bounds.broken(scores, manifest) if bounds else ()
    if bounds and broken == (unmeasured := bounds.unmeasured(scores),):
        raise BadInput(f"policy {request.policy}: {unmeasured}")
    return broken


@contextmanager
def read(request: Request) -> Iterator[tuple[Manifest, Path]]:
    """The manifest as it is played, with what it needs from elsewhere, and the folder of what its report may play.

    Sealed recordings are open while they are played, and no longer: their report has no sound.
    """
    path, mirror = request.manifest, request.mirror
    if mirror is not None and (sealed := exported.references(path)):
        request.out.mkdir(parents=True, exist_ok=True, mode=0o700)
        with exported.unsealed(sealed, read_settings()) as manifest:
            yield as_words(manifest) if request.words else manifest, request.out / "no sound"
        return
    manifest = readers.load(path if mirror is None else remote.brought(path, mirror))
    if request.words:
        manifest = as_words(manifest)
    manifest = manifest if mirror is None else remote.with_sound(manifest, path, mirror)
    yield manifest, manifest.base


def _spec(request: Request, manifest: Manifest) -> PlayerSpec:
    if request.realtime:
        return LiveSpec(request.realtime, request.token, **reach(request.realtime))
    settings = read_settings()
    if request.on_ray:
        settings = settings.for_other_machines()
    cache = None
    if request.heard is not None and not request.on_ray:
        began = begun(request.out, SystemClock().now(), fresh=request.fresh)
        cache = CacheUse(request.heard.resolve(), began.timestamp(), request.hear_anew)
        TranscriptCache(cache.folder).trim()
    return PipelineSpec.of(settings, manifest, follow=request.follow, cache=cache)


@contextmanager
def _bar(console: Console) -> Iterator[Watcher]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("replaying", total=None, speed="")

        def watch(done: Done) -> None:
            elapsed = progress.tasks[task].elapsed or 0.0
            speed = f"{done.audio_s / elapsed:.0f}× real time" if elapsed and done.audio_s else ""
            progress.update(task, completed=done.done, total=done.cases, speed=speed)

        yield watch
