"""RFC 6455 over our own stack, case by case as Autobahn has them: what is echoed, what ends it and how."""

import asyncio
import contextlib

import pytest

from tests.harness.echo import Raw, echo, frame, raw

TEXT, BINARY, CLOSE, PING, PONG, CONT = 1, 2, 8, 9, 10, 0
HELLO = "Hello-µ@ßöäüàá-UTF-8!!".encode()
SIZES = (0, 125, 126, 127, 128, 65_535)
BAD_UTF8 = (
    b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited", b"\xf4\x90\x80\x80", b"\xff", b"\xfe", b"\x80",
    b"\xbf", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xf0\x80\x80\xaf", b"\xf8\x80\x80\x80\xaf", b"\xed\xa0\x80",
    b"\xed\xbf\xbf",    b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\x80",
)  # fmt: skip
GOOD_UTF8 = (
    "κόσμε",
    "\x00",
    "\x7f",
    "\u0080",
    "\u07ff",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U00010000",
    "\U0010ffff",
    "👩‍👩‍👧",
)
GOOD_CODES = (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999)
BAD_CODES = (0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999, 5000, 65_535)


async def told(client: Raw, *frames: bytes) -> tuple[int, bytes] | None:
    for one in frames:
        await client.send(one)
    return await client.frame()


async def ends(client: Raw, code: int | None, *frames: bytes) -> None:
    """The line is closed with `code` (or without a word) and then cut."""
    for one in frames:
        with contextlib.suppress(ConnectionError):
            await client.send(one)
    assert await client.closed_with() == code
    await client.over(within_s=3)


async def test_messages_of_every_length_come_back() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        for size in SIZES:
            assert await told(client, frame(TEXT, b"*" * size)) == (TEXT, b"*" * size)
            assert await told(client, frame(BINARY, b"\xfe" * size)) == (BINARY, b"\xfe" * size)


@pytest.mark.parametrize("step", [1, 7, 997])
async def test_however_a_frame_is_cut_on_its_way_it_comes_back(step: int) -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        whole = frame(TEXT, HELLO * 20)
        pieces = [whole[at : at + step] for at in range(0, len(whole), step)]
        assert await told(client, *pieces) == (TEXT, HELLO * 20)


async def test_pings_come_back_and_pongs_do_not() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        for payload in (b"", b"Hello", bytes(range(125))):
            assert await told(client, frame(PING, payload)) == (PONG, payload)
        assert await told(client, frame(PONG, b"unasked"), frame(PING, b"x")) == (PONG, b"x")


async def test_messages_in_pieces_with_pings_between_them() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        for cut in range(1, len(HELLO)):  # in the middle of characters as well
            await client.send(frame(TEXT, HELLO[:cut], fin=False))
            assert await told(client, frame(PING, b"!")) == (PONG, b"!")
            assert await told(client, frame(CONT, HELLO[cut:])) == (TEXT, HELLO)
        pieces = [
            frame(BINARY, b"a", fin=False),
            frame(CONT, b"", fin=False),
            frame(CONT, b"b", fin=False),
            frame(CONT),
        ]
        assert await told(client, *pieces) == (BINARY, b"ab")


@pytest.mark.parametrize("text", GOOD_UTF8)
async def test_every_plane_of_unicode_comes_back(text: str) -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        assert await told(client, frame(TEXT, text.encode())) == (TEXT, text.encode())


@pytest.mark.parametrize("data", BAD_UTF8)
async def test_what_is_no_utf8_ends_it_with_1007(data: bytes) -> None:
    async with echo() as port:
        async with raw(port) as client:
            await client.shake()
            await ends(client, 1007, frame(TEXT, b"ok" + data))
        async with raw(port) as client:
            await client.shake()
            await ends(client, 1007, frame(TEXT, b"ok" + data[:1], fin=False), frame(CONT, data[1:]))


