"""Read-backs that are drawn by a seed, and whether what was heard holds what they said, slot by slot."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random  # noqa: TID251 - seeded
from typing import Final

from metaphone import doublemetaphone

from schemas.decision import Reply, ReplyParam
from schemas.ids import Locale, RuleId, language
from schemas.money import Money, exponent
from schemas.span import DateValue, MoneyValue
from services.normalization import Normalizer
from services.response.phrases import speak
from services.speech.rules import english, japanese

NAMES: Final = Path("tests/data/speech")
_MAGNITUDES: Final = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_FIRST: Final = date(2026, 1, 1)
_NOW: Final = datetime(2026, 1, 1, 12)  # noqa: DTZ001 - a caller's local moment
_CURRENCY: Final = {"en-US": "USD", "en-GB": "GBP", "ja-JP": "JPY"}
_WORDS: Final = {
    "en": {"account": "checking", "card": "debit card", "bill": "electricity", "now": "now"},
    "ja": {"account": "普通預金", "card": "デビットカード", "bill": "電気料金", "now": "本日"},
}
_SPELT: Final = re.compile(r",? and (?:\$(?:0\.)?)?(\d{1,2}|[a-z]+)(?= cents?\b)|,? and \$0\.(\d\d)\b")
"""How the recogniser writes "and seven cents": ", and $7 cents", ", and 7 cents", ", and $0.07"."""
_ADJECTIVE: Final = "い"
"""What shows how the stem before it is read: 正 is セイ, 正しい タダシイ."""
_LONGEST_PART: Final = 4
_BESIDES: Final = re.compile("[4四]\\s?(?:けた|ケタ|桁)")
"""The four of "the last four figures" is none of them."""
ToKana = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SpokenSlot:
    """What has to be understood: its kind, and the value as money, day, digits or name (its reading in Japanese)."""

    kind: str
    value: Money | date | str


@dataclass(frozen=True, slots=True)
class SpokenReadBack:
    """A reply as it is spoken, and its slots."""

    text: str
    slots: tuple[SpokenSlot, ...]


def read_backs(locale: Locale, count: int, seed: int, kinds: Sequence[str] = ()) -> Iterator[SpokenReadBack]:
    """Five kinds in turn, or those that are named of `KINDS`."""
    makers = [KINDS[kind] for kind in kinds or KINDS]
    draw = Random(f"{seed} {locale}")
    names = [line.split("\t") for line in (NAMES / f"names_{language(locale)}.txt").read_text("utf-8").splitlines()]
    for index in range(count):
        yield makers[index % len(makers)](draw, locale, names)


def _amount(draw: Random, locale: Locale) -> Money:
    currency = _CURRENCY[locale]
    whole = draw.randrange(1, draw.choice(_MAGNITUDES))
    minor = draw.randrange(100) if exponent(currency) and draw.random() < 0.6 else 0  # noqa: PLR2004 - the more usual
    return Money(whole * 10 ** exponent(currency) + minor, currency)


def _balance(draw: Random, locale: Locale, _names: Sequence[list[str]]) -> SpokenReadBack:
    amount = _amount(draw, locale)
    account = _WORDS[language(locale)]["account"]
    text = speak(Reply(RuleId("balance.one"), {"amount": amount, "account": account}), locale)
    return SpokenReadBack(text, (SpokenSlot("amount", amount),))


def _bill(draw: Random, locale: Locale, _names: Sequence[list[str]]) -> SpokenReadBack:
    due, day = _amount(draw, locale), _FIRST + timedelta(days=draw.randrange(3 * 365))
    bill = _WORDS[language(locale)]["bill"]
    text = speak(Reply(RuleId("bill.due"), {"bill": bill, "due": due, "date": day}), locale)
    return SpokenReadBack(text, (SpokenSlot("amount", due), SpokenSlot("date", day)))


def _card(draw: Random, locale: Locale, _names: Sequence[list[str]]) -> SpokenReadBack:
    last4 = f"{draw.randrange(10_000):04d}"
    card = Reply(RuleId("name.card"), {"name": _WORDS[language(locale)]["card"], "last4": last4})
    return SpokenReadBack(
        speak(Reply(RuleId("card.already_locked"), {"card": card}), locale), (SpokenSlot("digits", last4),)
    )


def _name(draw: Random, locale: Locale, names: Sequence[list[str]]) -> SpokenReadBack:
    written, slot = _named(draw.choice(names))
    text = speak(Reply(RuleId("warn.new_payee"), {"payee": Reply(RuleId("name.payee"), {"name": "@"})}), locale)
    return SpokenReadBack(text.replace("@", written), (slot,))


def _transfer(draw: Random, locale: Locale, names: Sequence[list[str]]) -> SpokenReadBack:
    written, slot = _named(draw.choice(names))
    amount, words = _amount(draw, locale), _WORDS[language(locale)]
    payee = Reply(RuleId("name.payee"), {"name": "@"})
    params: dict[str, ReplyParam] = {"amount": amount, "payee": payee, "source": words["account"], "when": words["now"]}
    text = speak(Reply(RuleId("confirm.transfer"), params), locale)
    return SpokenReadBack(text.replace("@", written), (slot, SpokenSlot("amount", amount)))


def _named(name: list[str]) -> tuple[str, SpokenSlot]:
    """Spoken by its reading where it has one, as the dialogue names payees."""
    return name[-1], SpokenSlot("name", name[-1])


KINDS: Final = {"balance": _balance, "bill": _bill, "card": _card, "name": _name, "transfer": _transfer}
"""An account's balance, a bill with its day, the end of a card's number, a payee's name, a whole transfer."""


