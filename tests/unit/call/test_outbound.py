"""The way out of a call: what has gone stale is never sent."""

from schemas.call import CallEvent, CutReason, ReplyCut, ReplyProgress, Voiced
from schemas.speech import SpokenChunk
from schemas.turn import ItemId, Partial, ReplyId, ReplyText
from services.call import OutboundQueue

A, B = ReplyId("a"), ReplyId("b")


def voiced(reply: ReplyId, end: int) -> Voiced:
    return Voiced(reply, SpokenChunk(b"\0\0", 24_000, end))


async def sent(*events: CallEvent) -> list[CallEvent | None]:
    outbound = OutboundQueue()
    for event in events:
        outbound.put(event)
    return [await outbound.get() for _ in range(len(outbound))]


async def test_sound_that_waits_when_its_reply_is_cut_is_not_sent() -> None:
    said, cut = ReplyProgress(A, ReplyText("words")), ReplyCut(A, CutReason.TURN_DETECTED)
    assert await sent(said, voiced(B, 1), voiced(A, 1), voiced(A, 2), cut) == [said, voiced(B, 1), cut]


async def test_a_newer_partial_replaces_the_one_that_waits() -> None:
    old, new = (Partial(ItemId("i"), revision, "words", 0) for revision in (1, 2))
    assert await sent(old, voiced(A, 1), new) == [voiced(A, 1), new]
