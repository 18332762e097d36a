"""Thousands of made-up payees beside a demo customer's own, far enough from them not to be meant."""

import itertools

from schemas.ids import PayeeId
from schemas.payee import Payee

_EN_FIRST = (
    "Aldous Briony Corwin Delphine Edric Fenella Gideon Hester Ignatius Jocasta Kendrick Lavinia Mortimer Nerissa"
)
_EN_LAST = "Abernathy Blackwood Cholmondeley Dunwoody Etheridge Fotheringay Grimshaw Hollingsworth Inglebright Jessop"
_JA_LAST = (
    ("阿久津", "アクツ"),
    ("飯塚", "イイヅカ"),
    ("宇都宮", "ウツノミヤ"),
    ("江藤", "エトウ"),
    ("尾崎", "オザキ"),
)
_JA_FIRST = (("隆史", "タカシ"), ("千尋", "チヒロ"), ("剛", "ツヨシ"), ("哲也", "テツヤ"), ("直美", "ナオミ"))
_ENDS = ("er", "ton", "ley", "worth", "ford", "man", "shaw", "wick", "by", "stone")


def crowd(language: str, size: int) -> tuple[Payee, ...]:
    """`size` payees with different names."""
    names = _japanese() if language == "ja" else _english()
    return tuple(
        Payee(PayeeId(f"crowd-{n}"), name, kana, account_last4=f"{n % 10_000:04d}")
        for n, (name, kana) in enumerate(itertools.islice(names, size))
    )


def _english() -> "itertools.chain[tuple[str, str]]":
    stems = [a[:-1] + b[:3].lower() for a in _EN_LAST.split() for b in _EN_LAST.split() if a != b]
    return itertools.chain(
        (f"{first} {stem}{end}", "") for end in _ENDS for stem in stems for first in _EN_FIRST.split()
    )


def _japanese() -> "itertools.chain[tuple[str, str]]":
    middles = [(a[0] + b[0], a[1] + b[1]) for a in _JA_FIRST for b in _JA_FIRST]
    both = [(x[0] + y[0], x[1] + y[1]) for x in _JA_LAST for y in _JA_LAST]
    return itertools.chain(
        (f"{last} {first}{end}", f"{kana} {given}{end_kana}")
        for end, end_kana in (*(("", ""),), *_JA_FIRST, *_JA_LAST, *both)
        for first, given in middles
        for last, kana in (*_JA_LAST, *both)
    )
