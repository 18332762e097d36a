"""The benchmark's figures, on transcripts made up for the purpose."""

from pathlib import Path

import pytest

from deploy.bench._asr.amounts import amounts_asked
from deploy.bench._asr.score import Recognition, SpokenCase, missed, scores
from deploy.bench._asr.spread import spread
from deploy.bench.asr import money_commands
from schemas.transcript import Hypothesis


def never(_text: str, _lang: str) -> bool:
    """No command at all."""
    return False


def heard(
    voice: str, said: str, text: str, category: str = "amount", lang: str = "en", condition: str = "clean"
) -> Recognition:
    return Recognition(SpokenCase(Path("x.ogg"), said, lang, voice, category), condition, text, 5.0)


def test_rates_are_by_kind_of_voice() -> None:
    found = scores(
        [
            heard("rhvoice:bdl", "ten dollars now please", "ten dollars no please"),
            heard("human:an4", "b two seven", "b two eleven", "an4"),
            heard("human:commonvoice1_en", "they left", "they left", "commonvoice1_en"),
            heard("moved:flite:slt", "yes please", "no no", "short"),
            heard("jtalk:nitech", "五千円", "五千", lang="ja"),
        ],
        never,
    )
    assert found["en_held_out_clean_wer_percent"] == pytest.approx(25)
    assert found["en_letters_digits_people_wer_percent"] == pytest.approx(100 / 3)
    assert found["en_common_voice_wer_percent"] == 0
    assert found["en_moved_clean_wer_percent"] == 100
    assert found["ja_held_out_clean_cer_percent"] == pytest.approx(100 / 3)
    assert found["en_people_digit_words_right_percent"] == 50
    assert found["en_amounts_digits_exact_percent"] == 0
    assert found["held_out_utterances"] == 2


def test_each_voice_is_told_clean_and_by_telephone() -> None:
    found = scores(
        [
            heard("rhvoice:bdl", "ten dollars", "ten dollars"),
            heard("rhvoice:bdl", "ten dollars", "tin collars", condition="phone"),
            heard("human:an4", "two", "two", condition="phone"),
        ],
        never,
    )
    assert (found["en_voice_rhvoice_bdl_wer_percent"], found["en_voice_rhvoice_bdl_phone_wer_percent"]) == (0, 100)
    assert (found["en_voice_human_an4_phone_wer_percent"], found["en_voice_human_an4_phone_utterances"]) == (0, 1)


def test_an_error_rate_is_told_with_what_chance_could_make_of_it() -> None:
    few = [heard("rhvoice:bdl", "ten dollars", "ten dollars"), heard("rhvoice:bdl", "two", "to")]
    rare = [heard("rhvoice:bdl", "ten dollars", f"{'tin' if n % 10 == 0 else 'ten'} dollars") for n in range(400)]
    assert spread(few)["en_held_out_clean_wer_low_percent"] == 0
    assert spread(few)["en_held_out_clean_wer_high_percent"] == 100
    found = spread(rare)
    low, high = found["en_held_out_clean_wer_low_percent"], found["en_held_out_clean_wer_high_percent"]
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 3 < low < 5 < high < 7  # 40 wrong of 800 words


def test_what_chance_could_do_counts_characters_of_japanese_and_no_voices_that_were_heard() -> None:
    found = spread(
        [
            heard("jtalk:nitech", "五千円", "五百円", lang="ja", condition="phone"),
            heard("moved:flite:slt", "yes", "no"),
            heard("human:an4", "two", "to"),
        ]
    )
    assert found == {
        "ja_held_out_phone_cer_low_percent": pytest.approx(100 / 3),
        "ja_held_out_phone_cer_high_percent": pytest.approx(100 / 3),
    }


def test_a_digit_alone_is_right_or_wrong() -> None:
    found = scores([heard("rhvoice:bdl", "six", "six", "digit"), heard("rhvoice:bdl", "two", "to", "digit")], never)
    assert (found["en_held_out_single_digits"], found["en_held_out_single_digits_right_percent"]) == (2, 50)


def test_what_can_t_be_spelled_by_ear_is_counted_apart() -> None:
    found = scores(
        [
            heard("rhvoice:bdl", "send ten dollars now", "send ten dollars now", "command"),
            heard("rhvoice:bdl", "ionel urvi", "yonel urby", "name"),
            heard("human:an4", "go", "no", "an4"),
        ],
        never,
    )
    assert found["en_held_out_clean_wer_percent"] == pytest.approx(100 / 3)
    assert (found["en_spellable_clean_wer_percent"], found["en_spellable_clean_utterances"]) == (0, 1)


def test_amounts_and_digits_are_exact_with_spelled_letters_and_without() -> None:
    found = scores(
        [
            heard("rhvoice:bdl", "a fiver", "a fiver"),
            heard("rhvoice:bdl", "oh five", "five"),
            heard("rhvoice:bdl", "that's m o v", "that's m o b", "digits"),
            heard("rhvoice:bdl", "b five", "b five", "digits"),
            heard("rhvoice:bdl", "go", "no", "short"),
        ],
        never,
    )
    assert found["en_amounts_digits_exact_percent"] == 50
    assert (found["en_amounts_digits_unspelled"], found["en_amounts_digits_unspelled_exact_percent"]) == (2, 50)


def test_talk_that_becomes_a_payment_is_counted() -> None:
    found = scores(
        [
            heard("rhvoice:bdl", "sand on the beach", "send on the beach", "everyday"),
            heard("rhvoice:bdl", "pay attention", "pay attention", "everyday"),
            heard("human:librivox_bits", "when kate ate", "send kate eight dollars", "librivox_bits"),
            heard("rhvoice:bdl", "send kate eight dollars", "send kate eight dollars", "command"),
        ],
        money_commands(),
    )
    assert found["out_of_domain_utterances"] == 3
    assert found["out_of_domain_first_words"] == 2
    assert found["out_of_domain_commands"] == 1
    assert found["out_of_domain_commands_per_200"] == pytest.approx(200 / 3)


def test_goals_are_missed_from_above_and_below() -> None:
    figures = {"en_held_out_clean_wer_percent": 7.0, "times_faster_than_tiny_5s_window": 1.5, "weights_mb": 8.0}
    assert missed(figures) == ["en_held_out_clean_wer_percent", "times_faster_than_tiny_5s_window"]


def test_amounts_heard_wrong_are_asked_about_or_not() -> None:
    case = SpokenCase(Path("x.ogg"), "send sixty dollars", "en", "rhvoice:bdl", "command")

    def told(*hypotheses: tuple[str, float]) -> Recognition:
        return Recognition(case, "phone", hypotheses[0][0], 5.0, tuple(Hypothesis(*each) for each in hypotheses))

    found = amounts_asked(
        [
            told(("send sixty dollars", -0.1), ("send sixty dolls", -0.2)),
            told(("send sixteen dollars", -0.1), ("send sixty dollars", -0.2)),
            told(("send sixteen dollars", -0.1), ("send sixty dollars", -1.5)),
            told(
                ("send something", -0.4),
            ),
        ]
    )
    assert found == {
        "en_amounts_phone_utterances": 3,
        "en_amounts_phone_wrong": 2,
        "en_amounts_phone_right_asked_percent": 0,
        "en_amounts_phone_wrong_asked_percent": 50,
    }
