"""A live call on record: in the language that it was spoken in, each turn with all the sound that it was heard in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from websockets.asyncio.client import connect

from app.client import typed
from app.composition.keys import audit_keys
from app.qa.replay.records.recorded import Recording, as_case, read_recording
from schemas.audio import SAMPLE_RATE
from schemas.ids import EN_US, JA_JP, Locale
from services.audio.files import read_file
from tests.fakes.recognizer import FakeRecognizer
from tests.harness.gateway import Caller, clip, line
from tests.harness.served import Served, served

SEND = "send five hundred dollars to catherine nguyen"
ALL_OF_IT = f"{SEND} from my savings account"


@asynccontextmanager
async def calling(running: Served, customer: str) -> AsyncIterator[Caller]:
    """A call whose caller agrees to be recorded; on record once it is over."""
    token = running.token(customer)
    async with connect(running.calls, compression=None, additional_headers=token) as opened:
        yield Caller(opened)
    async with asyncio.timeout(5):
        await running.gateway.admission.empty.wait()


async def agreed(call: Caller, locale: Locale) -> None:
    own = {"locale": locale, "recording": True}
    await call.send({"type": "session.update", "session": {"type": "realtime", "tellerline": own}})
    await call.next("session.updated")


async def asks(call: Caller, text: str) -> None:
    await call.send(typed(text))
    await call.next("response.done")


def on_record(running: Served) -> Recording:
    settings = running.gateway.settings
    (folder,) = settings.recordings.iterdir()
    return read_recording(folder, audit_keys(settings))


def heard_s(call: Recording) -> list[float]:
    """How long the sound of each turn is."""
    return [len(read_file(call.files.read(turn.audio))) / SAMPLE_RATE if turn.audio else 0 for turn in call.turns]


async def test_a_call_is_on_record_in_the_language_of_its_words_until_that_changes(tmp_path: Path) -> None:
    async with served(tmp_path, FakeRecognizer(lambda _: ""), recording_days=1) as running:
        async with calling(running, "takahashi-misaki") as call:
            await agreed(call, JA_JP)
            await asks(call, "残高を教えてください")
            await agreed(call, EN_US)
            await asks(call, "what's my balance")
        made = on_record(running)
    assert made.facts is not None
    assert (made.head.locale, made.facts.locale) == (JA_JP, JA_JP)
    assert [turn.locale for turn in made.turns] == [JA_JP, EN_US]
    case = as_case(made, "x", None, "p")
    assert (case.locale, len(case.turns)) == (JA_JP, 1)


async def test_a_turn_that_was_gone_on_with_has_the_sound_of_both(tmp_path: Path) -> None:
    ears = FakeRecognizer(lambda _: SEND)
    async with served(tmp_path, ears, recording_days=1) as running:
        async with calling(running, "alex-morgan") as call:
            await agreed(call, EN_US)
            await call.say(line(0.5, clip("send_five_hundred"), 0.45))
            await call.next("response.done")
            ears.words = lambda _: ALL_OF_IT
            await call.say(line(clip("to_catherine"), 2.0))
            await call.next("tellerline.turn.merged")
            await call.next("response.done")
        made = on_record(running)
    before, joined = heard_s(made)
    assert [turn.text for turn in made.turns] == [SEND, ALL_OF_IT]
    assert [turn.withdrawn for turn in made.turns] == [True, False]
    assert 0.5 < before < joined - 0.5


async def test_a_turn_of_which_a_word_was_missed_keeps_its_sound(tmp_path: Path) -> None:
    """Two seconds of speech, of which one word was understood."""
    async with served(tmp_path, FakeRecognizer(lambda _: "help"), recording_days=1) as running:
        async with calling(running, "alex-morgan") as call:
            await agreed(call, EN_US)
            await call.say(line(0.5, clip("send_five_hundred"), 2.0))
            await call.next("response.done")
        assert all(seconds > 0.5 for seconds in heard_s(on_record(running)))
