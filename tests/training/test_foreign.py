"""Who says what in training: texts/reading.py, kana.py, voices/foreign.py and their tables."""

import random  # noqa: TID251 - seeded where it is used
from typing import Final

import pytest

from recogniser.texts import kana, phonemes, reading
from recogniser.voices import festival, foreign
from tests.training.test_accents import PHONES

HELD_OUT: Final = {
    "rhvoice:bdl", "rhvoice:evgeniy-eng", "rhvoice:evgeniy-rus", "rhvoice:lyubov", "festival:ked_diphone",
    "festival:rab_diphone",  # the speaker of mbrola's en1
}  # fmt: skip
NOT_FREE: Final = {
    f"rhvoice:{name}"
    for name in (
        "arina", "artemiy", "hana", "kiko", "magda", "marianna", "mikhail", "natan", "pavel", "suze", "talgat",
        "tatiana", "victoria", "vitaliy", "volodymyr", "yuriy", "aleksandr-hq", "Leticia-F123",
    )
} | {
    f"festival:{name}"
    for name in (
        "czech_dita", "czech_krb", "czech_machac", "czech_ph", "hindi_NSK_diphone", "lp_diphone", "pc_diphone",
        "marathi_NSK_diphone", "telugu_NSK_diphone", "el_diphone",
    )
}  # fmt: skip
ESPEAK: Final = "s_'E_n_d m_'I_s_t_3 w_A:_t_s_@_n D_@2 p_aU_n_d_:__:\n"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("m a r i a", "M eigh R i eigh"),
        ("that's a g", "that's eigh G"),
        ("z two six a", "Z two six eigh"),
        ("a three oh m", "a three oh M"),
        ("send a hundred dollars", "send a hundred dollars"),
        ("a five pound note", "a five pound note"),
    ],
)
def test_a_is_a_letter_among_letters_and_digits_and_a_word_elsewhere(text: str, read: str) -> None:
    words = text.split()
    assert " ".join(reading.read(words, i) for i in range(len(words))) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("トーキョー", "t ao ao k y ao ao"),
        ("オクッテ", "ao k uw t t eh"),
        ("マッ", "m aa"),
        ("ファン、 ツヅク", "f aa n pau t s uw z uw k uw"),
        ("ッチョ", "ch ch ao"),
        ("マス’、 、", "m aa s uw pau"),
    ],
)
def test_kana_are_told_in_phones(text: str, said: str) -> None:
    assert kana.phones(text) == ["pau", *said.removesuffix(" pau").split(), "pau"]


def test_words_of_kana_stay_apart_and_what_is_no_kana_is_an_error() -> None:
    assert kana.words("キン エン") == [["k", "iy", "n"], ["eh", "n"]]
    assert kana.written_in("シ、")
    assert not kana.written_in("send five")
    with pytest.raises(KeyError):
        kana.phones("五エン")


def test_every_kana_has_phones_that_voices_have() -> None:
    for sign in "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンヴ":
        assert PHONES.issuperset(kana.phones(sign))
    for sign in ("キャ", "シュ", "チョ", "ニャ", "ヒュ", "ミョ", "リャ", "ティ", "ディ", "フェ", "ウォ", "ジェ"):
        assert PHONES.issuperset(kana.phones(sign))


@pytest.mark.parametrize(
    ("printed", "phones"),
    [("nI2", ("n", "ih")), ("!w", ("w",)), ("l#", ("l",)), ("nd", ("n", "d")), ("A~", ("aa", "n")), ("", ())],
)
def test_sounds_that_espeak_prints_as_one_are_told_apart(printed: str, phones: tuple[str, ...]) -> None:
    assert phonemes.named(printed) == phones


def test_every_language_can_say_every_phone() -> None:
    table = foreign.table()
    assert set(table["voices"].values()) == set(table["languages"])
    for ways in table["languages"].values():
        assert set(ways) == PHONES - {"pau"}


def test_no_voice_trains_that_is_kept_for_tests_or_whose_licence_forbids_it() -> None:
    assert not (HELD_OUT | NOT_FREE) & set(foreign.table()["voices"])


def test_a_text_is_respelled_for_a_voice_always_in_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: ESPEAK)
    said = foreign.respelled("rhvoice:natalia", "send mister watson the pound,", "en-us")
    assert said == foreign.respelled("rhvoice:natalia", "send mister watson the pound,", "en-us")
    first, *_, last = said.split()
    assert (first, last) == ("сенд", "паунд,")


def test_a_voice_that_takes_phones_is_told_them_a_word_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: "f_'aI_v j_'E_n\n")
    said = foreign.respelled("pico:es-ES", "five yen", "en-gb")
    assert said == '<phoneme alphabet="xsampa" ph="fajb"/> <phoneme alphabet="xsampa" ph="jen"/>'


def test_a_voice_of_festivals_is_told_syllables_that_begin_with_the_consonant_before_a_vowel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: "f_'I_f_t_'i:_n j_'E_n_: D_I_'a_n\n")
    said = foreign.respelled("festival:don_diphone", "fifteen yen, the ann", "en-gb")
    assert said == "f_i_f-t_ii_n y_e_n, dh_i-a_n"


def test_a_sound_that_a_voice_lacks_leaves_no_gap_in_a_told_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: "h_'aU h\n")
    assert foreign.respelled("festival:upc_ca_ona_hts", "how h", "en-gb") == "a1_w"


def test_told_words_become_entries_of_the_voices_lexicon_once_each() -> None:
    command, text = festival.command("don_diphone", "f_ai_v-t_ii_n y_e_n, f_ai_v-t_ii_n", "a.wav", 1.25, in_phones=True)
    assert text == "qaa qab, qaa"
    told = [order for order in command if order.startswith("(lex.add.entry")]
    assert told == [
        '(lex.add.entry (quote ("qaa" nil (((f ai v) 1) ((t ii n) 1)))))',
        '(lex.add.entry (quote ("qab" nil (((y e n) 1)))))',
    ]
    assert "(Parameter.set 'Duration_Stretch 0.80)" in command


def test_what_festival_reads_by_itself_stays_as_it_is() -> None:
    command, text = festival.command("hy_fi_mv_diphone", "faiv jen, senk", "a.wav", 1.0, in_phones=False)
    assert text == "faiv jen, senk"
    assert not any("add.entry (quote" in order for order in command)


def test_kana_are_respelled_without_espeak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phonemes, "_printed", lambda _: pytest.fail("eSpeak was asked"))
    assert foreign.respelled("rhvoice:spomenka", "ゴセン エン、", "en-us") == "gosen en,"


def test_the_reader_says_other_phones_for_those_that_he_lacks() -> None:
    his = set(foreign.table()["reader"]["phones"].values())
    lacking = foreign.lacking(random.Random(3))
    assert {phone for heard in lacking for phone in heard} | his >= PHONES
    assert his.issuperset(phone for said in lacking.values() for phone in said)


def test_festivals_catalogue_is_read_in_frames_and_flites_names() -> None:
    catalogue = (
        "EST_File index\nEST_Header_End\npau_1 ru_1 0.0 0.1 0.15\nrr_2 ru_1 0.15 0.2 0.25\noo_9 ru_2 0.0 0.04 0.08\n"
    )
    assert foreign.read_phones(catalogue) == {"ru_1": [("pau", 15), ("r", 25)], "ru_2": [("ao", 8)]}
