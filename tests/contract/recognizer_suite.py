"""What every Recognizer must keep to, whatever hears behind it: FakeRecognizer and the shipped models alike."""

import asyncio

import pytest

from schemas.audio import Samples
from schemas.ids import Locale
from schemas.transcript import Decode, Transcript
from services.ports import Recognizer


def well_formed(heard: Transcript, locale: Locale) -> None:
    """The invariants of a transcript."""
    assert heard.locale == locale
    assert heard.hypotheses
    assert heard.hypotheses[0].text == heard.text
    assert all(h.avg_logprob <= 0 for h in heard.hypotheses)
    assert len({h.text for h in heard.hypotheses}) == len(heard.hypotheses)
    assert 0 <= heard.no_speech_prob <= 1
    assert heard.decode_ms >= 0


async def hears_finals_and_partials(recognizer: Recognizer, speech: Samples, locale: Locale) -> Transcript:
    """Both kinds of decode give well-formed transcripts; the final is returned."""
    await recognizer.warm_up()
    well_formed(await recognizer.transcribe(speech, locale, Decode.PARTIAL), locale)
    final = await recognizer.transcribe(speech, locale, Decode.CONFIRMING)
    well_formed(final, locale)
    assert final.text
    return final


async def is_repeatable(recognizer: Recognizer, speech: Samples, locale: Locale) -> None:
    """The same samples give the same words and scores, also when many are decoded at once."""
    alone = await recognizer.transcribe(speech, locale, Decode.FINAL)
    together = await asyncio.gather(*(recognizer.transcribe(speech, locale, Decode.FINAL) for _ in range(6)))
    assert {t.hypotheses for t in together} == {alone.hypotheses}


async def survives_cancellation(recognizer: Recognizer, speech: Samples, locale: Locale) -> None:
    """A caller who goes away takes nothing along."""
    tasks = [asyncio.create_task(recognizer.transcribe(speech, locale, Decode.FINAL)) for _ in range(4)]
    await asyncio.sleep(0)
    for task in tasks[1:]:
        task.cancel()
    well_formed(await tasks[0], locale)
    for task in tasks[1:]:
        with pytest.raises(asyncio.CancelledError):
            await task
    well_formed(await recognizer.transcribe(speech, locale, Decode.FINAL), locale)


async def leaves_the_loop_free(recognizer: Recognizer, speech: Samples, locale: Locale) -> None:
    """The event loop goes on while sound is decoded."""
    beats = 0
    decoding = asyncio.create_task(recognizer.transcribe(speech, locale, Decode.FINAL))
    while not decoding.done():
        beats += 1
        await asyncio.sleep(0.001)
    assert beats > 1
