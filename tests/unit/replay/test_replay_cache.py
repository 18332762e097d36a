"""What was decoded is kept: by everything that a decode depends on, for those alone who have the sound."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.qa.replay.cache import recognizer as caching
from app.qa.replay.cache.recognizer import CacheUse, CachingRecognizer
from app.qa.replay.cache.store import TranscriptCache
from schemas.audio import Samples
from schemas.errors import Busy, InternalFault
from schemas.ids import EN_GB, EN_US, Locale
from schemas.transcript import Decode, Hypothesis, Onward, Transcript, Wordings
from services.timing import ManualClock, SystemClock

SOUND = np.random.default_rng(3).normal(0, 0.1, 16_000).astype(np.float32)
NAMES = ("send ten to amir", "send ten to jasbir")


class Ear:
    """Hears one sentence, and the last of the wordings in it; counts what it decodes."""

    def __init__(self) -> None:
        self.decodes = 0
        self.score = -0.123456789012345
        self.fails: BaseException | None = None
        self.unweighed = False

    async def transcribe(
        self, samples: Samples, locale: Locale, decode: Decode, *, wordings: Wordings | None = None
    ) -> Transcript:
        self.decodes += 1
        if self.fails is not None:
            raise self.fails
        text = f"send ten to {len(samples)}"
        heard = Transcript(text, locale, (Hypothesis(text, self.score),), 0.1 + 0.2, decode_ms=31.0)
        others = wordings(heard) if wordings is not None and decode.final else ()
        if not others:
            return heard
        told = replace(heard, text=others[-1], hypotheses=(Hypothesis(others[-1], -0.5), *heard.hypotheses), named=True)
        return replace(told, unweighed=self.unweighed)

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        self.decodes += 1
        return Onward(-0.1, -2.0) if heard.text else None

    async def warm_up(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture(autouse=True)
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching, "CHECKED", 1 << 62)


class Runs:
    """Runs over one folder, each some seconds after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ear, self.clock = folder, Ear(), ManualClock(SystemClock().now())

    def begin(self, fingerprint: str = "f", *, anew: bool = False) -> CachingRecognizer:
        self.clock.advance(5)
        use = CacheUse(self.folder, self.clock.now().timestamp(), anew)
        return CachingRecognizer(self.ear, fingerprint, use, self.clock)

    async def decoded(self, run: CachingRecognizer, *asked: object, wordings: Wordings | None = None) -> int:
        """How often it was decoded."""
        before = self.ear.decodes
        await run.transcribe(*asked, wordings=wordings)  # type: ignore[arg-type]
        return self.ear.decodes - before


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "heard")


def told(*names: str) -> Wordings:
    return lambda _: names


ASKED = (SOUND, EN_US, Decode.FINAL)


async def test_another_run_decodes_nothing_and_hears_the_same(runs: Runs) -> None:
    made = await runs.begin().transcribe(*ASKED, wordings=told(*NAMES))
    later = runs.begin()
    kept = await later.transcribe(*ASKED, wordings=told(*NAMES))
    assert (kept, later.hits, runs.ear.decodes) == (replace(made, decode_ms=0.0), 1, 1)
    assert kept.hypotheses[1].avg_logprob == runs.ear.score
    assert not kept.decode_ms


