"""The rules of turn-taking, as data."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from rules.load import locales
from schemas.call import Patience
from schemas.ids import EN_US, JA_JP, Locale
from schemas.intent import Intent, SlotName, Understood
from schemas.interpretation import Interpretation
from schemas.transcript import Hypothesis, Onward, Transcript
from schemas.turn import Completeness
from services.audio.completeness import CompletenessJudge, by_ear, is_backchannel, is_courtesy
from services.audio.endpointing import Endpointing, endpointing, timing
from services.audio.keypad import Keypad
from services.audio.stable import stable_prefix

ENDINGS = yaml.load((Path(__file__).parent / "endings.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)


@pytest.mark.parametrize(
    ("turn_ms", "words", "after_ms"),
    [
        (0, False, 160),
        (6_000, False, 160),
        (0, True, 300),
        (1_500, True, 300),
        (3_000, True, 600),
        (15_000, True, 3_000),
    ],
)
def test_the_longer_a_turn_the_rarer_its_partials(turn_ms: int, after_ms: int, *, words: bool) -> None:
    assert timing().partial_after_ms(turn_ms, words=words) == after_ms


@pytest.mark.parametrize("locale", [EN_US, JA_JP])
def test_words_of_no_rule_are_waited_on_as_long_as_more_may_follow(locale: Locale) -> None:
    judge = CompletenessJudge(locale, Patience())
    over, either, more = (judge.wait(Completeness.UNKNOWN, "", Onward(odds, odds))[0] for odds in (-12.0, -4.0, -0.1))
    unsaid, _ = judge.wait(Completeness.UNKNOWN)
    assert 400 <= over < 450 < either < more <= unsaid == 1_350
    assert judge.wait(Completeness.COMPLETE, "", Onward(-0.1, -0.1)) == judge.wait(Completeness.COMPLETE)


@pytest.mark.parametrize(("patience", "asks"), [(Patience(), True), (Patience(fixed_ms=500), False)])
def test_what_may_follow_matters_only_after_words_of_no_rule(patience: Patience, *, asks: bool) -> None:
    judge = CompletenessJudge(EN_US, patience)
    heard = (Interpretation(Transcript.typed(text, EN_US)) for text in ("the rain in spain", "i want to", "yes", " "))
    assert [judge.asks(said, "") for said in heard] == [asks, False, False, False]


def test_the_beginning_of_a_sentence_is_waited_on_however_whole_it_sounds() -> None:
    judge, words = CompletenessJudge(EN_US, Patience()), Transcript.typed("could i", EN_US)
    assert judge.asks(Interpretation(words, understood=Understood(None)), "")
    assert not judge.asks(Interpretation(words, understood=Understood(None, begun=True)), "")


@pytest.mark.parametrize(("locale", "words", "expected"), ENDINGS, ids=str)
def test_words_tell_how_long_to_wait(locale: str, words: str, expected: str) -> None:
    assert by_ear(words, Locale(locale)) is Completeness(expected)


@pytest.mark.parametrize("locale", locales())
def test_every_locale_has_thresholds_with_ids_and_waits_longer_for_what_is_unfinished(locale: Locale) -> None:
    rules = endpointing(locale)
    waits = {kind: rules.threshold(kind)[0] for kind in Completeness}
    assert len({rules.threshold(kind)[1] for kind in Completeness}) == len(Completeness)
    assert max(waits[Completeness.COMPLETE], waits[Completeness.YES_NO]) <= 200
    assert waits[Completeness.COMPLETE] < waits[Completeness.DOUBTFUL] < waits[Completeness.UNKNOWN]
    assert waits[Completeness.COMPLETE] < waits[Completeness.COURTESY] <= 250
    assert waits[Completeness.COMPLETE] < waits[Completeness.OPEN] < waits[Completeness.UNKNOWN]
    unfinished = (Completeness.MISSING_SLOT, Completeness.HESITATION, Completeness.TRAILING)
    assert waits[Completeness.UNKNOWN] < min(waits[kind] for kind in unfinished)
    assert min(waits[kind] for kind in unfinished) > 1200, "callers pause for up to 1.2 s"


@pytest.mark.parametrize(
    ("locale", "words", "expected"),
    [
        (EN_US, "uh huh", True),
        (EN_US, "Mm-hm.", True),
        (EN_US, "yeah okay", True),
        (EN_US, "stop", False),
        (EN_US, "no", False),
        (EN_US, "yes but to Anna", False),
        (EN_US, "", False),
        (JA_JP, "はい", True),
        (JA_JP, "はい、はい", True),
        (JA_JP, "いいえ", False),
        (JA_JP, "ちょっと待って", False),
    ],
)
def test_backchannels(locale: Locale, words: str, expected: bool) -> None:
    assert is_backchannel(words, locale) is expected


def judged(heard: Transcript, partial: str = "", *, binding: bool = False) -> Completeness:
    """A whole command by the grammar."""
    said = Interpretation(heard, understood=Understood(Intent.CARD_LOCK), binding=binding)
    return CompletenessJudge(heard.locale, Patience()).judge(said, partial)


@pytest.mark.parametrize("words", ["Okay.", "yes please", "very good"])
def test_a_yes_to_nothing_only_leads_in(words: str) -> None:
    said = Interpretation(Transcript.typed(words, EN_US), understood=Understood(Intent.CONFIRM), leads_in=True)
    judge = CompletenessJudge(EN_US, Patience())
    assert judge.judge(said) is Completeness.LEAD_IN
    assert judge.wait(Completeness.LEAD_IN)[0] > 2 * judge.wait(Completeness.YES_NO)[0]


def test_words_that_lack_something_are_not_doubted() -> None:
    said = Interpretation(
        transcript(("lock my card", -0.9)), understood=Understood(Intent.TRANSFER_MONEY, missing=(SlotName.PAYEE,))
    )
    assert CompletenessJudge(EN_US, Patience()).judge(said) is Completeness.MISSING_SLOT


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("talk to an agent", Completeness.COURTESY),
        ("Lock my card.", Completeness.COURTESY),
        ("talk to an agent please", Completeness.COMPLETE),
        ("what's my balance", Completeness.COMPLETE),
    ],
)
def test_please_may_follow_a_closed_mouth(words: str, expected: Completeness) -> None:
    heard = Transcript.typed(words, EN_US)
    assert judged(heard) is expected
    assert judged(heard, binding=True) is Completeness.BINDING


@pytest.mark.parametrize(
    ("locale", "words", "expected"),
    [
        (EN_US, "Please.", True),
        (EN_US, "thank you", True),
        (EN_US, "yes please", False),
        (EN_US, "please stop", False),
        (EN_US, "", False),
        (JA_JP, "お願いします。", True),
        (JA_JP, "はい、お願いします", False),
    ],
)
def test_courtesies(locale: Locale, words: str, expected: bool) -> None:
    assert is_courtesy(words, locale) is expected


@pytest.mark.parametrize(
    ("locale", "words", "wait_ms"),
    [
        (JA_JP, "はい。", 800),
        (JA_JP, "はいお願いします", 860),
        (JA_JP, "オッケーです", 860),
        (JA_JP, "送金して", 860),
        (EN_US, "yes", 800),
    ],
)
def test_an_answer_that_ends_in_voice_binds_after_the_same_silence_everywhere(
    locale: Locale, words: str, wait_ms: int
) -> None:
    assert CompletenessJudge(locale, Patience()).wait(Completeness.BINDING, words)[0] == wait_ms


@pytest.mark.parametrize("field", ["unfinished", "courtesy"])
def test_a_broken_pattern_is_refused_when_the_rules_are_read(field: str) -> None:
    good = endpointing(EN_US).model_dump()
    with pytest.raises(ValidationError, match="not a pattern"):
        Endpointing.model_validate(good | {field: ["("]})


def transcript(*hypotheses: tuple[str, float], locale: Locale = EN_US) -> Transcript:
    found = tuple(Hypothesis(text, logprob) for text, logprob in hypotheses)
    return Transcript(found[0].text, locale, found)


@pytest.mark.parametrize(
    ("heard", "partial", "doubt"),
    [
        (transcript(("lock my card", -0.2)), "", False),
        (transcript(("lock my card", -0.9)), "", True),
        (transcript(("lock my card", -0.9)), "the box", True),
        (transcript(("lock my card", -0.9)), "lock my ca", False),
        (transcript(("lock my card", -0.9)), "Lock my, card", False),
        (transcript(("send ten dollars today", -0.3), ("send ten dollars to", -0.4)), "", True),
        (transcript(("send ten dollars today", -0.3), ("send ten dollars to", -0.9)), "", False),
        (transcript(("オペレーターです", -0.4), ("オペレーターに", -0.4), locale=JA_JP), "", True),
        (Transcript.typed("lock my card", EN_US, ("lock my",)), "", True),
        (Transcript.typed("lock my card", EN_US), "", False),
    ],
    ids=str,
)
def test_words_that_may_be_misheard_are_doubted(heard: Transcript, partial: str, doubt: bool) -> None:
    assert (judged(heard, partial) is Completeness.DOUBTFUL) == doubt
    assert judged(heard, partial, binding=True) is Completeness.BINDING


@pytest.mark.parametrize(
    ("before", "now", "stable"),
    [
        ("", "send", ""),
        ("send", "send fifty", "send"),
        ("send fifty", "send fifteen", "send "),
        ("send fifty", "send fifty", "send fifty"),
        ("send fifty dollars", "send fifty", "send fifty"),
        ("残高を", "残高を教えて", "残高を"),
        ("残高お", "残高を教えて", "残高"),
        ("a b", "c d", ""),
    ],
)
def test_a_stable_prefix_ends_with_a_word(before: str, now: str, stable: str) -> None:
    assert now[: stable_prefix(before, now)] == stable


def test_the_keypad_ends_on_hash_pause_and_length() -> None:
    keypad = Keypad(timing())
    assert keypad.press("1", 0.0) is None
    assert keypad.press("2", 1.0) is None
    assert keypad.elapsed(3.0) is None
    assert keypad.elapsed(3.6) == ("12", "keypad.pause@1")
    assert not keypad.busy
    assert keypad.press("#", 4.0) is None
    assert keypad.press("9", 5.0) is None
    assert keypad.press("*", 5.1) is None
    assert keypad.press("7", 5.2) is None
    assert keypad.press("#", 5.3) == ("7", "keypad.hash@1")
    assert [keypad.press("5", 6.0) for _ in range(32)][-1] == ("5" * 32, "keypad.full@1")
