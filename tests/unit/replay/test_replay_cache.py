"""What was decoded is kept: by everything that a decode depends on, for those alone who have the sound."""

import asyncio
import os
import signal
import subprocess
import sys
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
ASKED = (SOUND, EN_US, Decode.FINAL)
NAMES = ("send ten to amir", "send ten to jasbir")


class Ear:
    """Hears one sentence, and the last of the wordings in it; counts what it decodes."""

    decodes, score, unweighed = 0, -0.123456789012345, False
    fails: BaseException | None = None

    async def transcribe(
        self, samples: Samples, locale: Locale, decode: Decode, *, wordings: Wordings | None = None
    ) -> Transcript:
        self.decodes += 1
        if self.fails is not None:
            raise self.fails
        heard = Transcript("send ten", locale, (Hypothesis("send ten", self.score),), 0.1 + 0.2, decode_ms=31.0)
        others = wordings(heard) if wordings is not None and decode.final else ()
        return replace(heard, text=others[-1], named=True, unweighed=self.unweighed) if others else heard

    async def onward(self, samples: Samples, heard: Transcript) -> Onward | None:
        self.decodes += 1
        return Onward(-0.1, -2.0) if heard.text else None

    async def warm_up(self) -> None: ...

    async def close(self) -> None: ...


class Runs:
    """Runs over one folder, each some seconds after the one before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ear, self.clock = folder, Ear(), ManualClock(SystemClock().now())

    def begin(self, fingerprint: str = "f", *, anew: bool = False) -> CachingRecognizer:
        self.clock.advance(5)
        return CachingRecognizer(
            self.ear, fingerprint, CacheUse(self.folder, self.clock.now().timestamp(), anew), self.clock
        )

    async def decodes(self, *asked: object, names: tuple[str, ...] | None = NAMES, by: str = "f") -> int:
        """How often a run of its own decodes."""
        before, wordings = self.ear.decodes, None if names is None else lambda _: names
        await self.begin(by).transcribe(*asked, wordings=wordings)  # type: ignore[arg-type]
        return self.ear.decodes - before


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setattr(caching, "CHECKED", 1 << 70)
    return Runs(tmp_path / "heard")


async def test_each_part_of_what_is_asked_is_in_the_key(runs: Runs) -> None:
    nudged = SOUND.copy()
    nudged[-1] = np.nextafter(nudged[-1], np.float32(1))
    for sound in (SOUND, nudged, SOUND[:-1], np.append(SOUND, np.float32(0)), SOUND.astype(np.float64)):
        assert [await runs.decodes(sound, EN_US, Decode.FINAL) for _ in range(2)] == [1, 0]
    for locale, decode in ((EN_GB, Decode.FINAL), (EN_US, Decode.CONFIRMING), (EN_US, Decode.PARTIAL)):
        assert [await runs.decodes(SOUND, locale, decode) for _ in range(2)] == [1, 0]
    for names in (None, (), NAMES[:1], NAMES[::-1], (NAMES[0], "send ten to jasper")):
        assert [await runs.decodes(*ASKED, names=names) for _ in range(2)] == [1, 0]
    assert [await runs.decodes(*ASKED, by="g") for _ in range(2)] == [1, 0]
    assert await runs.decodes(*ASKED) == 0


async def test_what_is_kept_is_what_was_heard_and_by_an_earlier_run(runs: Runs) -> None:
    first = runs.begin()
    made = [await first.transcribe(*ASKED, wordings=lambda _: NAMES) for _ in range(2)]
    assert (runs.ear.decodes, first.hits) == (2, 0), "a run that goes on is measured as a whole one"
    asked: list[str] = []
    later = runs.begin()
    kept = await later.transcribe(*ASKED, wordings=lambda heard: asked.append(heard.text) or NAMES)  # type: ignore[func-returns-value]
    assert (kept, asked, later.hits, runs.ear.decodes) == (replace(made[0], decode_ms=0.0), ["send ten"], 1, 2)


@pytest.mark.parametrize("error", [Busy("full", retry_after_s=1), asyncio.CancelledError(), MemoryError(), None])
async def test_what_failed_is_not_kept(runs: Runs, error: BaseException | None) -> None:
    runs.ear.fails, runs.ear.unweighed = error, True
    with pytest.raises(type(error) if error else AssertionError):
        assert not await runs.decodes(*ASKED)
    runs.ear.fails, runs.ear.unweighed = None, False
    assert await runs.decodes(*ASKED) == 1


async def test_some_are_decoded_all_the_same_and_must_agree(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    await runs.decodes(*ASKED)
    monkeypatch.setattr(caching, "CHECKED", 1)
    runs.ear.score -= 1e-6  # a float's last bits
    assert await runs.decodes(*ASKED) == 1
    runs.ear.score = -0.9
    for _ in range(2):
        with pytest.raises(InternalFault, match="hear-anew"):
            await runs.decodes(*ASKED)
    await runs.begin(anew=True).transcribe(*ASKED, wordings=lambda _: NAMES)
    monkeypatch.setattr(caching, "CHECKED", 1 << 70)
    assert (await runs.begin().transcribe(*ASKED, wordings=lambda _: NAMES)).avg_logprob == -0.9


async def test_whether_one_goes_on_is_kept_where_it_was_told(runs: Runs) -> None:
    heard = Transcript("send ten", EN_US, (Hypothesis("send ten", -0.1),))
    counts = []
    for sound, said, by in [
        (SOUND, heard, "f"), (SOUND, replace(heard, decode_ms=9.0), "f"), (SOUND[1:], heard, "f"),
        (SOUND, replace(heard, locale=EN_GB), "f"), (SOUND, replace(heard, text="send"), "f"), (SOUND, heard, "g"),
        (SOUND, replace(heard, text=""), "f"), (SOUND, replace(heard, text=""), "f"),
    ]:  # fmt: skip
        before = runs.ear.decodes
        await runs.begin(by).onward(sound, said)
        counts.append(runs.ear.decodes - before)
    assert counts == [1, 0, 1, 1, 1, 1, 1, 1]


async def test_a_file_is_its_owners_and_opens_to_the_sound_alone(runs: Runs) -> None:
    await runs.decodes(*ASKED)
    (kept,) = runs.folder.rglob("*.sealed")
    assert [p.stat().st_mode & 0o777 for p in (kept, kept.parent, runs.folder)] == [0o600, 0o700, 0o700]
    whole = kept.read_bytes()
    assert b"send" not in whole
    other = TranscriptCache(runs.folder)._path(runs.begin()._digest(SOUND[1:], "transcribe", EN_US, "FINAL", True))
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(whole)
    assert await runs.decodes(SOUND[1:], EN_US, Decode.FINAL) == 1
    for torn in (b"", b"x" * 11, whole[:-1], whole[:40] + b"x" + whole[41:]):
        kept.write_bytes(torn)
        assert [await runs.decodes(*ASKED) for _ in range(2)] == [1, 0]


async def test_a_disk_that_takes_nothing_fails_nobody(runs: Runs) -> None:
    runs.folder.write_text("no folder")
    assert [await runs.decodes(*ASKED) for _ in range(2)] == [1, 1]


def test_the_longest_unused_go_and_what_is_not_ours_stays(tmp_path: Path) -> None:
    cache, now = TranscriptCache(tmp_path, most_bytes=40 * 4096), SystemClock().now().timestamp()
    (tmp_path / "ab").mkdir()
    theirs = [tmp_path / "notes.sealed", tmp_path / "ab" / "my.sealed", tmp_path / "ab" / ".hidden"]
    left = tmp_path / "ab" / f".{'a' * 32}"
    for path in (*theirs, left):
        path.write_bytes(b"x" * 9_000)
        os.utime(path, (1, 1))
    for i in range(60):
        cache.write(bytes([i]) * 32, b"x" * 1_000)
        os.utime(cache._path(bytes([i]) * 32), (1, now - 1_000 + i))
    assert cache.read(bytes(32))  # the oldest, and used just now
    cache.trim()
    held = [i for i in range(60) if cache.read(bytes([i]) * 32)]
    assert held == [0, *range(60 - len(held) + 1, 60)]
    assert 30 <= len(held) <= 40
    assert [path.exists() for path in (*theirs, left)] == [True, True, True, False]


def test_processes_that_write_at_once_and_are_killed_tear_nothing(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from app.qa.replay.cache.store import TranscriptCache\n"
        "cache = TranscriptCache(Path(sys.argv[1]))\n"
        "while True:\n for i in range(8): cache.write(bytes([i]) * 32, bytes([i]) * 20_000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    cache, sounds = TranscriptCache(tmp_path), range(8)
    while not all(cache.read(bytes([i]) * 32) for i in sounds):
        assert all(writer.poll() is None for writer in writers)
    for writer in writers:
        for _ in range(40):
            assert all(cache.read(bytes([i]) * 32) == bytes([i]) * 20_000 for i in sounds)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
