"""Files that cost more than they show: each is refused or read in bounded time and memory, and the decoders live on."""

import asyncio
import io
import os
import signal
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import av
import numpy as np
import pytest

from deploy.bench._abuse.bombs import BOMBS, OPUS_120_MS, OPUS_TAGS, PLAYLISTS, ogg, opus_head, wav
from schemas.errors import BadInput, Busy, MalformedAudio, TooLarge, UnsupportedAudio
from services.audio import decoder, decoder_pool
from services.audio.decoder_pool import DecoderPool
from services.audio.files import read_file
from tests.harness.sound_files import TONE, heard, written

RAISES = """
import sys
from services.audio import decoder
decoder.read_file = lambda data: data.no_such_thing
decoder.answer(b"", 1.0, sys.stdout.buffer)
sys.stdout.write("|still here")
"""
IN_A_CHILD = """
import sys, time
from services.audio.files import read_file
def peak(): return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
data = sys.stdin.buffer.read()
open("/proc/self/clear_refs", "w").write("5")
before, began = peak(), time.process_time()
try: read_file(data)
except Exception as error: print(type(error).__name__, end=" ")
else: print("read", end=" ")
print(time.process_time() - began, peak() - before)
"""
ONLY_BY_FORCE = {"ogg opus, ends and ends"}
"""What costs FFmpeg time without a sign of it; a decoder's own limit ends it."""


@pytest.fixture
async def pool() -> AsyncIterator[DecoderPool]:
    made = DecoderPool(workers=1, waiting=2)
    yield made
    await made.close()


@pytest.mark.parametrize("name", [name for name in BOMBS if name not in ONLY_BY_FORCE])
def test_a_bomb_costs_less_than_a_second_and_100_mb(name: str) -> None:
    run = subprocess.run([sys.executable, "-c", IN_A_CHILD], input=BOMBS[name](), capture_output=True, check=True)
    verdict, seconds, megabytes = run.stdout.decode().split()
    assert float(seconds) < 1
    assert float(megabytes) < 100
    assert verdict in {"TooLarge", "MalformedAudio", "UnsupportedAudio", "read"}


async def test_every_bomb_leaves_the_decoders_as_they_were(pool: DecoderPool) -> None:
    for make in BOMBS.values():
        try:
            sound = await pool.decode(make())
        except BadInput:
            continue
        assert sound.size < 2 * 16_000
    np.testing.assert_allclose(await pool.decode(written("wav", "pcm_s16le", TONE)), TONE, atol=1e-4)


async def test_a_file_that_takes_too_long_ends_its_child_and_no_decoder(
    pool: DecoderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder_pool, "WALL_S", 60.0)  # that the child counts what it takes itself is tried here
    await pool.warm_up()
    (process,) = pool._idle
    with pytest.raises(TooLarge):
        await pool.decode(BOMBS["ogg opus, ends and ends"]())
    assert pool._idle == [process], "for another one the gateway would be copied, and every call would stand still"
    assert (await pool.decode(wav(b""))).size == 1_600