def understood(slot: SpokenSlot, heard: str, locale: Locale, kana: ToKana) -> bool:
    """Whether the words that were heard hold the value: by our own normalization, names by how they sound."""
    heard = _SPELT.sub(lambda cents: f" and {cents[1] or cents[2] + ' cents'}", _BESIDES.sub("", heard))
    spans = Normalizer.for_locale(locale).normalize(heard, now=_NOW, currencies=(_CURRENCY[locale],))
    match slot.value:
        case Money(minor, currency):
            known = any(span.value == MoneyValue(minor, currency) for span in spans)
            return known or (not exponent(currency) and str(minor) in _grouped(heard))
        case date():
            return any(span.value == DateValue.day(slot.value) for span in spans)
        case _ if slot.kind == "digits":
            written = {re.sub(r"\D", "", str(span.value)) for span in spans} | {_figures(heard)}
            return slot.value in written or (
                language(locale) == "ja" and sounds_in(_said(slot.value), _said(heard), "ja", kana)
            )
        case _:
            return sounds_in(slot.value, heard, language(locale), kana)


def _grouped(heard: str) -> set[str]:
    """Figures before 円, however their commas stand: "8,9355円" has all of 89,355 in order."""
    return {
        re.sub(r"\D", "", figures) for figures in re.findall(r"[\d,.、]+(?=円)", unicodedata.normalize("NFKC", heard))
    }


def _said(heard: str) -> str:
    """Japanese figures one by one as they sound: "908号" is キュウ ゼロ ハチ ゴウ, as 9085 is."""
    return "".join(japanese().digits[int(c)] if c.isdecimal() else c for c in heard)


def _figures(heard: str) -> str:
    """Every figure in order, however they are grouped; English ones in words as well: "3-1, one one"."""
    spelt = {word: str(figure) for figure, word in enumerate(english().ones[:10])}
    plain = re.sub("[a-z]+", lambda word: spelt.get(word[0], ""), heard.lower())
    return "".join(c for c in unicodedata.normalize("NFKC", plain) if c.isdigit())


def sounds_in(name: str, heard: str, lang: str, kana: ToKana) -> bool:
    """Whether something that sounds like `name` is in the words."""
    if lang == "ja":
        return _kana(name) in _kana(kana(heard)) or _composed(_kana(name), heard, kana)
    if "".join(_words(name)) in "".join(_words(heard)):  # "Blue Wave" is Bluewave
        return True
    wanted = "".join(sound for word in _words(name) for sound in doublemetaphone(word)[:1])
    return wanted in "".join(doublemetaphone(word)[0] for word in _words(heard))


def _composed(wanted: str, heard: str, kana: ToKana) -> bool:
    """Whether parts of what was heard, each read by itself, sound like `wanted` (コンドウ タダシ as 今度を正し)."""

    @cache
    def readings(part: str) -> frozenset[str]:
        adjective = kana(part + _ADJECTIVE)
        return frozenset({kana(part), adjective.removesuffix("イ")} if adjective.endswith("イ") else {kana(part)})

    def goes_on(at: int, said: str) -> bool:
        if (sounds := _kana(said)) == wanted:
            return True
        parts = (heard[at : at + size] for size in range(1, min(_LONGEST_PART, len(heard) - at) + 1))
        return wanted.startswith(sounds) and any(
            goes_on(at + len(part), said + reading) for part in parts for reading in readings(part)
        )

    return any(goes_on(at, "") for at in range(len(heard)))


def _words(text: str) -> list[str]:
    named = text.lower().replace("&", " and ").replace("ltd", "limited")
    return re.findall(r"[a-z]+", named.replace("'", "").replace(".", ""))


def _kana(text: str) -> str:
    """Kana as it sounds: long vowels alike however they are written."""
    plain = re.sub(r"[^ァ-ヴー]", "", unicodedata.normalize("NFKC", text)).replace("ヲ", "オ")
    plain = re.sub(
        "(?<=[オコソトノホモヨロヲゴゾドボポョ])[ウオ]|(?<=[ウクスツヌフムユルグズヅブプュ])ウ|(?<=[エケセテネヘメレゲゼデベペ])[イエ]",
        "ー",
        plain,
    )
    return plain.replace("ヅ", "ズ").replace("ヂ", "ジ")
