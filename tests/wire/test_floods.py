"""What one connection sends, no other one feels; and no connection waits for ever for an answer or for its end."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from app.gate import doorman, websocket
from app.gate.lobby import PARSING_BURST_S, SURPLUS_S
from tests.harness.echo import HANDSHAKE, Raw, echo, frame, raw

FLOODS = {
    "pings": frame(9) * 10_000,
    "pings of 125 bytes": frame(9, bytes(125)) * 10_000,
    "pongs": frame(10) * 10_000,
    "empty fragments": frame(1, b"", fin=False) + frame(0, b"", fin=False) * 10_000,
    "fragments of a byte": frame(1, b"", fin=False) + frame(0, b"x", fin=False) * 10_000,
    "pings between fragments": frame(1, b"", fin=False) + frame(9) * 10_000,
}
SLOW_S = 0.2
"""An honest answer takes less on average, also on a busy machine; each flood froze the process for seconds."""


@dataclass
class Felt:
    """What an honest client felt beside something."""

    waited_s: float = 0.0
    answers: int = 0

    @property
    def mean_s(self) -> float:
        """An answer's time on average: one that the machine itself held up is no flood's doing."""
        return self.waited_s / self.answers


@asynccontextmanager
async def honest(port: int) -> AsyncIterator[Felt]:
    """One who asks again and again."""
    felt = Felt()

    async def ask() -> None:
        while True:
            async with raw(port) as client:
                began = time.monotonic()
                await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                await client.head()
                felt.waited_s, felt.answers = felt.waited_s + time.monotonic() - began, felt.answers + 1
            await asyncio.sleep(0.01)

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0.1)
    felt.waited_s, felt.answers = 0.0, 0
    try:
        yield felt
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


@pytest.mark.parametrize("flood", sorted(FLOODS))
async def test_frames_that_are_no_message_cut_the_line_at_once(flood: str) -> None:
    async with echo() as port, honest(port) as felt, raw(port) as attacker:
        await attacker.shake()
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                await attacker.send(FLOODS[flood])
        await attacker.over()
        await asyncio.sleep(0.05)
        assert felt.answers
        assert felt.mean_s < SLOW_S


async def test_a_flood_that_is_put_into_messages_is_read_no_faster_than_it_may_cost() -> None:
    piece = (frame(9) * 60 + frame(1, b"x")) * 200
    async with echo() as port, honest(port) as felt, raw(port) as attacker:
        await attacker.shake()
        sending = asyncio.create_task(_keep_sending(attacker, [piece] * 500))
        reading = asyncio.create_task(attacker.over())
        await asyncio.sleep(2.0)
        sending.cancel()
        reading.cancel()
        await asyncio.gather(sending, reading, return_exceptions=True)
        assert felt.answers > 5
        assert felt.mean_s < SLOW_S


async def test_a_body_in_pieces_of_a_byte_after_its_answer_is_read_no_faster_either() -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with echo() as port, honest(port) as felt, raw(port) as attacker:
        await attacker.send(head)
        sending = asyncio.create_task(_keep_sending(attacker, [b"1\r\nx\r\n" * 10_000] * 500))
        await asyncio.sleep(2.0)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        assert felt.answers > 5
        assert felt.mean_s < SLOW_S


async def test_requests_one_behind_the_other_are_answered_no_faster_than_they_may_cost() -> None:
    async with echo() as port, raw(port) as attacker:
        sending = asyncio.create_task(_keep_sending(attacker, [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 200] * 500))
        answered, until = 0, time.monotonic() + 2.0
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    answered += (await attacker.reader.read(65_536)).count(b"HTTP/1.1 200")
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    allowed = (PARSING_BURST_S + 2.5 * doorman.PARSING_S) / doorman.REQUEST_S
    assert 50 < answered <= allowed + 2 * doorman.PIECE / 27, "those of a piece follow one another without the door"


async def test_all_who_do_not_say_who_they_are_share_one_allowance() -> None:
    """And one who does is answered at once beside them."""
    piece = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 200
    known = b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n"
    async with echo() as port, contextlib.AsyncExitStack() as crowd:
        many = [await crowd.enter_async_context(raw(port)) for _ in range(30)]
        answered = [0]

        async def flood(client: Raw) -> None:
            sending = asyncio.create_task(_keep_sending(client, [piece] * 50))
            while data := await client.reader.read(65_536):
                answered[0] += data.count(b"HTTP/1.1 200")
            await sending

        floods = [asyncio.create_task(flood(client)) for client in many]
        await asyncio.sleep(1.0)
        async with raw(port) as honest_one:
            for _ in range(5):
                await honest_one.send(known)
                assert (await honest_one.head()).split()[1] == b"200"
        await asyncio.sleep(1.0)
        for task in floods:
            task.cancel()
        await asyncio.gather(*floods, return_exceptions=True)
    allowed = (PARSING_BURST_S + 3.0 * SURPLUS_S) / doorman.REQUEST_S
    assert answered[0] <= allowed + 30 * 4_096 / 27, "a piece of each is read before anything is known of it"


async def test_pings_of_an_honest_client_are_answered() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        for n in range(40):
            await client.send(frame(9, b"%d" % n))
            assert await client.frame() == (10, b"%d" % n)
            await client.send(frame(1, b"word"))
            assert await client.frame() == (1, b"word")


async def test_speech_as_fast_as_it_can_be_sent_is_all_heard() -> None:
    frames = [frame(2, bytes(640)) for _ in range(1_000)]
    async with echo() as port, raw(port) as client:
        await client.shake()
        sending = asyncio.create_task(_keep_sending(client, frames))
        for _ in frames:
            got = await client.frame()
            assert got is not None
            assert len(got[1]) == 640
        await sending


async def test_pongs_that_nobody_reads_do_not_pile_up() -> None:
    doorman._LOBBIES.clear()
    async with echo() as port, raw(port) as deaf:
        await deaf.shake()
        ping = (frame(9, bytes(125)) * 30 + frame(1, b"")) * 100
        sending = asyncio.create_task(_keep_sending(deaf, [ping] * 100))
        await asyncio.sleep(1.0)
        (door,) = [one for lobby in doorman._LOBBIES.values() for one in lobby._guests]
        assert door._transport is not None
        assert door._transport.get_write_buffer_size() < 256 * 1024
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ("X: " + "a" * 9_000 + "\r\n", b"431"),
        ("Authorization: Bearer " + "a" * 12_000 + "\r\n", b"431"),
        ("Authorization: Bearer " + "a" * 64_000 + "\r\n", b"431"),
        ("".join(f"X-{n}: y\r\n" for n in range(200)), b"431"),
        ("Sec-WebSocket-Protocol: " + "a," * 4_000 + "\r\n", b"101"),
    ],
)
async def test_every_handshake_is_answered(headers: str, status: bytes) -> None:
    async with echo() as port, raw(port) as client:
        began = time.monotonic()
        assert (await client.shake(headers)).split()[1] == status
        assert time.monotonic() - began < 2
        if status != b"101":
            await client.over(within_s=3)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HANDSHAKE.encode(), b"GET / HTTP/1.1\r\nX: y"])
async def test_a_head_that_does_not_come_ends_the_connection(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "HEAD_S", 0.5)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    async with echo() as port, raw(port) as slow:
        await slow.send(sent)
        dripping = asyncio.create_task(_drip(slow))
        await slow.over(within_s=3)
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_a_heads_time_is_counted_from_the_answer_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "HEAD_S", 0.5)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.05)
    async with echo() as port, raw(port) as client:
        for _ in range(8):
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n")
            await asyncio.sleep(0.2)
            await client.send(b"\r\n")
            assert (await client.head()).split()[1] == b"200"
            await client.reader.readexactly(len(b"hello"))


async def test_a_body_that_drips_is_answered_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "BODY_S", 0.5)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    async with echo() as port, raw(port) as slow:
        await slow.send(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        dripping = asyncio.create_task(_drip(slow))
        assert (await slow.head()).split()[1] == b"408"
        dripping.cancel()
        await asyncio.gather(dripping, return_exceptions=True)


async def test_a_body_at_a_fair_rate_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "BODY_S", 0.3)
    monkeypatch.setattr(doorman, "BODY_BYTES_S", 20_000.0)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    async with echo() as port, raw(port) as client:
        await client.send(b"POST /read HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        for _ in range(10):
            await client.send(bytes(10_000))
            await asyncio.sleep(0.1)
        assert (await client.head()).split()[1] == b"200"


async def test_a_peer_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorman, "CLOSING_S", 0.3)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    doorman._LOBBIES.clear()
    async with echo() as port, raw(port) as deaf:
        await deaf.shake()
        sending = asyncio.create_task(_keep_sending(deaf, [frame(2, bytes(60_000))] * 200))
        await asyncio.sleep(0.5)
        lobbies = list(doorman._LOBBIES.values())
        (door,) = [one for lobby in lobbies for one in lobby._guests]
        assert door._transport is not None
        door._transport.close()
        for _ in range(50):
            await asyncio.sleep(0.05)
            if not any(lobby._guests for lobby in lobbies):
                break
        assert not any(lobby._guests for lobby in lobbies)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def test_strangers_that_dawdle_make_room_for_those_who_come(monkeypatch: pytest.MonkeyPatch) -> None:
    doorman._LOBBIES.clear()
    monkeypatch.setattr("app.gate.lobby.STRANGERS", 20)
    async with echo() as port, contextlib.AsyncExitStack() as crowd:
        slow = [await crowd.enter_async_context(raw(port)) for _ in range(60)]
        for one in slow:
            await one.send(b"GET / HT")
        async with raw(port) as honest_one:
            assert (await honest_one.shake()).split()[1] == b"101"
            await honest_one.send(frame(1, b"hello"))
            assert await honest_one.frame() == (1, b"hello")
        lobbies = list(doorman._LOBBIES.values())
        assert sum(len(lobby._guests) for lobby in lobbies) <= 21


async def test_lines_that_are_in_use_make_room_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a balancer, which were there before whoever says nothing."""
    monkeypatch.setattr("app.gate.lobby.STRANGERS", 20)
    known = b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n"
    async with echo() as port, contextlib.AsyncExitStack() as crowd:
        kept = [await crowd.enter_async_context(raw(port)) for _ in range(20)]
        for number in (*range(20), *range(10)):
            await kept[number].send(known)
            assert (await kept[number].head()).split()[1] == b"200"
            await kept[number].reader.readexactly(len(b"hello"))
        for _ in range(40):
            await (await crowd.enter_async_context(raw(port))).send(b"GET / HT")
        async with raw(port) as honest_one:
            assert (await honest_one.shake()).split()[1] == b"101"
        await kept[9].send(known)
        assert (await kept[9].head()).split()[1] == b"200"
        await kept[10].over(within_s=3)


async def test_a_handshake_that_hangs_behind_the_door_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr(doorman, "HANDSHAKE_S", 0.4)
    monkeypatch.setattr("app.gate.lobby.SWEEP_S", 0.1)
    monkeypatch.setattr(websocket.BoundedWebSocket, "run_asgi", never)
    async with echo() as port, raw(port) as client:
        await client.send((HANDSHAKE + "\r\n").encode())
        await client.over(within_s=3)


async def _keep_sending(client: Raw, pieces: Iterable[bytes]) -> None:
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            await client.send(piece)


async def _drip(client: Raw) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            await client.send(b"x")
            await asyncio.sleep(0.05)
