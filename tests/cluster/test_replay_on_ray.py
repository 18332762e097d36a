"""A manifest that is spread over a cluster: the records of the local run, one of each utterance, whatever dies."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import orjson
import pytest

ray = pytest.importorskip("ray", reason="Ray is an extra: `make test-ray`")

from app.cluster.own import own_ray  # noqa: E402 - after it is known to be there
from app.cluster.spread import SpreadWork  # noqa: E402
from app.qa.replay.manifests.manifest import Case, CaseTurn, Manifest  # noqa: E402
from app.qa.replay.playing import run  # noqa: E402
from app.qa.replay.playing.house import PipelineSpec  # noqa: E402
from app.qa.replay.playing.run import replay  # noqa: E402
from app.qa.replay.records.journal import DECISIONS, JOURNAL  # noqa: E402
from app.settings import read_settings  # noqa: E402
from schemas.errors import BadInput, InternalFault, RecognizerUnavailable  # noqa: E402

pytestmark = [pytest.mark.timeout(300), pytest.mark.filterwarnings("default")]
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # Ray's processes know nothing of tests
SOUND = Path(__file__).parents[1] / "audio"
SAID = ("what's my balance", "send forty dollars to catherine nguyen", "lock my card", "pay the electricity bill")


@pytest.fixture(scope="module", autouse=True)
def one_cluster() -> Iterator[None]:
    """What everything here is spread over."""
    with own_ray(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.cluster.spread.ray_here", lambda _: nullcontext())
        yield


def manifest(count: int, sound: bool = False) -> Manifest:
    turns = [CaseTurn(text=SAID[n % len(SAID)]) for n in range(count)]
    turns += [CaseTurn(audio="balance.opus"), CaseTurn(audio="none.opus")] if sound else []
    cases = tuple(Case(id=f"{n}", locale="en-US", turns=(turn,)) for n, turn in enumerate(turns))
    return Manifest(base=SOUND, cases=cases)


def played(found: Manifest, out: Path, *, on_ray: bool) -> bytes:
    spec = PipelineSpec.of(read_settings().for_other_machines(), found)
    replay(found, spec, out, jobs=2 if on_ray else 1, on_ray=on_ray)
    return (out / DECISIONS).read_bytes()


def test_records_are_those_of_the_local_run_wherever_it_goes_on(tmp_path: Path) -> None:
    found = manifest(8, sound=True)
    local = played(found, tmp_path / "here", on_ray=False)
    assert played(found, tmp_path / "ray", on_ray=True) == local
    journal = tmp_path / "ray" / JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True)
    assert sorted(orjson.loads(line)["case"] for line in lines) == sorted(case.id for case in found.cases)
    journal.write_bytes(b"".join(lines[:4]) + lines[4][:20])
    assert played(found, tmp_path / "ray", on_ray=True) == local
    assert len(journal.read_bytes().splitlines()) == len(found.cases)


class Mortal:
    """Doubles; dies at a piece as often as the folder says, and says no to another."""

    def __init__(self, folder: Path, deaths: int) -> None:
        self.folder, self.deaths = folder, deaths

    def work(self, piece: int) -> int:
        if piece == -1:
            raise BadInput("not this one")
        with (self.folder / str(piece)).open("ab") as begun:
            begun.write(b".")
            begun.flush()
            if piece == 5 and begun.tell() <= self.deaths:
                os.kill(os.getpid(), signal.SIGKILL)
        return 2 * piece


def test_a_worker_that_dies_takes_no_piece_along(tmp_path: Path) -> None:
    made = sorted(SpreadWork(partial(Mortal, tmp_path, 1), 2).done(range(40)))
    assert made == [(piece, 2 * piece) for piece in range(40)]


def test_a_piece_that_kills_every_worker_ends_it(tmp_path: Path) -> None:
    with pytest.raises(InternalFault, match="died"):
        list(SpreadWork(partial(Mortal, tmp_path, 99), 2).done(range(40)))


def test_what_a_worker_raises_is_raised(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="not this one"):
        list(SpreadWork(partial(Mortal, tmp_path, 0), 1).done([1, -1]))


def test_a_pipeline_that_can_not_be_composed_says_why(tmp_path: Path) -> None:
    found = manifest(0, sound=True)
    settings = read_settings().for_other_machines().model_copy(update={"asr_model": str(tmp_path / "none")})
    with pytest.raises(RecognizerUnavailable, match="does not load"):
        list(run._on_ray(found.cases, found.base, PipelineSpec.of(settings, found), 1))