WRONG = {
    "reserved bit 1": frame(TEXT, b"x", reserved=4),
    "reserved bit 2": frame(TEXT, b"x", reserved=2),
    "reserved bit 3": frame(TEXT, b"x", reserved=1),
    "reserved bits of a ping": frame(PING, b"x", reserved=7),
    "reserved bits of a close": frame(CLOSE, b"\x03\xe8", reserved=4),
    "opcode 3": frame(3, b"x"),
    "opcode 7": frame(7),
    "opcode 11": frame(11, b"x"),
    "opcode 15": frame(15),
    "no mask": frame(TEXT, b"x", masked=False),
    "a ping of 126 bytes": frame(PING, bytes(126)),
    "a pong of 126 bytes": frame(PONG, bytes(126)),
    "a close of 126 bytes": frame(CLOSE, b"\x03\xe8" + b"*" * 124),
    "a ping in pieces": frame(PING, b"x", fin=False),
    "a pong in pieces": frame(PONG, b"x", fin=False),
    "a close in pieces": frame(CLOSE, fin=False),
    "a close of one byte": frame(CLOSE, b"\x03"),
    "a continuation of nothing": frame(CONT, b"x"),
    "a continuation of nothing, unfinished": frame(CONT, b"x", fin=False),
    "a message within a message": frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"),
    "binary within text": frame(TEXT, b"a", fin=False) + frame(BINARY, b"b"),
} | {f"close code {code}": frame(CLOSE, code.to_bytes(2, "big")) for code in BAD_CODES}


@pytest.mark.parametrize("what", sorted(WRONG))
async def test_what_the_protocol_does_not_have_ends_it_with_1002(what: str) -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await ends(client, 1002, WRONG[what])


@pytest.mark.parametrize(
    "head",
    [
        b"\x82\xff" + (2**63).to_bytes(8, "big"), b"\x82\xff" + (2**40).to_bytes(8, "big"), b"\x82\xff" + b"\xff" * 8,
        b"\x82\xff" + (65_537).to_bytes(8, "big"),
    ],
)  # fmt: skip
async def test_a_message_that_says_it_is_too_long_ends_it_before_it_comes(head: bytes) -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await client.send(head + bytes(4))
        assert await client.closed_with() in {1009, 1002}
        await client.over(within_s=3)


async def test_pieces_that_are_too_long_together_end_it_with_1009() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await ends(client, 1009, frame(BINARY, bytes(40_000), fin=False), frame(CONT, bytes(40_000)))


@pytest.mark.parametrize("code", GOOD_CODES)
async def test_a_close_is_answered_in_kind(code: int) -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await ends(client, code, frame(CLOSE, code.to_bytes(2, "big") + "Tschüß".encode()))


async def test_an_empty_close_is_answered_by_one() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await ends(client, 1005, frame(CLOSE))


async def test_a_close_whose_reason_is_no_utf8_ends_it() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await client.send(frame(CLOSE, b"\x03\xe8\xff\xff"))
        assert await client.closed_with() in {1002, 1007}


async def test_nothing_is_heard_after_a_close() -> None:
    async with echo() as port, raw(port) as client:
        await client.shake()
        await ends(client, 1000, frame(CLOSE, b"\x03\xe8") + frame(TEXT, b"late") + frame(PING, b"late"))


HEADS = {
    "no key": ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", b"400"),
    "two keys": ("Sec-WebSocket-Key: ", "Sec-WebSocket-Key: x\r\nSec-WebSocket-Key: ", b"400"),
    "a short key": ("dGhlIHNhbXBsZSBub25jZQ==", "c2hvcnQ=", b"400"),
    "version 8": ("Version: 13", "Version: 8", b"426"),
    "no version": ("Sec-WebSocket-Version: 13\r\n", "", b"426"),
    "a post": ("GET ", "POST ", b"4"),
}


@pytest.mark.parametrize("what", sorted(HEADS))
async def test_handshakes_that_are_none(what: str) -> None:
    from tests.harness.echo import HANDSHAKE

    old, new, status = HEADS[what]
    async with echo() as port, raw(port) as client:
        await client.send((HANDSHAKE.replace(old, new, 1) + "\r\n").encode())
        answered = (await client.head()).split()[1]
        assert answered.startswith(status[:1])
        await client.over(within_s=12)


async def test_a_hundred_callers_at_once_are_each_told_their_own() -> None:
    async with echo() as port:

        async def one(number: int) -> bool:
            async with raw(port) as client:
                await client.shake()
                words = [b"%d.%d" % (number, n) for n in range(5)]
                return [await told(client, frame(TEXT, word)) for word in words] == [(TEXT, word) for word in words]

        assert all(await asyncio.gather(*(one(number) for number in range(100))))