async def test_each_part_of_what_is_asked_is_in_the_key(runs: Runs) -> None:
    await runs.begin().transcribe(*ASKED, wordings=told(*NAMES))
    louder, nudged = SOUND * 2, SOUND.copy()
    nudged[-1] = np.nextafter(nudged[-1], np.float32(1))
    names = told(*NAMES)
    for asked, wordings, fingerprint in [
        ((louder, EN_US, Decode.FINAL), names, "f"),
        ((nudged, EN_US, Decode.FINAL), names, "f"),
        ((SOUND[:-1], EN_US, Decode.FINAL), names, "f"),
        ((np.append(SOUND, np.float32(0)), EN_US, Decode.FINAL), names, "f"),
        ((SOUND.astype(np.float64), EN_US, Decode.FINAL), names, "f"),
        ((SOUND, EN_GB, Decode.FINAL), names, "f"),
        ((SOUND, EN_US, Decode.CONFIRMING), names, "f"),
        ((SOUND, EN_US, Decode.PARTIAL), names, "f"),
        (ASKED, None, "f"),
        (ASKED, told(), "f"),
        (ASKED, told(*NAMES[:1]), "f"),
        (ASKED, told(*reversed(NAMES)), "f"),
        (ASKED, told(NAMES[0], "send ten to jasper"), "f"),
        (ASKED, told(*NAMES), "g"),
    ]:
        assert await runs.decoded(runs.begin(fingerprint), *asked, wordings=wordings) == 1, (asked[1:], fingerprint)
        assert await runs.decoded(runs.begin(fingerprint), *asked, wordings=wordings) == 0, (asked[1:], fingerprint)
    assert await runs.decoded(runs.begin(), *ASKED, wordings=names) == 0, "other wordings put nothing out of the way"


async def test_wordings_are_asked_for_what_was_heard_then(runs: Runs) -> None:
    asked: list[str] = []

    def wordings(heard: Transcript) -> tuple[str, ...]:
        asked.append(heard.text)
        return NAMES

    for _ in range(2):
        await runs.begin().transcribe(*ASKED, wordings=wordings)
    assert asked == ["send ten to 16000"] * 2


async def test_a_run_takes_nothing_that_it_heard_itself(runs: Runs) -> None:
    """Stopped, gone on with, or with one sound in two calls: it is measured as if nothing had been."""
    first = runs.begin()
    assert [await runs.decoded(first, *ASKED) for _ in range(3)] == [1, 1, 1]
    assert await runs.decoded(runs.begin(), *ASKED) == 0


async def test_hearing_anew_decodes_all_and_puts_right_what_was_kept(runs: Runs) -> None:
    await runs.begin().transcribe(*ASKED)
    runs.ear.score = -0.9
    assert await runs.decoded(runs.begin(anew=True), *ASKED) == 1
    assert (await runs.begin().transcribe(*ASKED)).avg_logprob == -0.9


@pytest.mark.parametrize("error", [Busy("full", retry_after_s=1), asyncio.CancelledError(), MemoryError()])
async def test_what_failed_is_not_kept(runs: Runs, error: BaseException) -> None:
    runs.ear.fails = error
    with pytest.raises(type(error)):
        await runs.begin().transcribe(*ASKED)
    runs.ear.fails = None
    assert await runs.decoded(runs.begin(), *ASKED) == 1


async def test_names_whose_weighing_failed_are_not_kept(runs: Runs) -> None:
    runs.ear.unweighed = True
    await runs.begin().transcribe(*ASKED, wordings=told(*NAMES))
    runs.ear.unweighed = False
    assert await runs.decoded(runs.begin(), *ASKED, wordings=told(*NAMES)) == 1