async def test_a_decoder_that_is_given_up_takes_its_child_along(
    pool: DecoderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    await pool.warm_up()
    (process,) = pool._idle
    asking = asyncio.create_task(pool.decode(BOMBS["ogg opus, ends and ends"]()))
    for _ in range(200):
        await asyncio.sleep(0.005)
        if child := _children(process.pid):
            break
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert child
    await _goes(child[0])


async def test_a_decoder_that_is_killed_is_replaced(pool: DecoderPool) -> None:
    await pool.warm_up()
    (process,) = pool._idle
    os.kill(process.pid, signal.SIGSTOP)
    asking = asyncio.create_task(pool.decode(wav(b"")))
    await asyncio.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(Busy):
        await asking
    assert (await pool.decode(wav(b""))).size == 1_600


@pytest.mark.parametrize(
    ("ended_by", "said"),
    [
        (-1, MalformedAudio),
        (signal.SIGFPE, MalformedAudio),
        (signal.SIGSEGV, MalformedAudio),
        (signal.SIGPROF, TooLarge),
        (signal.SIGKILL, Busy),
    ],
)
async def test_who_sent_a_file_that_ends_its_decoder_is_not_told_to_send_it_again(
    ended_by: int, said: type[Exception], pool: DecoderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def asked(*_: object) -> tuple[int, bytes]:
        return decoder.ENDED, str(ended_by).encode()

    monkeypatch.setattr(decoder_pool, "_asked", asked)
    with pytest.raises(said):
        await pool.decode(wav(b""))


def test_a_child_that_raises_ends_there_and_says_so() -> None:
    out = subprocess.run(
        [sys.executable, "-c", RAISES], capture_output=True, check=False, cwd=Path(__file__).parents[3]
    )
    assert out.stdout == decoder.HEAD.pack(decoder.ENDED, 2) + b"-1|still here"


async def test_a_decoder_that_hangs_is_ended_by_the_clock(pool: DecoderPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoder_pool, "WALL_S", 0.3)
    await pool.warm_up()
    os.kill(pool._idle[0].pid, signal.SIGSTOP)
    with pytest.raises(TooLarge):
        await pool.decode(wav(b""))
    assert not pool._idle


async def test_past_the_line_files_are_refused_with_a_time_to_come_back(pool: DecoderPool) -> None:
    asked = [asyncio.create_task(pool.decode(wav(b""))) for _ in range(4)]
    told = await asyncio.gather(*asked, return_exceptions=True)
    refused = [one for one in told if isinstance(one, Busy)]
    assert len(refused) == 1
    assert refused[0].retry_after_s


async def test_a_decoder_has_no_descriptor_to_give_and_no_secret(
    pool: DecoderPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TELLERLINE_AUDIT_KEY", "s3cret")
    await pool.warm_up()
    of = Path(f"/proc/{pool._idle[0].pid}")
    limits = (of / "limits").read_text()
    assert "Max open files            0                    0" in limits
    assert b"s3cret" not in (of / "environ").read_bytes()
    assert len(list((of / "fd").iterdir())) == 3


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _gone(pid: int) -> bool:
    """Whether nothing of a process is left, or only what its parent has not fetched."""
    of = Path(f"/proc/{pid}/stat")
    return not of.exists() or "Z" in of.read_text().rpartition(")")[2]


async def _goes(pid: int) -> None:
    for _ in range(100):
        if _gone(pid):
            return
        await asyncio.sleep(0.05)
    pytest.fail("it outlived whoever asked it")


async def test_a_decoder_goes_when_its_gateway_is_killed() -> None:
    code = (
        "import asyncio, os\n"
        "from services.audio.decoder_pool import DecoderPool\n"
        "async def main():\n"
        "    pool = DecoderPool(); await pool.warm_up(); print(pool._idle[0].pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    assert gateway.stdout is not None
    pid = int(await gateway.stdout.readline())
    gateway.kill()
    await gateway.wait()
    await _goes(pid)


@pytest.mark.parametrize("name", sorted(PLAYLISTS))
def test_what_names_something_else_is_not_opened(name: str) -> None:
    with pytest.raises(UnsupportedAudio):
        read_file(PLAYLISTS[name])


@pytest.mark.parametrize("head", [b"RIFF\xff\xff\xff\xffWAVE", b"fLaC", b"OggS", b"\xff\xfb", b"ID3\x04\0\0\0\0\0\0"])
@pytest.mark.parametrize("name", sorted(PLAYLISTS))
def test_nor_behind_the_first_bytes_of_sound(head: bytes, name: str) -> None:
    with pytest.raises((UnsupportedAudio, MalformedAudio)):
        read_file(head + PLAYLISTS[name])


def in_ogg(codec: str, rate: int) -> bytes:
    """A second and a half of 440 Hz, in frames that every encoder takes."""
    target, form = io.BytesIO(), "fltp" if codec == "vorbis" else "s16"
    tone = 0.4 * np.sin(2 * np.pi * 440 * np.arange(rate * 3 // 2) / rate)
    pcm = np.stack([tone.astype("f4")] * 2) if form == "fltp" else np.repeat((tone * 32767).astype("i2"), 2)[None]
    width = 1 if form == "fltp" else 2
    with av.open(target, "w", format="ogg") as out:
        stream = out.add_stream(codec, rate=rate, layout="stereo", options={"strict": "experimental"})
        for at in range(0, tone.size - 1023, 1024):
            piece = np.ascontiguousarray(pcm[:, at * width : (at + 1024) * width])
            frame = av.AudioFrame.from_ndarray(piece, format=form, layout="stereo")
            frame.rate, frame.pts = rate, at
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return target.getvalue()


@pytest.mark.parametrize(
    ("first", "second"), [(("flac", 8_000), ("flac", 16_000)), (("vorbis", 22_050), ("flac", 48_000))]
)
def test_a_chained_stream_of_two_rates_is_heard_whole(first: tuple[str, int], second: tuple[str, int]) -> None:
    seconds, hertz = heard(read_file(in_ogg(*first) + in_ogg(*second)))
    assert abs(seconds - 3.0) < 0.15
    assert abs(hertz - 440) < 2


def test_opus_of_not_one_sample_is_no_recording() -> None:
    with pytest.raises(MalformedAudio, match="no samples"):
        read_file(ogg([opus_head(), OPUS_TAGS, OPUS_120_MS], granule=lambda _: 1, flags=4))


def test_names_and_pictures_around_the_sound_are_passed_over() -> None:
    listed = b"LIST" + struct.pack("<I", 16) + b"INFOINAM\x04\0\0\0abc\0"
    assert read_file(wav(listed)).size == 1_600
    assert read_file(b"ID3\x04\0\0\0\0\x01\0" + bytes(128) + written("mp3", "mp3", TONE)).size > 20_000
    target = io.BytesIO()
    with av.open(target, "w", format="flac") as out:
        out.metadata["title"] = "x" * 5_000
        stream = out.add_stream("flac", rate=16_000, layout="mono")
        frame = av.AudioFrame.from_ndarray((TONE * 32767).astype("<i2")[None, :], format="s16", layout="mono")
        frame.rate = 16_000
        out.mux([*stream.encode(frame), *stream.encode(None)])
    assert read_file(target.getvalue()).size == TONE.size


def test_a_minute_of_sound_is_read_within_a_decoders_time() -> None:
    minute = np.tile(TONE, 40)[: 60 * 16_000 - 16_000]
    for container, codec in (("ogg", "libopus"), ("mp3", "mp3"), ("flac", "flac")):
        data = written(container, codec, minute)
        run = subprocess.run([sys.executable, "-c", IN_A_CHILD], input=data, capture_output=True, check=True)
        assert run.stdout.decode().split()[0] == "read"
