"""The keys names are compared by."""

import pytest

from services.payees import fold, kana, kanji, phones
from services.payees.spell import spelled, spelled_kana


@pytest.mark.parametrize(
    ("said", "name"),
    [("win", "nguyen"), ("shaw", "xiao"), ("shawn", "sean"), ("steven", "stephen")],
)
def test_names_share_a_sound_with_what_is_heard(said, name):
    assert set(phones.sayings(said)) & set(phones.sayings(name))


@pytest.mark.parametrize("word", ["", "a", "zzz", "x" * 100, "rhythm", "szczesny"])
def test_any_word_has_a_saying_of_whole_phones(word):
    for saying in phones.sayings(word):
        assert len(saying) % 2 == 0


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("サトウ", "サトー", True),
        ("オオノ", "オーノ", True),
        ("オオノ", "オノ", False),
        ("ユウキ", "ユキ", False),
        ("サトウ", "サイトウ", False),
        ("ヤマザキ", "ヤマサキ", False),
        ("キョウコ", "キヨウコ", True),
    ],
)
def test_strict_kana(left, right, same):
    assert (kana.strict(left) == kana.strict(right)) is same


@pytest.mark.parametrize(
    ("spellings", "folded"),
    [
        (["sato", "satou", "satoh", "satō"], "sato"),
        (["fujii", "hujii", "fujī"], "fuji"),
        (["shinpei", "shimpei", "sinpei"], "shinpe"),
        (["otani", "ohtani", "ootani"], "otani"),
        (["junichi", "zyuniti"], "junichi"),
    ],
)
def test_romaji_spellings_fold_to_one(spellings, folded):
    assert {kana.romaji_of_latin(spelling) for spelling in spellings} == {folded}


@pytest.mark.parametrize("word", ["smith", "robert", "lynn", "sch", "bl"])
def test_what_is_not_japanese_has_no_romaji(word):
    assert kana.romaji_of_latin(word) == ""


def test_folding_knows_variants_width_and_accents():
    assert fold.japanese("髙﨑　ｻｸﾗ") == "高崎 サクラ"
    assert fold.japanese("𠮷野 邊") == "吉野 辺"
    assert fold.words("O’Brien-Łęcki, José & Søn") == ["obrien", "lecki", "jose", "and", "son"]


def test_kanji_has_a_set_of_readings():
    assert {("サトウ", "ケン"), ("サトウ", "タケシ")} <= set(kanji.readings("佐藤健", {}))
    assert {"ヤマザキ", "ヤマサキ"} <= set(kanji.surname("山崎", {}))
    assert kanji.readings("菅", {"菅": ("スゲ",)})[0] == ("スゲ",)


@pytest.mark.parametrize(
    ("said", "letters"),
    [
        ("n g u y e n", "nguyen"),
        ("n as in november g u", "ngu"),
        ("double l o y d", "lloyd"),
        ("bee oh bee", "bob"),
        ("november golf uniform", "ngu"),
    ],
)
def test_spelled_letters(said, letters):
    assert spelled(said.split()).letters == letters


@pytest.mark.parametrize("said", ["john smith", "are you", "mike", "oscar", "see you", ""])
def test_names_are_not_spelling(said):
    assert spelled(said.split()) is None


def test_the_japanese_telephone_alphabet():
    assert spelled_kana("朝日ノアイロハノイ") == "アイ"
