"""Clauses, what is kept, and how a reply goes from the engine to whoever listens."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.composition.speech import frequent, frequent_replies, repeating
from schemas.errors import SpeechUnavailable
from schemas.ids import EN_US, JA_JP, Locale
from services.response.phrases import BLANK, outlines
from services.speech.cache import SoundCache
from services.speech.clauses import clauses
from services.speech.engine import Sound
from services.speech.speaker import Speaker
from tests.fakes.voice import HummingEngine

GREETING = "Hello, this is your bank's assistant. What can I do for you?"


def words(text: str, locale: Locale) -> list[str]:
    return [clause.words for clause in clauses(text, locale)]


def test_sentences_are_cut_and_short_clauses_are_not() -> None:
    assert words(GREETING, EN_US) == ["Hello, this is your bank's assistant.", "What can I do for you?"]
    assert words("OK. What else?", EN_US) == ["OK.", "What else?"]
    assert words("Mr. Bell has 1.50 dollars.", EN_US) == ["Mister Bell has one point five zero dollars."]
    assert words("佐藤様へ、本日お振り込みします。よろしいですか。", JA_JP) == [
        "では、",
        "佐藤様へ、",
        "ホンジツお振り込みします。",
        "よろしいですか。",
    ]


def test_an_order_is_cut_behind_its_lead_and_between_its_parts() -> None:
    said = "I'll send 1,250 dollars and 5 cents to Anna Schmidt from checking now. Is that right?"
    assert [(clause.words, said[: clause.end].rpartition(" ")[2]) for clause in clauses(said, EN_US)] == [
        ("I'll send —", "send"),
        ("one thousand -", ""),
        ("two hundred fifty dollars -", ""),
        ("and oh five cents —", "cents"),
        ("to Anna Schmidt —", "Schmidt"),
        ("from checking now.", "now."),
        ("Is that right?", "right?"),
    ]
    assert words("佐藤様、銀行へ、1,505,000円を本日お振り込みします。", JA_JP) == [
        "では、",
        "佐藤様、",
        "銀行へ、",
        "ヒャク ゴジュウマン、",
        "ゴセン エンを —",
        "ホンジツお振り込みします。",
        "金額は、数字で、イチ。ゴー、ゼロ、ゴー。ゼロ、ゼロ、ゼロ エンです。",
    ]
    first, then = "タナカ ミサキ様へのお振り込みは初めてです。", "タナカ ミサキ様へ、5,000円を本日お振り込みします。"
    assert [
        clause.words for clause in clauses(first + then, JA_JP) if clause.end <= len(first + "タナカ ミサキ様へ、")
    ] == [
        "はい、",
        "タナカ、ミサキ様へのお振り込みは初めてです。",
        "では、",
        "タナカ、ミサキ様へ、",
    ]
    assert words("You have no open bills.", EN_US) == ["You have no open bills."]


FORESEEN = {"transfer.done"}
"""What begins with a value in some language, and is made while the caller's turn ends."""


def test_a_reply_with_a_value_begins_with_what_is_kept() -> None:
    """Names of cards and payees are made while it is heard; what has no value is said in one go."""
    assert words("Which card should I lock: debit card ending in 1 1 8 7 or credit card?", EN_US) == [
        "Which card should I lock:",
        "debit card ending in one one, eight seven —",
        "or credit card?",
    ]
    assert words("デビットカードはすでに停止しております。", JA_JP)[0] == "はい、"
    assert words("サトウ ケン様、それともサトウ ハナコ様、どちらですか。", JA_JP)[0] == "恐れ入りますが、"
    kept = repeating()
    for locale, lang in (EN_US, "en"), (JA_JP, "ja"):
        told = {id_: clauses(outlines(lang)[id_], locale)[0].words for id_ in frequent_replies()}
        assert {id_ for id_, first in told.items() if (locale, first) not in kept} <= FORESEEN


def test_every_read_back_begins_with_what_is_kept_then_with_a_name_alone() -> None:
    kept = repeating()
    orders = {id_ for id_, outline in outlines("en").items() if id_.startswith("confirm.") and BLANK in outline}
    for locale, lang in (EN_US, "en"), (JA_JP, "ja"):
        assert {id_ for id_ in orders if (locale, clauses(outlines(lang)[id_], locale)[0].words) in kept} == orders
    first = {id_: clauses(outlines("ja")[id_], JA_JP)[1].words for id_ in orders}
    assert first == {
        "confirm.transfer": f"{BLANK}へ、",
        "confirm.doubted": f"{BLANK}へ、",
        "confirm.own": f"{BLANK}から{BLANK}へ、",
        "confirm.bill": f"{BLANK}のご請求、",
    }


