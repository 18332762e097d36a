"""What a call's voice has ready before it is decided on, for whom it keeps that, and who goes first."""

import asyncio
from collections.abc import Callable

from schemas.ids import EN_US
from services.speech.speaker import Speaker
from tests.fakes.voice import HummingEngine

FEE = "It costs 5 dollars. Is that right?"
OTHER = "It costs 7 dollars. Is that right?"


async def comes_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 - a task of the voice ends it
            await asyncio.sleep(0.001)


def asked(engine: HummingEngine) -> list[str]:
    return [words for words, _, _ in engine.asked]


async def test_what_was_foreseen_is_there_at_once_and_the_same() -> None:
    engine = HummingEngine()
    voice = Speaker(engine).for_call()
    voice.foresee(FEE, EN_US)
    await comes_true(lambda: len(engine.asked) == 2)
    await asyncio.sleep(0.01)
    chunks = [chunk async for chunk in voice.speak(FEE, EN_US, "")]
    assert asked(engine) == ["It costs five dollars.", "Is that right?"]
    assert chunks == [chunk async for chunk in Speaker(HummingEngine()).speak(FEE, EN_US, "")]


async def test_what_is_being_made_is_waited_for_and_not_made_twice() -> None:
    engine = HummingEngine(delay_s=0.02)
    voice = Speaker(engine).for_call()
    voice.foresee(FEE, EN_US)
    await comes_true(lambda: len(engine.asked) == 1)
    assert [chunk.text_end async for chunk in voice.speak(FEE, EN_US, "")][-1] == len(FEE)
    assert asked(engine) == ["It costs five dollars.", "Is that right?"]
    assert engine.stopped == 0


async def test_words_that_change_keep_what_they_have_in_common() -> None:
    engine = HummingEngine(delay_s=0.01)
    voice = Speaker(engine).for_call()
    voice.foresee(FEE, EN_US)
    await comes_true(lambda: len(engine.asked) == 1)
    voice.foresee(OTHER, EN_US)
    await comes_true(lambda: len(engine.asked) == 3)
    await asyncio.sleep(0.05)
    voice.foresee(FEE, EN_US)
    await comes_true(lambda: len(engine.asked) == 4)
    assert asked(engine) == [
        "It costs five dollars.",
        "It costs seven dollars.",
        "Is that right?",
        "It costs five dollars.",
    ]
    assert engine.stopped == 1


async def test_who_is_waited_for_goes_before_what_is_only_foreseen() -> None:
    engine = HummingEngine(delay_s=0.02)
    speaker = Speaker(engine)
    calm, urgent = speaker.for_call(), speaker.for_call()
    calm.foresee(FEE, EN_US)
    await comes_true(lambda: len(engine.asked) == 1)
    await anext(urgent.speak(OTHER, EN_US, ""))
    assert engine.stopped == 1, "what nobody waited for"
    calm.foresee(FEE, EN_US)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert asked(engine)[:2] == ["It costs five dollars.", "It costs seven dollars."]


async def test_what_is_foreseen_goes_before_what_is_made_ready_for_everybody() -> None:
    engine = HummingEngine(delay_s=0.02)
    speaker = Speaker(engine, {(EN_US, "One moment.")})
    warming = asyncio.create_task(speaker.warm_up([(EN_US, "One moment.")]))
    await comes_true(lambda: len(engine.asked) == 1)
    speaker.for_call().foresee(FEE, EN_US)
    async with asyncio.timeout(5):
        await warming
    assert asked(engine) == ["One moment.", "It costs five dollars.", "Is that right?", "One moment."]
    assert engine.stopped == 1


async def test_what_one_call_said_no_other_call_has_and_none_once_it_is_over() -> None:
    engine = HummingEngine()
    speaker = Speaker(engine)
    voice = speaker.for_call()
    for _ in range(2):
        assert [chunk async for chunk in voice.speak(FEE, EN_US, "")]
    assert len(engine.asked) == 2, "it is kept for the call"
    assert [chunk async for chunk in speaker.for_call().speak(FEE, EN_US, "")]
    assert len(engine.asked) == 4
    voice.close()
    voice.foresee(FEE, EN_US)
    assert [chunk async for chunk in voice.speak(FEE, EN_US, "")]
    assert len(engine.asked) == 6


async def test_an_engine_that_fails_ahead_fails_nobody() -> None:
    engine = HummingEngine(error=RuntimeError("a fault"), until=1)
    voice = Speaker(engine).for_call()
    voice.foresee(FEE, EN_US)
    await asyncio.sleep(0.02)
    engine.error = None
    assert [chunk.text_end async for chunk in voice.speak(FEE, EN_US, "")][-1] == len(FEE)