async def test_some_are_decoded_all_the_same_and_must_agree(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    await runs.begin().transcribe(*ASKED)
    monkeypatch.setattr(caching, "CHECKED", 1)
    checking = runs.begin()
    assert (await runs.decoded(checking, *ASKED), checking.hits) == (1, 0)
    runs.ear.score -= 1e-6  # a float's last bits
    assert await runs.decoded(runs.begin(), *ASKED) == 1
    runs.ear.score = -0.9
    for _ in range(2):  # until all of it is heard anew
        with pytest.raises(InternalFault, match="hear-anew"):
            await runs.begin().transcribe(*ASKED)


async def test_whether_one_goes_on_is_kept_where_it_was_told(runs: Runs) -> None:
    heard = Transcript("send ten", EN_US, (Hypothesis("send ten", -0.1),))

    async def decodes(sound: Samples, said: Transcript, fingerprint: str = "f") -> int:
        before = runs.ear.decodes
        await runs.begin(fingerprint).onward(sound, said)
        return runs.ear.decodes - before

    assert [await decodes(SOUND, heard) for _ in range(2)] == [1, 0]
    assert await decodes(SOUND, replace(heard, decode_ms=9.0)) == 0
    assert await decodes(SOUND[1:], heard) == 1
    assert await decodes(SOUND, replace(heard, locale=EN_GB)) == 1
    assert await decodes(SOUND, replace(heard, text="send")) == 1
    assert await decodes(SOUND, heard, "g") == 1
    assert [await decodes(SOUND, replace(heard, text="")) for _ in range(2)] == [1, 1]


async def test_a_file_is_its_owners_and_opens_to_the_sound_alone(runs: Runs) -> None:
    await runs.begin().transcribe(*ASKED, wordings=told(*NAMES))
    (kept,) = (path for path in runs.folder.rglob("*") if path.is_file())
    assert kept.stat().st_mode & 0o777 == 0o600
    assert {p.stat().st_mode & 0o777 for p in (kept.parent, runs.folder)} == {0o700}
    assert b"send" not in kept.read_bytes()
    other = TranscriptCache(runs.folder)._path(runs.begin()._digest(SOUND[1:], "transcribe", EN_US, "FINAL", True))
    other.parent.mkdir(exist_ok=True)
    kept.rename(other)
    assert await runs.decoded(runs.begin(), SOUND[1:], EN_US, Decode.FINAL, wordings=told(*NAMES)) == 1


@pytest.mark.parametrize("data", [b"", b"x" * 11, b"x" * 500, None])
async def test_what_is_torn_or_changed_is_heard_again(runs: Runs, data: bytes | None) -> None:
    await runs.begin().transcribe(*ASKED)
    (kept,) = runs.folder.rglob("*.sealed")
    kept.write_bytes(kept.read_bytes()[:-1] if data is None else data)
    assert [await runs.decoded(runs.begin(), *ASKED) for _ in range(2)] == [1, 0]


async def test_a_disk_that_takes_nothing_fails_nobody(runs: Runs) -> None:
    runs.folder.write_text("no folder")
    assert [await runs.decoded(runs.begin(), *ASKED) for _ in range(2)] == [1, 1]


def test_the_longest_unused_go_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    cache = TranscriptCache(tmp_path, most_bytes=40 * 4096)
    digests = [bytes([i]) * 32 for i in range(60)]
    (tmp_path / "ab").mkdir()
    theirs = [tmp_path / "notes.sealed", tmp_path / "ab" / "my.sealed", tmp_path / "ab" / ".hidden"]
    for path in theirs:
        path.write_bytes(b"x" * 9_000)
    for age, digest in enumerate(digests):
        cache.write(digest, b"x" * 1_000)
        at = SystemClock().now().timestamp() - 10_000 + age
        os.utime(cache._path(digest), (at, at))
    assert cache.read(digests[0])  # the oldest, and used just now
    left = cache._path(digests[0]).with_name("." + "a" * 32)
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    cache.trim()
    held = [cache.read(digest) is not None for digest in digests]
    assert held[0]
    assert held[1:] == sorted(held)[: len(held) - 1]
    assert 30 <= sum(held) <= 40
    assert all(path.exists() for path in theirs)
    assert not left.exists()


def test_processes_that_write_at_once_and_are_killed_tear_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from app.qa.replay.cache.store import TranscriptCache\n"
        "cache = TranscriptCache(Path(sys.argv[1])); print('on', flush=True)\n"
        "while True:\n for i in range(8): cache.write(bytes([i]) * 32, bytes([i]) * 20_000)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    cache, whole = TranscriptCache(tmp_path), [{None, bytes([i]) * 20_000} for i in range(8)]
    with ExitStack() as all_of_them:
        writers = [all_of_them.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE)) for _ in range(3)]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        for writer in writers:
            for _ in range(40):
                assert all(cache.read(bytes([i]) * 32) in whole[i] for i in range(8))
            writer.send_signal(signal.SIGKILL)
    assert all(cache.read(bytes([i]) * 32) for i in range(8))