def test_nothing_is_cut_inside_or_right_behind_a_figure() -> None:
    assert len(words("There are 1,250 dollars and $12.50, and that is all there is of it.", EN_US)) == 1
    assert words("ご請求は7円、お支払期日は5月1日です。", JA_JP) == [
        "ご請求はナナ エン、お支払期日はゴガツ ツイタチです。"
    ]


@given(st.text("Aaあ1 ,.。、?!", max_size=120), st.sampled_from([EN_US, JA_JP, Locale("id-ID")]))
def test_positions_grow_to_the_end_of_the_text(text: str, locale: Locale) -> None:
    ends = [clause.end for clause in clauses(text, locale)]
    assert ends == sorted(set(ends))
    assert not ends or ends[-1] == len(text)
    assert bool(ends) == any(map(str.isalnum, text))


def test_a_cache_holds_so_many_bytes_and_drops_what_was_unused_longest() -> None:
    cache = SoundCache(max_bytes=100)
    keys = [("hum-1", EN_US, "", f"{number}") for number in range(6)]
    for key in keys[:5]:
        cache.put(key, (Sound(b"x" * 20, 8000),))
    assert cache.get(keys[0]) == (Sound(b"x" * 20, 8000),)
    cache.put(keys[5], (Sound(b"x" * 10, 8000), Sound(b"x" * 10, 8000)))
    assert cache.get(keys[1]) is None
    assert cache.get(keys[0]) is not None
    cache.put(keys[5], (Sound(b"y" * 5, 8000),))
    assert cache.size == 85
    cache.put(keys[1], (Sound(b"z" * 26, 8000),))
    assert cache.get(keys[1]) is None
    assert cache.size == 85


async def said(speaker: Speaker, text: str, locale: Locale = EN_US) -> list[int]:
    return [chunk.text_end async for chunk in speaker.speak(text, locale, "")]


async def test_a_position_is_never_ahead_of_what_was_said() -> None:
    speaker = Speaker(HummingEngine())
    first = len("Hello, this is your bank's assistant.")
    assert await said(speaker, GREETING) == [0, 0, first, first, first, len(GREETING)]


async def test_what_repeats_is_made_once_and_what_holds_values_every_time() -> None:
    engine = HummingEngine()
    speaker = Speaker(engine, {(EN_US, "Is that right?")})
    for _ in range(2):
        assert await said(speaker, "It costs 5 dollars. Is that right?")
    assert [asked[0] for asked in engine.asked] == [
        "It costs five dollars.",
        "Is that right?",
        "It costs five dollars.",
    ]
    engine.version = "hum-2"
    await said(speaker, "Is that right?")
    assert len(engine.asked) == 4


async def test_what_was_cut_is_not_kept() -> None:
    engine = HummingEngine(delay_s=0.01)
    speaker = Speaker(engine, {(EN_US, "Is that right?")})
    speaking = speaker.speak("Is that right?", EN_US, "")
    async with asyncio.timeout(5):
        await anext(speaking)
    await speaking.aclose()  # type: ignore[attr-defined]
    assert engine.stopped == 1
    await said(speaker, "Is that right?")
    assert len(engine.asked) == 2


async def test_an_engine_is_one_clause_ahead_of_who_listens_and_no_more() -> None:
    engine = HummingEngine()
    speaker = Speaker(engine)
    speaking = speaker.speak("One is here. Two is here. Three is here. Four is here. Five is here.", EN_US, "")
    await anext(speaking)
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(engine.asked) <= 2
    await speaking.aclose()  # type: ignore[attr-defined]
    await speaker.close()
    assert engine.closed


async def test_a_failure_comes_after_what_could_be_said() -> None:
    heard: list[int] = []

    async def listen(speaker: Speaker) -> None:
        async for chunk in speaker.speak(GREETING, EN_US, ""):
            heard.append(chunk.text_end)  # noqa: PERF401 - kept where it fails

    with pytest.raises(SpeechUnavailable):
        await listen(Speaker(HummingEngine(error=SpeechUnavailable("gone"), until=1)))
    assert heard[-1] == len("Hello, this is your bank's assistant.")


def test_what_is_kept_for_everybody_holds_no_value_and_begins_with_what_is_heard_most() -> None:
    fixed = repeating()
    assert (EN_US, "Is that right?") in fixed
    assert (JA_JP, "よろしいですか。") in fixed
    assert set(frequent(frequent_replies())) <= fixed


async def test_warming_up_makes_it_once() -> None:
    engine = HummingEngine()
    speaker = Speaker(engine, repeating())
    await speaker.warm_up(frequent(frequent_replies())[:3])
    asked = len(engine.asked)
    await speaker.warm_up(frequent(frequent_replies())[:3])
    assert len(engine.asked) == asked > 0
